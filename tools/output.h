#pragma once
// What the command writes to the terminal.  Control characters in names are shown, not obeyed.

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace mortise::command {

// To stdout as it stands: JSON, which escapes by itself.
void put(std::string_view text);
// To stdout.
void say(std::string_view text);
void say_coloured(std::string_view text);  // it may hold the colours of a report
template <class First, class... Rest> void say(fmt::format_string<First, Rest...> form, First&& x, Rest&&... rest) {
  say(fmt::format(form, std::forward<First>(x), std::forward<Rest>(rest)...));
}
// To stderr.
void warn(std::string_view text);
template <class First, class... Rest> void warn(fmt::format_string<First, Rest...> form, First&& x, Rest&&... rest) {
  warn(fmt::format(form, std::forward<First>(x), std::forward<Rest>(rest)...));
}

// At the end: what could not be written to stdout is told, and makes the status that of a file that cannot be written.
// Who reads a pipe and has seen enough is no fault.
int close_output(int status);

}  // namespace mortise::command
