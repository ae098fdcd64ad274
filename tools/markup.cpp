#include "markup.h"

#include <cstdint>

#include <fmt/format.h>

#include <mortise/core/text.h>

namespace mortise {
namespace {

constexpr std::string_view unknown = "\xEF\xBF\xBD";  // U+FFFD

// f(c) returns what stands for an ASCII character, or "" for itself.  U+FFFE and U+FFFF may not stand in XML.
template <class F> std::string mapped(std::string_view text, const F& f) {
  std::string out;
  while (!text.empty()) {
    const std::size_t n = character_length(text);
    const bool none = n == 0 || text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
    const std::string other = n == 1 ? f(text[0]) : none ? std::string(unknown) : "";
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
