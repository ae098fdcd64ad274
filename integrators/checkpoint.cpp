#include <mortise/integrators/checkpoint.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace mortise {
namespace {

constexpr std::string_view first_line = "mortise checkpoint 1\n", last_line = "end of checkpoint\n";

}  // namespace

void CheckpointWriter::numbers(std::string_view key, const double* x, std::size_t count) {
  text_ += fmt::format("numbers {} {}\n", key, count);
  for (std::size_t i = 0; i < count; ++i) text_ += fmt::format("{:a}\n", x[i]);
}

void CheckpointWriter::words(std::string_view key, const std::vector<std::string>& x) {
  text_ += fmt::format("words {} {}\n", key, x.size());
  for (const std::string& s : x) text_ += fmt::format("{} {}\n", s.size(), s);
}

std::string CheckpointWriter::text() const { return fmt::format("{}{}{}", first_line, text_, last_line); }

void CheckpointReader::fail(const std::string& fact) const {
  Label{"checkpoint", path_}.fail<FileError>(fact, "start the run anew, or give the right file");
}

CheckpointReader::CheckpointReader(const std::string& path) : path_(path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.rfind(first_line, 0) != 0) fail("it does not begin as a checkpoint of mortise, version 1");
  if (text.size() < first_line.size() + last_line.size() ||
      text.compare(text.size() - last_line.size(), last_line.size(), last_line) != 0)
    fail("it is not whole");
  std::size_t at = first_line.size();
  const std::size_t end = text.size() - last_line.size();
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
        if (digits.empty() || *rest != '\0') fail("it is damaged");
      }
    } else if (kind == "words") {
      auto& to = words_[key];
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t length = size(token(' '));
        if (at + length >= end || text[at + length] != '\n') fail("it is damaged");
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

const std::vector<std::string>& CheckpointReader::words(const std::string& key) const {
  const auto it = words_.find(key);
  if (it == words_.end()) fail(fmt::format("it lacks '{}'", key));
  return it->second;
}

}  // namespace mortise
