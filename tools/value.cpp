#include "value.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>

#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 64
#define TOML_ASSERT(x) static_cast<void>(0)  // bad files are told by errors, in every build
#include <toml++/toml.h>

namespace mortise::models {

std::string Where::text() const {
  const std::string name = file ? *file : "";
  return line > 0 ? fmt::format("{}:{}:{}", name, line, column) : name;
}

void fail(const Where& where, const std::string& fact, const std::string& remedy) {
  throw ModelError(fmt::format("{}: {}{}{}", where.text(), fact, remedy.empty() ? "" : "; ", remedy));
}

std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return "";
  constexpr std::size_t few = 4;
  if (known.size() <= few) return fmt::format("there {} {}", known.size() == 1 ? "is" : "are", fmt::join(known, ", "));
  return fmt::format("did you mean '{}'?", nearest_name(name, known));
}

const Value* Value::find(std::string_view key) const {
  for (const Entry& e : table)
    if (e.key == key) return &e.value;
  return nullptr;
}

std::string Value::described() const {
  switch (kind) {
    case Kind::boolean:
      return boolean ? "true" : "false";
    case Kind::integer:
      return fmt::format("{}", integer);
    case Kind::number:
      return fmt::format("{}", number);
    case Kind::text:
      return fmt::format("the text '{}'", text.size() <= 60 ? text : text.substr(0, 57) + "...");
    case Kind::list:
      return fmt::format("a list of {}", list.size());
    default:
      return "a table";
  }
}

namespace {

class Converter {
 public:
  Converter(std::shared_ptr<const std::string> file, std::string_view text, const Limits& limits)
      : file_(std::move(file)), limits_(limits) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      lines_.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  Value convert(const toml::node& node, std::size_t depth) const {
    Value v;
    v.where = where(node.source());
    if (depth > limits_.depth)
      fail(v.where, fmt::format("values are nested more than {} deep", limits_.depth), "write it flatter");
    if (const auto* table = node.as_table()) {
      v.kind = Value::Kind::table;
      for (const auto& [key, child] : *table)
        v.table.push_back({std::string(key.str()), where(key.source()), convert(child, depth + 1)});
      std::stable_sort(v.table.begin(), v.table.end(), [](const Value::Entry& a, const Value::Entry& b) {
        return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
      });
    } else if (const auto* list = node.as_array()) {
      v.kind = Value::Kind::list;
      for (const auto& child : *list) v.list.push_back(convert(child, depth + 1));
    } else if (const auto* b = node.as_boolean()) {
      v.kind = Value::Kind::boolean;
      v.boolean = b->get();
    } else if (const auto* i = node.as_integer()) {
      v.kind = Value::Kind::integer;
      v.integer = i->get();
      v.number = static_cast<double>(v.integer);
    } else if (const auto* x = node.as_floating_point()) {
      v.kind = Value::Kind::number;
      v.number = x->get();
    } else if (const auto* s = node.as_string()) {
      v.kind = Value::Kind::text;
      v.text = s->get();
      const auto begin = node.source().begin;
      const std::string_view line = begin.line >= 1 && begin.line <= lines_.size() ? lines_[begin.line - 1] : "";
      v.plain_text =
          begin.column >= 1 && line.size() >= begin.column && line.substr(begin.column, v.text.size()) == v.text;
    } else {
      fail(v.where, "dates and times have no meaning here", "give a number, a text, a list or a table");
    }
    return v;
  }

 private:
  Where where(const toml::source_region& region) const {
    return {file_, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }
  std::shared_ptr<const std::string> file_;
  Limits limits_;
  std::vector<std::string_view> lines_;
};

// Before the parser makes anything of it: plain characters, few values, and keys a.b.c that are no long chains.
// (The parser is not defined for characters beyond ASCII outside of texts, and recurses along such chains.)
void require_modest(std::string_view text, const std::shared_ptr<const std::string>& file, const Limits& limits) {
  if (text.size() > limits.bytes)
    fail({file}, fmt::format("the file has {} bytes, more than {}", text.size(), limits.bytes),
         "split the model, or build it in C++");
  constexpr std::size_t chain = 200;
  std::size_t values = 0, dots = 0;
  int line = 1, column = 0;
  char quote = 0;  // of the text we are in
  bool tripled = false, comment = false;
  for (std::size_t i = text.starts_with("\xEF\xBB\xBF") ? 3 : 0; i < text.size(); ++i) {  // after a byte order mark
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const auto refuse = [&](const std::string& fact, const char* remedy) { fail({file, line, column}, fact, remedy); };
    ++column;
    if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f)
      refuse(fmt::format("here stands the control character {}", byte), "write plain text");
    if (c == '\n') {
      ++line;
      column = 0;
      comment = false;
      if (!tripled) quote = 0;
    }
    values += c == ',' || c == '=' || c == '\n';
    if (values > limits.values)
      refuse(fmt::format("the file has more than {} values", limits.values), "split the model, or build it in C++");
    if (comment) continue;
    if (quote) {
      if (c == '\\' && quote == '"' && text.substr(i + 1, 1) != "\n") {
        ++i, ++column;
      } else if (c == quote && !tripled) {
        quote = 0;
      } else if (c == quote && text.substr(i, 3) == std::string(3, quote)) {
        i += 2, column += 2;
        quote = 0;
        tripled = false;
      }
      continue;
    }
    if (c == '#') comment = true;
    if (c == '"' || c == '\'') {
      quote = c;
      tripled = text.substr(i, 3) == std::string(3, c);
      if (tripled) i += 2, column += 2;
      continue;
    }
    if (byte >= 0x80) refuse("a character beyond ASCII stands outside of a text", "put the name into quotes");
    dots = std::isalnum(byte) || std::strchr("_-. \t", c) ? dots + (c == '.') : 0;
    if (dots > chain) refuse(fmt::format("values are nested more than {} deep", chain), "write it flatter");
  }
}

}  // namespace

Value parse_toml(std::string_view text, const std::string& name, const Limits& limits) {
  const auto file = std::make_shared<const std::string>(name);
  require_modest(text, file, limits);
  try {
    const toml::table root = toml::parse(text, std::string_view(name));
    return Converter(file, text, limits).convert(root, 0);
  } catch (const toml::parse_error& error) {
    const auto begin = error.source().begin;
    fail({file, static_cast<int>(begin.line), static_cast<int>(begin.column)},
         "this is no TOML: " + std::string(error.description()), "see https://toml.io");
  }
}

Value read_toml(const std::string& path, const std::string& name, const Limits& limits) {
  const Where where{std::make_shared<const std::string>(name)};
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) fail(where, "there is no such file", "check the name");
  if (!std::filesystem::is_regular_file(status)) fail(where, "this is no plain file", "give a model file");
  const auto size = std::filesystem::file_size(path, error);
  if (error) fail(where, "cannot be read", "check its permissions");
  if (size > limits.bytes)
    fail(where, fmt::format("the file has {} bytes, more than {}", size, limits.bytes),
         "split the model, or build it in C++");
  std::ifstream in(path, std::ios::binary);
  std::string text(size, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(size))) fail(where, "cannot be read", "check its permissions");
  return parse_toml(text, name, limits);
}

}  // namespace mortise::models
