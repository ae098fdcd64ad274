#include <mortise/core/text.h>

#include <fmt/format.h>

namespace mortise {

std::size_t character_length(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t n = first >= 0xC2 && first < 0xE0   ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (n == 0 || s.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) || (first == 0xF0 && byte(1) < 0x90) ||
      (first == 0xF4 && byte(1) > 0x8F))
    return 0;  // too long a form, a surrogate, beyond the last character
  return n;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t n = character_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (n == 0 || (n == 1 && ((first < ' ' && first != '\n' && first != '\t') || first == 0x7F)))
      out += fmt::format("\\x{:02x}", first);
    else if (n == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0)  // the second set of controls
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[1]));
    else
      out += text.substr(0, n);
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

std::string csv_cell(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t'; };
  const bool plain = !text.empty() && text.find_first_of(",\"\r\n") == text.npos && !space(text.front()) &&
                     !space(text.back()) && !text.starts_with("\xEF\xBB\xBF");
  if (plain) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace mortise
