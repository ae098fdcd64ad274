#pragma once
// Expression: a formula of a model file, evaluated with any scalar of the library, so that its derivatives are exact.
//
//   "m * L^2 / 12"      numbers and parameters are put together when it is read
//   "0.2 * sin(3 * t)"  variables remain
//
// + - * / ^ ( ), -x^2 = -(x^2), a^b^c = a^(b^c); the functions of function_names(); the constant pi.  A unit may follow
// after a blank: "2 * L mm".  Nothing else can be said, so that no file can do more than compute a number.

#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <mortise/core/dual.h>
#include <mortise/core/jet.h>

namespace mortise::files {

// Where in the text, counted from 0, and what is wrong there.
struct ExpressionError : std::runtime_error {
  ExpressionError(std::size_t at, const std::string& fact, std::string r)
      : std::runtime_error(fact), position(at), remedy(std::move(r)) {}
  std::size_t position;
  std::string remedy;
};

// What a name in an expression means: a number, or a variable by its place.
struct Meaning {
  std::optional<double> number;
  int variable = -1;
};
struct Names {
  std::function<std::optional<Meaning>(std::string_view)> find;
  std::function<std::vector<std::string>()> all;  // for suggestions
};

class Expression {
 public:
  Expression() = default;
  explicit Expression(double number) : ops_{{Code::number, number, 0}}, depth_(1) {}
  // Throws ExpressionError.  What follows the expression is its unit; where there is none, it is empty.
  static Expression parse(std::string_view text, const Names& names, std::string_view* unit = nullptr);

  bool empty() const { return ops_.empty(); }
  std::optional<double> constant() const;
  Expression times(double factor) const;
  // The same formula for parse, to the last bit; variables are named by the function.
  std::string text(const std::function<std::string(int)>& name) const;

  // The variables by their places.
  template <class T> T operator()(const std::vector<T>& variables) const;

  // Where abs, min and max of this variable and numbers alone switch, ascending: the first value on the other side.
  // Straight lines are solved; of others what lasts longer than 1/4096 of the way is found.
  std::vector<double> switches(int variable, double from, double to) const;

 private:
  enum class Code {
    number,
    variable,
    add,
    subtract,
    multiply,
    divide,
    negate,
    power,
    power_by,  // power_by: to a fixed exponent
    sin,
    cos,
    tan,
    asin,
    acos,
    atan,
    atan2,
    sqrt,
    exp,
    log,
    sinh,
    cosh,
    tanh,
    abs,
    min,
    max
  };
  struct Op {  // in postfix order
    Code code;
    double number;
    int variable;
  };
  Expression part(std::size_t first, std::size_t last) const;  // of the code, a whole formula
  friend class Parser;
  friend std::vector<std::string> function_names();

  std::vector<Op> ops_;
  std::size_t depth_ = 0;  // of the stack it needs
};

std::vector<std::string> function_names();

template <class T> T Expression::operator()(const std::vector<T>& variables) const {
  using std::sin, std::cos, std::tan, std::asin, std::acos, std::atan, std::atan2, std::sqrt, std::exp, std::log,
      std::sinh, std::cosh, std::tanh, std::abs, std::pow;
  std::vector<T> stack(depth_ + 1);
  std::size_t top = 0;  // stack[1] ... stack[top] are in use
  for (const Op& op : ops_) {
    T& a = stack[top];  // the last one, or the second of two
    const auto two = [&](const T& r) { stack[--top] = r; };
    switch (op.code) {
      case Code::number:
        stack[++top] = T(op.number);
        break;
      case Code::variable:
        stack[++top] = variables[static_cast<std::size_t>(op.variable)];
        break;
      case Code::add:
        two(stack[top - 1] + a);
        break;
      case Code::subtract:
        two(stack[top - 1] - a);
        break;
      case Code::multiply:
        two(stack[top - 1] * a);
        break;
      case Code::divide:
        two(stack[top - 1] / a);
        break;
      case Code::power:
        two(T(pow(stack[top - 1], a)));
        break;
      case Code::atan2:
        two(T(atan2(stack[top - 1], a)));
        break;
      case Code::min:
        two(T(a < stack[top - 1] ? a : stack[top - 1]));
        break;
      case Code::max:
        two(T(a > stack[top - 1] ? a : stack[top - 1]));
        break;
      case Code::negate:
        a = T(-a);
        break;
      case Code::power_by:
        a = T(pow(a, op.number));
        break;
      case Code::sin:
        a = T(sin(a));
        break;
      case Code::cos:
        a = T(cos(a));
        break;
      case Code::tan:
        a = T(tan(a));
        break;
      case Code::asin:
        a = T(asin(a));
        break;
      case Code::acos:
        a = T(acos(a));
        break;
      case Code::atan:
        a = T(atan(a));
        break;
      case Code::sqrt:
        a = T(sqrt(a));
        break;
      case Code::exp:
        a = T(exp(a));
        break;
      case Code::log:
        a = T(log(a));
        break;
      case Code::sinh:
        a = T(sinh(a));
        break;
      case Code::cosh:
        a = T(cosh(a));
        break;
      case Code::tanh:
        a = T(tanh(a));
        break;
      case Code::abs:
        a = T(abs(a));
        break;
    }
  }
  return stack[top];
}

}  // namespace mortise::files
