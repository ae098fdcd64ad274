#pragma once
// The text of a checkpoint: named numbers and words, numbers to the last bit.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <mortise/integrators/trajectory.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class CheckpointWriter {
 public:
  void numbers(std::string_view key, const double* x, std::size_t count);
  void number(std::string_view key, double x) { numbers(key, &x, 1); }
  void numbers(std::string_view key, const std::vector<double>& x) { numbers(key, x.data(), x.size()); }
  void numbers(std::string_view key, const VectorXd& x) { numbers(key, x.data(), static_cast<std::size_t>(x.size())); }
  void words(std::string_view key, const std::vector<std::string>& x);
  std::string text() const;

 private:
  std::string text_;
};

// Throws FileError if the file cannot be read, is none of ours, or is not whole to the bit; no number is NaN.
class CheckpointReader {
 public:
  explicit CheckpointReader(const std::string& path);

  double number(const std::string& key) const;
  const std::vector<double>& numbers(const std::string& key) const;
  std::vector<Index> counts(const std::string& key, Index below) const;  // numbers that are whole, from 0
  const std::vector<std::string>& words(const std::string& key) const;

  [[noreturn]] void fail(const std::string& fact) const;

 private:
  std::string path_;
  std::map<std::string, std::vector<double>> numbers_;
  std::map<std::string, std::vector<std::string>> words_;
};

}  // namespace mortise
#pragma GCC visibility pop
