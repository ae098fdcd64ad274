#pragma once
// For tests of the command: folders, files, and what it prints.

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace fs = std::filesystem;

// A folder that is gone after the test.
struct Scratch {
  fs::path path;
  Scratch() {
    static int count = 0;
    path = fs::temp_directory_path() / fmt::format("mortise_models_{}_{}", ::getpid(), count++);
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Scratch() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

inline std::string content(const fs::path& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in.good(), path.string());
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}
inline void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

struct Outcome {
  int status;
  std::string out, err;
};
inline Outcome mortise_command(const std::string& arguments) {
  const Scratch scratch;
  const std::string out = scratch / "out", err = scratch / "err";
  const int raw = std::system(fmt::format("{} {} >'{}' 2>'{}'", MORTISE_COMMAND, arguments, out, err).c_str());
  return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, content(out), content(err)};
}
