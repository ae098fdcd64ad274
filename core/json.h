#pragma once
// Json: a value to write as JSON; no parser.
//
//   Json({{"name", "rod"}, {"mass", 2.5}, {"parts", Json::array({"hinge", "end"})}}).text()
//
// Members keep their order; numbers are the shortest that read back as the same double.  JSON knows no NaN: such
// numbers are written as the strings "nan", "inf", "-inf".

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <mortise/core/types.h>

namespace mortise {

class Json {
 public:
  using Member = std::pair<std::string, Json>;

  Json() = default;  // null
  Json(bool x) : value_(x) {}
  Json(std::integral auto x) : value_(static_cast<long long>(x)) {}
  Json(double x) : value_(x) {}
  Json(const char* x) : value_(std::string(x)) {}
  Json(std::string_view x) : value_(std::string(x)) {}
  Json(std::string x) : value_(std::move(x)) {}
  Json(const std::vector<std::string>& words) : value_(std::vector<Json>(words.begin(), words.end())) {}
  Json(const VectorXd& x) : value_(std::vector<Json>(x.begin(), x.end())) {}
  Json(std::initializer_list<Member> members) : value_(std::vector<Member>(members)) {}  // an object

  static Json array(std::vector<Json> items = {}) { return Json(Value(std::move(items))); }
  static Json object() { return Json(Value(std::vector<Member>())); }
  void push(Json item) { std::get<std::vector<Json>>(value_).push_back(std::move(item)); }
  void add(std::string key, Json value) {
    std::get<std::vector<Member>>(value_).emplace_back(std::move(key), std::move(value));
  }

  std::string text() const;      // several lines, two spaces per level; arrays without nesting stand on one line
  std::string one_line() const;  // without a line end

 private:
  using Value =
      std::variant<std::monostate, bool, long long, double, std::string, std::vector<Json>, std::vector<Member>>;
  explicit Json(Value v) : value_(std::move(v)) {}
  bool nested() const;
  void write(std::string& out, int level) const;  // level < 0: on one line
  Value value_;
};

}  // namespace mortise
