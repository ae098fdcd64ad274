#pragma once
// Json: a value to write as JSON; no parser.
//
//   Json({{"name", "rod"}, {"mass", 2.5}, {"parts", Json::array({"hinge", "end"})}}).text()
//
// Members keep their order; numbers are the shortest that read back as the same double.  JSON knows no NaN: such
// numbers are written as the strings "nan", "inf", "-inf".

#include <concepts>
#include <initializer_list>
#include <optional>
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

  Json();  // null
  Json(bool x);
  Json(long long x);
  Json(std::integral auto x) : Json(static_cast<long long>(x)) {}
  Json(double x);
  Json(const std::optional<double>& x);
  Json(const char* x);
  Json(std::string_view x);
  Json(std::string x);
  Json(const std::vector<std::string>& words);
  Json(const VectorXd& x);
  Json(std::initializer_list<Member> members);  // an object
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  static Json array();
  static Json array(std::vector<Json> items);
  static Json object();
  void push(Json item);
  void add(std::string key, Json value);

  std::string text() const;      // several lines, two spaces per level; arrays without nesting stand on one line
  std::string one_line() const;  // without a line end

 private:
  using Value =
      std::variant<std::monostate, bool, long long, double, std::string, std::vector<Json>, std::vector<Member>>;
  explicit Json(Value v);
  bool nested() const;
  void write(std::string& out, int level) const;  // level < 0: on one line
  Value value_;
};

}  // namespace mortise
