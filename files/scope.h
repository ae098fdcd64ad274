#pragma once
// Scope: how values of a file are understood, with the parameters that its expressions may name.

#include <map>
#include <string>
#include <vector>

#include <mortise/bodies/structure.h>
#include <mortise/core/function.h>
#include <mortise/files/expression.h>
#include <mortise/files/value.h>

namespace mortise::files {

// A name in a formula besides the parameters: an argument of the function, of a vector one of its components, of a body
// one of its coordinates or their rates.
struct Variable {
  int argument = 0;
  int component = -1;
  std::string coordinate = {};
  bool rate = false;
  bool time = false;  // it is t
  bool operator==(const Variable&) const = default;
};

// What the arguments of a formula are called.
struct Arguments {
  std::vector<std::string> scalars;          // "angle", "speed", "t"
  std::vector<std::string> components = {};  // of a vector, which is then the first argument
  struct Body {
    std::string name;  // "cart"
    std::vector<std::string> coordinates;
  };
  std::vector<Body> bodies = {};  // the first arguments, called by their names or a, b, c ...
  bool rates = false;             // their velocities may be named, cart.x'
};

class Scope {
 public:
  std::map<std::string, double> parameters;
  std::string folder;  // of files that are named
  std::vector<std::string>* files = nullptr;  // gets the paths of those that are read

  // A number, or an expression of parameters with or without a unit, in SI.  `unit` is that of the field, "*" for any.
  double number(const Value& v, std::string_view unit) const;
  std::vector<double> numbers(const Value& v, std::string_view unit) const;                     // a list
  std::vector<double> numbers(const Value& v, std::string_view unit, std::size_t count) const;  // of so many
  std::string text(const Value& v) const;
  bool boolean(const Value& v) const;
  int integer(const Value& v) const;
  std::vector<std::string> texts(const Value& v) const;
  // A number, a list of rows, or the name of a Matrix Market file.
  MatrixXd matrix(const Value& v, std::string_view unit) const;
  AnyMatrix sparse(const Value& v, std::string_view unit) const;
  // An expression of one variable, {table = {t = [...], y = [...]}}, {spline = ...} or a number.
  Function function(const Value& v, std::string_view unit, const std::string& variable) const;
  // Adds the variables that it names to `variables`.
  Expression formula(const Value& v, std::string_view unit, const Arguments& arguments,
                     std::vector<Variable>& variables) const;

  // Throws ModelError unless every key of the table is one of these.
  static void require_keys(const Value& table, const std::vector<std::string>& known, const std::string& what);
  static void require_table(const Value& v, const std::string& what);

 private:
  Expression parse(const Value& v, std::string_view unit, const Names& names) const;
};

// The name that `variable` has in a file: "b.theta'", "angle".
std::string name_of(const Variable& variable, const Arguments& arguments);
// A file named in a model, relative to its folder; throws ModelError if it leaves it.
std::string inside(const std::string& folder, const std::string& root, const Value& name);

// The times at which formulas switch by the clock.
std::vector<double> switches(const std::vector<Expression>& rows, const std::vector<Variable>& variables, double from,
                             double to);

// A function of a file, which tells its text.
struct FileFunction {
  Expression f;
  template <class T> T operator()(const T& t) const { return f(std::vector<T>{t}); }
  std::vector<double> breakpoints(double from, double to) const { return f.switches(0, from, to); }
};

}  // namespace mortise::files
