#pragma once
// What is fuzzed: functions that are fed with any bytes.  Each takes them as one kind of input and does with it all
// that can be done; what is wrong with it must be told by an error of ours.  A fault is a crash, a hang, a foreign
// exception, something not finite in what was computed, or something that is not read back as it was written: these
// abort.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::fuzz {

struct Target {
  std::string_view name;  // of its folder in the corpus, too
  std::size_t longest;    // bytes that are tried
  void (*feed)(std::string_view bytes);
};
const std::vector<Target>& targets();

void feed_model(std::string_view bytes);       // text of a model: read, written, checked, completed, run
void feed_parts(std::string_view bytes);       // what a random model is made of, of all parts that files know
void feed_calls(std::string_view bytes);       // calls of the library, with whatever arguments
void feed_expression(std::string_view bytes);  // a formula, its value and derivatives
void feed_table(std::string_view bytes);       // a CSV file
void feed_checkpoint(std::string_view bytes);  // what stands in a checkpoint, under a fingerprint that is right
void feed_matrix(std::string_view bytes);      // a Matrix Market file

[[noreturn]] void fault(const std::string& what);

// Choices taken from bytes; zeros when they are used up.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return at_ >= bytes_.size(); }
  unsigned byte() { return empty() ? 0u : static_cast<unsigned char>(bytes_[at_++]); }
  std::size_t below(std::size_t n) { return n <= 256 ? byte() % n : (byte() * 256 + byte()) % n; }
  bool chance(unsigned of_256) { return byte() < of_256; }
  template <class List> const auto& one_of(const List& list) { return list[below(std::size(list))]; }
  double number();  // mostly small and round; now and then anything

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace mortise::fuzz
