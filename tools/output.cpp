#include "output.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <mortise/core/text.h>

#include "commands.h"

namespace mortise::command {
namespace {

int failed = 0;  // errno of the first write that failed
bool written = false;

std::string shown(std::string_view text, bool coloured) {
  constexpr std::array<std::string_view, 5> colours{"\033[31m", "\033[33m", "\033[32m", "\033[1m", "\033[0m"};
  std::string out;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t escape = coloured ? text.find('\033', from) : text.npos;
    out += printable(text.substr(from, escape - from));
    if (escape == text.npos) break;
    from = escape + 1;
    std::string_view code;
    for (const std::string_view c : colours)
      if (text.substr(escape).starts_with(c)) code = c;
    out += code.empty() ? printable("\033") : std::string(code);
    if (!code.empty()) from = escape + code.size();
  }
  return out;
}

}  // namespace

void put(std::string_view text) {
  written = written || !text.empty();
  if (failed == 0 && std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) failed = errno;
}

void say(std::string_view text) { put(shown(text, false)); }

void say_coloured(std::string_view text) { put(shown(text, true)); }

void warn(std::string_view text) { std::fputs(shown(text, false).c_str(), stderr); }

int close_output(int status) {
  if (failed == 0 && std::fflush(stdout) != 0) failed = errno;
  if (failed == 0 && std::fclose(stdout) != 0) failed = errno;
  if (failed == 0 || failed == EPIPE || (failed == EBADF && !written)) return status;
  warn("standard output: cannot be written: {}; what it was to hold is not whole\n", std::strerror(failed));
  return invalid_file;
}

}  // namespace mortise::command
