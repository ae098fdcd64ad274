#include <mortise/bodies/matrix_market.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <string_view>
#include <vector>

#include <mortise/core/errors.h>

namespace mortise {
namespace {

constexpr std::size_t longest_line = 4096;

class Reader {
 public:
  Reader(std::istream& in, const std::string& name, const MatrixMarketLimits& limits)
      : in_(in), label_{"file", name}, limits_(limits) {}

  Eigen::SparseMatrix<double> read() {
    read_header();
    const std::string sizes = coordinate_ ? "'rows columns entries'" : "'rows columns'";
    if (!next_line()) fail("the file ends", sizes);
    const auto size = numbers<Index>(coordinate_ ? 3 : 2);
    if (!size || *std::min_element(size->begin(), size->end()) < 0) fail(found(), sizes + ", whole numbers >= 0");
    rows_ = (*size)[0], columns_ = (*size)[1];
    if (std::max(rows_, columns_) > limits_.size)
      fail(found(),
           fmt::format("at most {} rows and columns; raise MatrixMarketLimits if that is meant", limits_.size));
    if (symmetric_ && rows_ != columns_) fail(found(), "as many columns as rows in a symmetric matrix");
    const Index entries = coordinate_ ? (*size)[2] : symmetric_ ? rows_ * (rows_ + 1) / 2 : rows_ * columns_;
    if (entries > limits_.entries)
      fail(fmt::format("{} entries are announced", entries),
           fmt::format("at most {}; raise MatrixMarketLimits if that is meant", limits_.entries));
    Index i = 0, j = 0;  // of the array's next value
    for (Index k = 0; k < entries; ++k) {
      if (!next_line())
        fail(fmt::format("the file ends after {} of {} entries", k, entries), "as many entries as its size line says");
      coordinate_ ? add_entry() : add_value(i, j);
    }
    if (next_line()) fail(found(), fmt::format("nothing after the {} entries that the size line says", entries));
    Eigen::SparseMatrix<double> M(rows_, columns_);
    M.setFromTriplets(triplets_.begin(), triplets_.end());
    return M;
  }

 private:
  void read_header() {
    const std::string expected =
        "'%%MatrixMarket matrix' with coordinate or array, real or integer, general or symmetric";
    if (!get_line()) fail("the file is empty", expected);
    std::string lower = line_;
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const std::vector<std::string_view> words = split(lower);
    const bool ok = words.size() == 5 && words[0] == "%%matrixmarket" && words[1] == "matrix" &&
                    (words[2] == "coordinate" || words[2] == "array") &&
                    (words[3] == "real" || words[3] == "integer") && (words[4] == "general" || words[4] == "symmetric");
    if (!ok) fail(found(), expected);
    coordinate_ = words[2] == "coordinate";
    symmetric_ = words[4] == "symmetric";
  }
  void add_entry() {
    const std::vector<std::string_view> words = split(line_);
    const auto i = words.size() == 3 ? number<Index>(words[0]) : std::nullopt;
    const auto j = words.size() == 3 ? number<Index>(words[1]) : std::nullopt;
    const auto x = words.size() == 3 ? number<double>(words[2]) : std::nullopt;
    if (!i || !j || !x) fail(found(), "'row column value'");
    if (*i < 1 || *i > rows_ || *j < 1 || *j > columns_)
      fail(found(), fmt::format("a row from 1 to {} and a column from 1 to {}", rows_, columns_));
    add(*i - 1, *j - 1, *x);
  }
  void add_value(Index& i, Index& j) {
    const auto x = numbers<double>(1);
    if (!x) fail(found(), "one number");
    add(i, j, (*x)[0]);
    if (++i == rows_) {
      ++j;
      i = symmetric_ ? j : 0;
    }
  }
  void add(Index i, Index j, double x) {
    if (!std::isfinite(x)) fail(found(), "a finite value");
    if (symmetric_ && j > i) fail(found(), "the lower triangle only in a symmetric file: row >= column");
    if (x == 0) return;
    triplets_.emplace_back(static_cast<int>(i), static_cast<int>(j), x);
    if (symmetric_ && i != j) triplets_.emplace_back(static_cast<int>(j), static_cast<int>(i), x);
  }

  // The next line that is neither blank nor a comment.
  bool next_line() {
    while (get_line())
      if (!split(line_).empty() && line_[0] != '%') return true;
    return false;
  }
  bool get_line() {
    line_.clear();
    ++number_;
    for (int c = in_.get(); c != std::istream::traits_type::eof(); c = in_.get()) {
      if (c == '\n') return true;
      if (line_.size() == longest_line)
        fail("the line is very long", fmt::format("at most {} characters", longest_line));
      line_ += static_cast<char>(c);
    }
    return !line_.empty();
  }
  static std::vector<std::string_view> split(std::string_view text) {
    constexpr std::string_view blank = " \t\r\v\f";
    std::vector<std::string_view> words;
    for (auto at = text.find_first_not_of(blank); at != std::string_view::npos;
         at = text.find_first_not_of(blank, at)) {
      const auto end = std::min(text.find_first_of(blank, at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end;
    }
    return words;
  }
  template <class N> static std::optional<N> number(std::string_view word) {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
    N x{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return x;
  }
  template <class N> std::optional<std::vector<N>> numbers(std::size_t count) const {
    std::vector<N> out;
    for (const std::string_view word : split(line_)) {
      const auto x = number<N>(word);
      if (!x || out.size() == count) return std::nullopt;
      out.push_back(*x);
    }
    return out.size() == count ? std::optional(out) : std::nullopt;
  }
  std::string found() const {
    std::string text;
    for (const char c : line_.substr(0, 60)) text += c >= ' ' && c <= '~' ? c : c == '\t' ? ' ' : '?';
    while (!text.empty() && (text.back() == ' ' || (text.back() == '?' && line_.back() == '\r'))) text.pop_back();
    return fmt::format("found '{}{}'", text, line_.size() > 60 ? "..." : "");
  }
  [[noreturn]] void fail(const std::string& fact, const std::string& expected) const {
    label_.fail<InvalidModel>(fmt::format("line {}: {}", number_, fact), "expected " + expected);
  }

  std::istream& in_;
  Label label_;
  MatrixMarketLimits limits_;
  std::string line_;
  Index number_ = 0, rows_ = 0, columns_ = 0;
  bool coordinate_ = true, symmetric_ = false;
  std::vector<Eigen::Triplet<double>> triplets_;
};

}  // namespace

Eigen::SparseMatrix<double> read_matrix_market(std::istream& in, const std::string& name,
                                               const MatrixMarketLimits& limits) {
  return Reader(in, name, limits).read();
}

Eigen::SparseMatrix<double> read_matrix_market(const std::string& path, const MatrixMarketLimits& limits) {
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  if (exists(status) && !is_regular_file(status))  // a pipe that nobody writes to would keep us waiting
    Label{"file", path}.fail<InvalidModel>("this is no plain file", "give one; pipes, devices and folders are not read");
  std::ifstream in(path, std::ios::binary);
  if (!in) Label{"file", path}.fail<InvalidModel>("cannot be opened", "check the path and the permissions");
  return read_matrix_market(in, path, limits);
}

}  // namespace mortise
