// Kills the command at any moment, flips bits in its files and lets its disk be full, and looks whether anything is
// lost or wrong: whatever happened, the same line called again gives what an undisturbed one gives, or says why not.
//
// Usage: mortise_chaos <mortise> <library of full_disk.cpp> <model.toml> <seconds> [seed]

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

pid_t start(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment = {}) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int null = ::open("/dev/null", O_WRONLY);
  ::dup2(null, STDOUT_FILENO);
  ::dup2(null, STDERR_FILENO);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

// The exit status; -1: it was killed.
int finish(pid_t child) {
  int raw = 0;
  while (::waitpid(child, &raw, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
}

class Chaos {
 public:
  Chaos(std::vector<std::string> words, unsigned seed)
      : mortise_(words[0]), full_disk_(words[1]), model_(words[2]), random_(seed) {
    folder_ = fs::temp_directory_path() / ("mortise_chaos_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    const auto begin = Clock::now();
    require(call(run("reference.csv", "reference.run")) == 0, "the reference run does not end well");
    length_ = Seconds(Clock::now() - begin).count();
    csv_ = content(folder_ / "reference.csv");
    checkpoint_ = content(folder_ / "reference.run");
    require(call(sweep("reference")) == 0, "the reference sweep does not end well");
    runs_ = results("reference");
    require(runs_.size() == 5 && !csv_.empty() && !checkpoint_.empty(), "the references are not whole");
  }
  ~Chaos() { fs::remove_all(folder_); }

  void go(double seconds) {
    const auto end = Clock::now() + Seconds(seconds);
    do {
      killed_runs();
      killed_sweeps();
      for (int i = 0; i < 20; ++i) flipped_checkpoint();
      for (int i = 0; i < 10; ++i) flipped_sweep();
      for (int i = 0; i < 5; ++i) full_disk();
    } while (Clock::now() < end);
  }

  int report() const {
    std::printf("%d kills, %d flips, %d full disks: %d lost, %d wrong\n", kills_, flips_, full_, lost_, wrong_);
    return lost_ + wrong_ == 0 ? 0 : 1;
  }

 private:
  static void require(bool ok, const char* what) {
    if (ok) return;
    std::fprintf(stderr, "%s\n", what);
    std::exit(2);
  }
  void count(int& faults, const std::string& what) {
    ++faults;
    std::fprintf(stderr, "%s\n", what.c_str());
  }
  double uniform() { return std::uniform_real_distribution<double>()(random_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> run(const std::string& csv, const std::string& saved) const {
    return {mortise_,  "run",  model_,     "--until",   "2",  "--sample", "0.02",
            "--every", "0.05", "--resume", path(saved), "-o", path(csv)};
  }
  std::vector<std::string> sweep(const std::string& to) const {
    return {mortise_, "sweep", model_, "--vary", "L=1:2:4", "--until", "1", "-o", path(to)};
  }
  int call(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment = {}) const {
    return finish(start(words, environment));
  }
  // Killed at any moment of its life.
  int call_and_kill(const std::vector<std::string>& words) {
    const pid_t child = start(words);
    std::this_thread::sleep_for(Seconds(1.1 * length_ * uniform()));
    ::kill(child, SIGKILL);
    const int status = finish(child);
    kills_ += status < 0;
    return status;
  }
  std::map<std::string, std::string> results(const std::string& of) const {
    std::map<std::string, std::string> out;
    for (const auto& e : fs::directory_iterator(folder_ / of))
      if (e.path().extension() == ".csv") out[e.path().filename()] = content(e.path());
    return out;
  }
  std::string flipped(std::string text) {
    text[random_() % text.size()] ^= static_cast<char>(1u << random_() % 8);
    ++flips_;
    return text;
  }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  void killed_runs() {
    fs::remove(folder_ / "a.run");
    fs::remove(folder_ / "a.csv");
    int status = -1;
    for (int i = 0; i < 20 && status < 0; ++i) {
      const bool saved = fs::exists(folder_ / "a.run");
      status = call_and_kill(run("a.csv", "a.run"));
      if (saved && !fs::exists(folder_ / "a.run")) count(lost_, "a checkpoint is gone");
      if (const std::string csv = content(folder_ / "a.csv"); !csv.empty() && csv != csv_)
        count(wrong_, "a CSV file is there in part");
    }
    if (call(run("a.csv", "a.run")) != 0) count(lost_, "a run that was killed cannot be resumed");
    if (content(folder_ / "a.csv") != csv_) count(wrong_, "a run that was killed has another result");
    fs::remove(folder_ / "a.csv");
    clear_parts(folder_);
  }

  // Two at a time, of which one is killed, then the other.
  void killed_sweeps() {
    fs::remove_all(folder_ / "s");
    for (int i = 0; i < 3; ++i) {
      const pid_t other = start(sweep("s"));
      (void)call_and_kill(sweep("s"));
      if (i < 2) {
        kills_ += ::kill(other, SIGKILL) == 0 && finish(other) < 0;
      } else if (finish(other) != 0) {
        count(lost_, "a sweep beside one that was killed failed");
      }
    }
    if (call(sweep("s")) != 0) count(lost_, "a sweep that was killed cannot go on");
    if (results("s") != runs_) count(wrong_, "a sweep that was killed has other results");
    clear_parts(folder_ / "s");
  }

  // What was killed between two system calls leaves files of its own behind, which nobody takes for others.
  static void clear_parts(const fs::path& in) {
    for (const auto& e : fs::directory_iterator(in))
      if (e.path().extension() == ".part") fs::remove(e.path());
  }

  void flipped_checkpoint() {
    put("f.run", flipped(checkpoint_));
    fs::remove(folder_ / "f.csv");
    const int status = call(run("f.csv", "f.run"));
    if (status != 4 && content(folder_ / "f.csv") != csv_) count(wrong_, "a flipped checkpoint was taken");
    if (status < 0) count(lost_, "a flipped checkpoint ended the program");
  }

  void flipped_sweep() {
    std::vector<fs::path> files;
    for (const auto& e : fs::directory_iterator(folder_ / "s"))
      if (e.file_size() > 0) files.push_back(e.path());
    std::sort(files.begin(), files.end());
    const fs::path file = files[random_() % files.size()];
    const std::string before = content(file);
    put("s/" + file.filename().string(), flipped(before));
    const int status = call(sweep("s"));
    if (status < 0) count(lost_, "a flipped file of a sweep ended the program");
    if (status != 0) put("s/" + file.filename().string(), before);  // refused, as it must be told
    if (status == 0 && results("s") != runs_) count(wrong_, "a flipped file of a sweep was taken: " + file.string());
    if (status != 0 && status != 4 && status != 64) count(wrong_, "a flipped file of a sweep has another status");
  }

  void full_disk() {
    ++full_;
    const bool sweeps = random_() % 2;
    std::map<std::string, std::string> disk{{"LD_PRELOAD", full_disk_},
                                            {"ASAN_OPTIONS", "verify_asan_link_order=0"},
                                            {"MORTISE_FAIL_AT", std::to_string(1 + random_() % (sweeps ? 30 : 120))},
                                            {"MORTISE_FAIL_WITH", std::to_string(random_() % 2 ? ENOSPC : EIO)}};
    if (random_() % 2) disk["MORTISE_FAIL_ON"] = "1";
    if (sweeps) {
      fs::remove_all(folder_ / "d");
      const int status = call(sweep("d"), disk);
      if (status == 0 && results("d") != runs_) count(wrong_, "a full disk was not told by a sweep");
      if (status != 0 && status != 4) count(lost_, "a full disk ended a sweep with status " + std::to_string(status));
      if (call(sweep("d")) != 0) count(lost_, "a sweep cannot go on after a full disk");
      if (results("d") != runs_) count(wrong_, "a sweep has other results after a full disk");
      return;
    }
    fs::remove(folder_ / "d.run");
    put("d.csv", "old");
    const int status = call(run("d.csv", "d.run"), disk);
    const std::string csv = content(folder_ / "d.csv");
    if (status == 4 ? csv != "old" && csv != csv_ : csv != csv_)
      count(wrong_, "a CSV file is not whole on a full disk");
    if (status != 0 && status != 1 && status != 4) count(lost_, "a full disk ended a run");
    if (call(run("d.csv", "d.run")) != 0) count(lost_, "a run cannot go on after a full disk");
    if (content(folder_ / "d.csv") != csv_) count(wrong_, "a run has another result after a full disk");
  }

  std::string mortise_, full_disk_, model_;
  std::mt19937 random_;
  fs::path folder_;
  double length_ = 0;  // [s] of a run
  std::string csv_, checkpoint_;
  std::map<std::string, std::string> runs_;
  int kills_ = 0, flips_ = 0, full_ = 0, lost_ = 0, wrong_ = 0;
};

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::fprintf(stderr, "usage: mortise_chaos <mortise> <full_disk.so> <model.toml> <seconds> [seed]\n");
    return 2;
  }
  Chaos chaos({words[1], words[2], words[3]}, count > 5 ? static_cast<unsigned>(std::atol(words[5])) : 1);
  chaos.go(std::atof(words[4]));
  return chaos.report();
}
