#include <mortise/core/json.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <mortise/core/errors.h>
#include <mortise/core/text.h>

namespace mortise {
namespace {

void quote(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t n = character_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (first == '"' || first == '\\')
      out += '\\', out += text[0];
    else if (first < 0x20 || first == 0x7F)
      out += fmt::format("\\u{:04x}", first);
    else if (n == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0)  // the second set of controls
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[1]));
    else
      out += n == 0 ? std::string_view("\\ufffd") : text.substr(0, n);
    text.remove_prefix(n == 0 ? 1 : n);
  }
  out += '"';
}

}  // namespace

Json::Json() = default;
Json::Json(bool x) : value_(x) {}
Json::Json(long long x) : value_(x) {}
Json::Json(double x) : value_(x) {}
Json::Json(const std::optional<double>& x) {
  if (x) value_ = *x;
}
Json::Json(const char* x) : value_(std::string(x)) {}
Json::Json(std::string_view x) : value_(std::string(x)) {}
Json::Json(std::string x) : value_(std::move(x)) {}
Json::Json(const std::vector<std::string>& words) : value_(std::vector<Json>(words.begin(), words.end())) {}
Json::Json(const VectorXd& x) : value_(std::vector<Json>(x.begin(), x.end())) {}
Json::Json(std::initializer_list<Member> members) : value_(std::vector<Member>(members)) {}
Json::Json(Value v) : value_(std::move(v)) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json Json::array() { return array({}); }
Json Json::array(std::vector<Json> items) { return Json(Value(std::move(items))); }
Json Json::object() { return Json(Value(std::vector<Member>())); }
void Json::push(Json item) {
  auto* items = std::get_if<std::vector<Json>>(&value_);
  if (!items)
    Label{"json", one_line()}.fail<InvalidModel>("a value is pushed into it, and it is no array",
                                                 "begin with Json::array()");
  items->push_back(std::move(item));
}
void Json::add(std::string key, Json value) {
  auto* members = std::get_if<std::vector<Member>>(&value_);
  if (!members)
    Label{"json", one_line()}.fail<InvalidModel>("a member is added to it, and it is no object",
                                                 "begin with Json::object()");
  members->emplace_back(std::move(key), std::move(value));
}

// Holds objects or arrays: too much for one line.
bool Json::nested() const {
  const auto* items = std::get_if<std::vector<Json>>(&value_);
  return items && std::any_of(items->begin(), items->end(), [](const Json& x) {
           return std::holds_alternative<std::vector<Json>>(x.value_) ||
                  std::holds_alternative<std::vector<Member>>(x.value_);
         });
}

void Json::write(std::string& out, int level) const {
  const auto new_line = [&](int depth) { out.append(1, '\n').append(2 * static_cast<std::size_t>(depth), ' '); };
  const auto list = [&](char open, char close, const auto& items, bool lines, const auto& each) {
    out += open;
    bool first = true;
    for (const auto& item : items) {
      out += first ? "" : lines ? "," : ", ";
      if (lines) new_line(level + 1);
      each(item);
      first = false;
    }
    if (lines && !first) new_line(level);
    out += close;
  };
  const int below = level < 0 ? level : level + 1;
  if (std::holds_alternative<std::monostate>(value_)) {
    out += "null";
  } else if (const auto* b = std::get_if<bool>(&value_)) {
    out += *b ? "true" : "false";
  } else if (const auto* i = std::get_if<long long>(&value_)) {
    out += std::to_string(*i);
  } else if (const auto* x = std::get_if<double>(&value_)) {
    if (std::isfinite(*x))
      out += fmt::format("{}", *x == 0 ? 0.0 : *x);  // no -0
    else
      quote(out, std::isnan(*x) ? "nan" : *x > 0 ? "inf" : "-inf");
  } else if (const auto* s = std::get_if<std::string>(&value_)) {
    quote(out, *s);
  } else if (const auto* items = std::get_if<std::vector<Json>>(&value_)) {
    list('[', ']', *items, level >= 0 && nested(), [&](const Json& item) { item.write(out, below); });
  } else {
    list('{', '}', std::get<std::vector<Member>>(value_), level >= 0, [&](const Member& m) {
      quote(out, m.first);
      out += ": ";
      m.second.write(out, below);
    });
  }
}

std::string Json::text() const {
  std::string out;
  write(out, 0);
  return out + "\n";
}

std::string Json::one_line() const {
  std::string out;
  write(out, -1);
  return out;
}

}  // namespace mortise
