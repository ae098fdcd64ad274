// Feeds the targets with the corpus, and then with changes of it for some time.
//
// Usage: mortise_fuzz <corpus> [seconds] [seed]      without seconds the corpus alone
//        mortise_fuzz --feed <target> <file>...      these files
//
// The corpus has one folder per target.  The input that is being fed stands in a file: after a crash or a hang it is
// there still.  libFuzzer, where there is clang, does better, see scripts/fuzz.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "targets.h"

namespace {

namespace fs = std::filesystem;
using mortise::fuzz::Target;
using Corpus = std::vector<std::vector<std::string>>;  // by target

constexpr unsigned longest_wait = 60;  // [s] for one input, also under sanitizers on a busy machine

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Feeder {
 public:
  Feeder() {
    std::signal(SIGALRM, [](int) {
      static constexpr char text[] = "fault: an input takes too long\n";
      (void)!::write(STDERR_FILENO, text, sizeof text - 1);
      std::abort();
    });
  }
  ~Feeder() {
    ::close(open_);
    fs::remove(file_);
  }
  void feed(const Target& target, const std::string& bytes) {
    if (::ftruncate(open_, 0) != 0 || ::pwrite(open_, bytes.data(), bytes.size(), 0) < 0) std::abort();
    if (told_ != target.name)
      std::printf("%s, each input in %s\n", std::string(told_ = target.name).c_str(), file_.c_str());
    std::fflush(stdout);
    ::alarm(longest_wait);
    target.feed(bytes);
    ::alarm(0);
  }

 private:
  fs::path file_ = fs::temp_directory_path() / ("mortise_fuzz_" + std::to_string(::getpid()) + ".input");
  int open_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);  // once: it is written very often
  std::string_view told_;
};

// A few changes, as a text editor or a bad disk makes them.
class Mutator {
 public:
  Mutator(const Corpus& corpus, unsigned seed) : corpus_(corpus), random_(seed) {}

  std::string next(std::size_t target, std::size_t longest) {
    const auto& all = corpus_[target];
    if (all.empty() || below(4) == 0) {  // bytes from nowhere
      std::string out(1 + below(std::min<std::size_t>(longest, 300)), '\0');
      for (char& c : out) c = static_cast<char>(random_());
      return out;
    }
    std::string out = all[below(all.size())];
    for (std::size_t n = 1 + below(4); n > 0; --n) change(out, all[below(all.size())]);
    if (out.size() > longest) out.resize(longest);
    return out;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % std::max<std::size_t>(1, n); }
  static std::size_t line_end(const std::string& s, std::size_t at) {
    const auto end = s.find('\n', at);
    return end == s.npos ? s.size() : end + 1;
  }
  void change(std::string& s, const std::string& other) {
    static const std::vector<std::string> words{
        "1e308", "-1", "0", "nan",   "inf",        "1e-308", "\"",      "'",     "[",    "]",    "{", "}",    "=", ",",
        "\n",    ".",  "-", "1e999", "2147483648", "ground", "kind = ", "\"m\"", "sin(", " deg", "#", "\xff", "\0"};
    const std::size_t at = below(s.size() + 1);
    switch (below(8)) {
      case 0:
        if (!s.empty()) s[below(s.size())] = static_cast<char>(random_());
        break;
      case 1:
        if (!s.empty()) s[below(s.size())] ^= static_cast<char>(1u << below(8));
        break;
      case 2:
        s.erase(at, 1 + below(8));
        break;
      case 3:
        s.insert(at, words[below(words.size())]);
        break;
      case 4: {  // a number becomes another one
        const auto digit = s.find_first_of("0123456789", at);
        if (digit != s.npos)
          s.replace(digit, std::max<std::size_t>(1, s.find_first_not_of("0123456789.", digit) - digit),
                    words[below(6)]);
        break;
      }
      case 5: {  // a line goes
        const std::size_t from = line_end(s, at);
        if (from < s.size()) s.erase(from, line_end(s, from) - from);
        break;
      }
      case 6: {  // a line of another one comes
        const std::size_t from = line_end(other, below(other.size()));
        if (from < other.size()) s.insert(line_end(s, at), other.substr(from, line_end(other, from) - from));
        break;
      }
      case 7:
        s.insert(at, other.substr(std::min(other.size(), below(other.size())), 1 + below(60)));
        break;
    }
  }
  const Corpus& corpus_;
  std::mt19937 random_;
};

}  // namespace

int main(int count, char** words) {
  const std::vector<Target>& targets = mortise::fuzz::targets();
  Feeder feeder;
  if (count > 3 && std::string(words[1]) == "--feed") {
    for (const Target& t : targets)
      for (int i = 3; i < count && t.name == words[2]; ++i) feeder.feed(t, content(words[i]));
    return 0;
  }
  if (count < 2) {
    std::fprintf(stderr,
                 "usage: mortise_fuzz <corpus> [seconds] [seed]\n       mortise_fuzz --feed <target> <file>...\n");
    return 2;
  }
  Corpus corpus(targets.size());
  std::size_t files = 0;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    std::vector<fs::path> paths;
    for (const auto& e : fs::directory_iterator(fs::path(words[1]) / targets[k].name)) paths.push_back(e.path());
    if (targets[k].name == "model")  // and what the tests and the examples have
      for (const char* more : {"examples/models", "tests/models/bad"})
        for (const auto& e : fs::directory_iterator(fs::path(MORTISE_SOURCE) / more))
          if (e.path().extension() == ".toml") paths.push_back(e.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) corpus[k].push_back(content(path));
    for (const std::string& bytes : corpus[k]) feeder.feed(targets[k], bytes);
    files += paths.size();
    if (paths.empty()) {
      std::fprintf(stderr, "there is no corpus for %s\n", std::string(targets[k].name).c_str());
      return 2;
    }
  }
  std::size_t tried = 0;
  if (count > 2) {
    const double seconds = std::atof(words[2]);
    const unsigned seed = count > 3 ? static_cast<unsigned>(std::atol(words[3])) : 1;
    Mutator mutator(corpus, seed);
    using Clock = std::chrono::steady_clock;
    for (std::size_t k = 0; k < targets.size(); ++k) {
      const auto end = Clock::now() + std::chrono::duration<double>(seconds / static_cast<double>(targets.size()));
      for (; Clock::now() < end; ++tried) feeder.feed(targets[k], mutator.next(k, targets[k].longest));
    }
  }
  std::printf("%zu files of the corpus, %zu inputs: 0 faults\n", files, tried);
  return 0;
}
