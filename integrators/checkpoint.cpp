#include <mortise/integrators/checkpoint.h>

#include <cmath>
#include <cstdlib>

#include <mortise/core/file.h>

namespace mortise {
namespace {

constexpr std::string_view first_words = "mortise checkpoint 2 ";

}  // namespace

void CheckpointWriter::numbers(std::string_view key, const double* x, std::size_t count) {
  text_ += fmt::format("numbers {} {}\n", key, count);
  for (std::size_t i = 0; i < count; ++i) text_ += fmt::format("{:a}\n", x[i]);
}

void CheckpointWriter::words(std::string_view key, const std::vector<std::string>& x) {
  text_ += fmt::format("words {} {}\n", key, x.size());
  for (const std::string& s : x) text_ += fmt::format("{} {}\n", s.size(), s);
}

// The first line tells how long the rest is, and its fingerprint.
std::string CheckpointWriter::text() const {
  return fmt::format("{}{} {:016x}\n{}", first_words, text_.size(), fingerprint(text_), text_);
}

void CheckpointReader::fail(const std::string& fact) const {
  Label{"checkpoint", path_}.fail<FileError>(fact, "start the run anew, or give the right file");
}

CheckpointReader::CheckpointReader(const std::string& path) : path_(path) {
  constexpr std::size_t most = std::size_t{1} << 34;
  const std::string whole = read_file(path, most);
  if (!whole.starts_with(first_words)) fail("it does not begin as a checkpoint of mortise, version 2");
  const std::size_t line = whole.find('\n');
  if (line == std::string::npos) fail("it is not whole");
  const std::string text = whole.substr(line + 1);
  if (whole.substr(first_words.size(), line - first_words.size()) !=
      fmt::format("{} {:016x}", text.size(), fingerprint(text)))
    fail("it is not whole, or was changed");
  std::size_t at = 0;
  const std::size_t end = text.size();
  const auto token = [&](char until) {
    const std::size_t stop = text.find(until, at);
    if (stop == std::string::npos || stop >= end) fail("it is damaged");
    std::string out = text.substr(at, stop - at);
    at = stop + 1;
    return out;
  };
  const auto size = [&](const std::string& digits) {
    char* rest = nullptr;
    const unsigned long long n = std::strtoull(digits.c_str(), &rest, 10);
    if (digits.empty() || *rest != '\0' || n > text.size()) fail("it is damaged");
    return static_cast<std::size_t>(n);
  };
  while (at < end) {
    const std::string kind = token(' '), key = token(' ');
    const std::size_t count = size(token('\n'));
    if (kind == "numbers") {
      auto& to = numbers_[key];
      for (std::size_t i = 0; i < count; ++i) {
        const std::string digits = token('\n');
        char* rest = nullptr;
        to.push_back(std::strtod(digits.c_str(), &rest));
        if (digits.empty() || *rest != '\0' || std::isnan(to.back())) fail(fmt::format("'{}' is damaged", key));
      }
    } else if (kind == "words") {
      auto& to = words_[key];
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t length = size(token(' '));
        if (length >= end - at || text[at + length] != '\n') fail("it is damaged");
        to.push_back(text.substr(at, length));
        at += length + 1;
      }
    } else {
      fail("it is damaged");
    }
  }
}

const std::vector<double>& CheckpointReader::numbers(const std::string& key) const {
  const auto it = numbers_.find(key);
  if (it == numbers_.end()) fail(fmt::format("it lacks '{}'", key));
  return it->second;
}

double CheckpointReader::number(const std::string& key) const {
  const auto& all = numbers(key);
  if (all.size() != 1) fail(fmt::format("'{}' is not one number", key));
  return all[0];
}

std::vector<Index> CheckpointReader::counts(const std::string& key, Index below) const {
  std::vector<Index> out;
  for (const double x : numbers(key)) {
    if (!(x >= 0 && x < static_cast<double>(below)) || x != std::floor(x))
      fail(fmt::format("{} in '{}' is no count below {}", x, key, below));
    out.push_back(static_cast<Index>(x));
  }
  return out;
}

const std::vector<std::string>& CheckpointReader::words(const std::string& key) const {
  const auto it = words_.find(key);
  if (it == words_.end()) fail(fmt::format("it lacks '{}'", key));
  return it->second;
}

}  // namespace mortise
