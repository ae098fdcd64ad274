#pragma once
// Names of any characters, made safe for what they are put into.

#include <string>
#include <string_view>

namespace mortise {

// Length in bytes of the UTF-8 character at the start of s, which is not empty; 0 if there is none.
std::size_t character_length(std::string_view s);

// For terminals: control characters, but line ends and tabs, and bytes that are no UTF-8 as \x1b, \u0085, \xff.
std::string printable(std::string_view text);

// A cell of a CSV file: in quotes where it needs them, "a ""name"", quoted".
std::string csv_cell(std::string_view text);

}  // namespace mortise
