#pragma once
// What the engine tells as data, in words, and as the errors that the doors throw.

#include <mortise/diagnosis/rank_report.h>
#include <mortise/engine/dynamics.h>

#pragma GCC visibility push(hidden)
namespace mortise {

// Throws UnderModelled or ConflictingRows with the report, NonFinite, NotDetermined or NotConverged; nothing for
// Kind::none, nor where the report finds that all is determined.
void require(const System& system, const Failure& failure, const Evaluation& e, const RankOptions& options);
// The same for failures that concern no verdict on the rank.
[[noreturn]] void fail(const System& system, const Failure& failure);
std::string in_words(const System& system, const Failure& failure);  // the text of the error

// "rows are nearly dependent ...", for what the verdict keeps with doubts; and the same for massless parts.
std::vector<std::string> doubts(const System& system, const SparseRank& rank, const RankOptions& options);
// "the acceleration of body 'rod' is known to 1e-3 of itself only ..."
std::vector<std::string> doubts(const System& system, const std::vector<Engine::Doubt>& bodies);

}  // namespace mortise
#pragma GCC visibility pop
