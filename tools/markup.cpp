#include "markup.h"

#include <cstdint>

#include <fmt/format.h>

namespace mortise {
namespace {

// Length of the UTF-8 character at the start of s; 0 if there is none.
std::size_t character(std::string_view s) {
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

constexpr std::string_view unknown = "\xEF\xBF\xBD";  // U+FFFD

// f(c) returns what stands for an ASCII character, or "" for itself.
template <class F> std::string mapped(std::string_view text, const F& f) {
  std::string out;
  while (!text.empty()) {
    const std::size_t n = character(text);
    const std::string other = n == 1 ? f(text[0]) : n == 0 ? std::string(unknown) : "";
    out += other.empty() ? text.substr(0, n) : std::string_view(other);
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

}  // namespace

std::string escaped_markup(std::string_view text) {
  return mapped(text, [](char c) -> std::string {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\'':
        return "&#39;";
      default:
        return (c < ' ' && c != '\n' && c != '\t') || c == 0x7F ? std::string(unknown) : "";
    }
  });
}

std::string json_string(std::string_view text) {
  return fmt::format("\"{}\"", mapped(text, [](char c) -> std::string {
                       if (c == '"') return "\\\"";
                       if (c == '\\') return "\\\\";
                       if (c == '\n') return "\\n";
                       if (c < ' ' || c == '<' || c == '>' || c == '&' || c == 0x7F)
                         return fmt::format("\\u{:04x}", static_cast<unsigned>(c));
                       return "";
                     }));
}

std::string base64(const void* data, std::size_t size) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::string out;
  out.reserve((size + 2) / 3 * 4);
  for (std::size_t i = 0; i < size; i += 3) {
    const auto at = [&](std::size_t k) -> std::uint32_t { return k < size ? bytes[k] : 0; };
    const std::uint32_t three = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= size ? letters[three >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace mortise
