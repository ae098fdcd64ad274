#pragma once
// The sentences and remedies of a report, for its findings and its text.

#include <string>
#include <vector>

#include <mortise/diagnosis/rank_report.h>

#pragma GCC visibility push(hidden)
namespace mortise::report {

constexpr std::size_t names_at_most = 8;  // of one list in a line of text
std::string listed(const std::vector<std::string>& words, const char* separator = ", ");
inline Index count(const auto& list) { return static_cast<Index>(list.size()); }

// "girder.n1" and "ux" of girder.n1.ux.
std::string stem(const std::string& coordinate);
std::string suffix(const std::string& coordinate);

Verdict verdict_of(const Implied& i);
std::vector<std::string> others(const RedundantRow& r);  // rows of its set
Index conflicts(const std::vector<RedundantRow>& rows);  // how many of them

std::string sentence(const FreeDirection& f);
std::string sentence(const RedundantRow& r);
std::string sentence(const Implied& i);
std::string sentence(const Start& s);
std::string sentence(const TurnedJoint& t);
std::string sentence(const Locked& l);
std::string off_by(const std::vector<Start::Gap>& gaps);
std::vector<std::string> still_rows(const Start& s);  // that are not met where they touch no coordinate
std::string sentence_of_still(const Start& s);
std::string sentence_of_pose(const RankReport& r);
bool told_by_rows(const RankReport& r);  // what the start does not meet

std::vector<std::string> remedies_of(const Implied& i);
std::vector<std::string> remedies_of_flat(const RedundantRow& r);
std::vector<std::string> remedies_of_conflict(const RankReport& r);
std::vector<std::string> remedies(const TurnedJoint& t);
std::vector<std::string> remedies(const Start& s, const std::vector<RedundantRow>& rows);
const std::vector<std::string>& pose_remedies();

}  // namespace mortise::report
#pragma GCC visibility pop
