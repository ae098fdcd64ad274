#include <mortise/files/scope.h>

#include <algorithm>
#include <climits>
#include <filesystem>

#include <mortise/bodies/matrix_market.h>
#include <mortise/core/spline.h>
#include <mortise/files/units.h>

namespace mortise::files {
namespace {

[[noreturn]] void wrong_kind(const Value& v, const std::string& expected) {
  fail(v.where, fmt::format("{} was expected, not {}", expected, v.described()), "");
}

}  // namespace

Expression Scope::parse(const Value& v, std::string_view unit, const Names& names) const {
  if (v.is_number()) return Expression(v.number);
  if (!v.is(Value::Kind::text)) wrong_kind(v, "a number or an expression");
  const auto at = [&](std::size_t position) { return v.plain_text ? v.where.right(1 + position) : v.where; };
  try {
    std::string_view given;
    const Expression f = Expression::parse(v.text, names, &given);
    if (given.empty()) return f;
    const auto u = parse_unit(given);
    const Where there = at(static_cast<std::size_t>(given.data() - v.text.data()));
    if (!u)
      fail(there, fmt::format("'{}' is no unit", given),
           "units are such as " + fmt::format("{}", fmt::join(unit_names(), ", ")));
    if (unit != "*" && !fits(*u, unit))
      fail(there,
           fmt::format("'{}' is no unit of {}", given,
                       unit.empty() ? "a pure number" : fmt::format("what is measured in {}", unit)),
           unit.empty() ? "leave it out" : fmt::format("give a number of {}", unit));
    return f.times(u->factor);
  } catch (const ExpressionError& error) {
    fail(at(error.position),
         fmt::format("in '{}': {}", v.text.size() <= 60 ? v.text : v.text.substr(0, 57) + "...", error.what()),
         error.remedy);
  }
}

double Scope::number(const Value& v, std::string_view unit) const {
  const Names names{[&](std::string_view name) -> std::optional<Meaning> {
                      const auto it = parameters.find(std::string(name));
                      if (it == parameters.end()) return std::nullopt;
                      return Meaning{it->second, -1};
                    },
                    [&] {
                      std::vector<std::string> all;
                      for (const auto& [name, x] : parameters) all.push_back(name);
                      return all;
                    }};
  const double x = *parse(v, unit, names).constant();
  if (!std::isfinite(x)) fail(v.where, fmt::format("the number is {}", x), "give a finite number");
  return x;
}

std::vector<double> Scope::numbers(const Value& v, std::string_view unit) const {
  if (!v.is(Value::Kind::list)) wrong_kind(v, "a list of numbers");
  std::vector<double> out;
  for (const Value& x : v.list) out.push_back(number(x, unit));
  return out;
}
std::vector<double> Scope::numbers(const Value& v, std::string_view unit, std::size_t count) const {
  if (!v.is(Value::Kind::list) || v.list.size() != count) wrong_kind(v, fmt::format("a list of {} numbers", count));
  return numbers(v, unit);
}

std::string Scope::text(const Value& v) const {
  if (!v.is(Value::Kind::text)) wrong_kind(v, "a text");
  return v.text;
}
bool Scope::boolean(const Value& v) const {
  if (!v.is(Value::Kind::boolean)) wrong_kind(v, "true or false");
  return v.boolean;
}
int Scope::integer(const Value& v) const {
  const double x = number(v, "");
  if (x != std::floor(x) || std::abs(x) > INT_MAX) wrong_kind(v, "a whole number");
  return static_cast<int>(x);
}
std::vector<std::string> Scope::texts(const Value& v) const {
  if (!v.is(Value::Kind::list)) wrong_kind(v, "a list of texts");
  std::vector<std::string> out;
  for (const Value& x : v.list) out.push_back(text(x));
  return out;
}

MatrixXd Scope::matrix(const Value& v, std::string_view unit) const {
  if (!v.is(Value::Kind::list)) return MatrixXd::Constant(1, 1, number(v, unit));
  MatrixXd M;
  for (std::size_t i = 0; i < v.list.size(); ++i) {
    const std::vector<double> row = numbers(v.list[i], unit);
    if (i == 0) M.resize(static_cast<Index>(v.list.size()), static_cast<Index>(row.size()));
    if (static_cast<Index>(row.size()) != M.cols())
      fail(v.list[i].where, fmt::format("this row has {} numbers, the first one {}", row.size(), M.cols()),
           "give rows of the same length");
    for (Index j = 0; j < M.cols(); ++j) M(static_cast<Index>(i), j) = row[static_cast<std::size_t>(j)];
  }
  return M;
}
AnyMatrix Scope::sparse(const Value& v, std::string_view unit) const {
  if (!v.is(Value::Kind::text)) return matrix(v, unit);
  const std::string path = inside(folder, folder, v);
  if (!std::filesystem::exists(path)) fail(v.where, fmt::format("there is no file '{}'", v.text), "check the name");
  if (files) files->push_back(path);
  try {
    return read_matrix_market(path);
  } catch (const Error& error) {
    fail(v.where, error.what(), "");
  }
}

Function Scope::function(const Value& v, std::string_view unit, const std::string& variable) const {
  if (v.is(Value::Kind::table)) {
    const std::string what = "a function";
    require_keys(v, {"table", "spline"}, what);
    if (v.table.size() != 1)
      fail(v.where, fmt::format("{} has {} ways to be given", what, v.table.size()), "give table or spline");
    const std::string& kind = v.table[0].key;
    const Value& points = v.table[0].value;
    require_table(points, kind);
    require_keys(points, {"t", "y", "slopes"}, "a " + kind);
    const auto part = [&](const char* name) -> const Value& {
      const Value* p = points.find(name);
      if (!p) fail(points.where, fmt::format("the {} has no {}", kind, name), "give t = [...] and y = [...]");
      return *p;
    };
    const std::vector<double> t = numbers(part("t"), variable == "t" ? "s" : "*"), y = numbers(part("y"), unit);
    const Value* slopes = points.find("slopes");
    try {
      if (kind == "table") {
        if (slopes) fail(slopes->where, "a table has no slopes", "take a spline");
        return Table(t, y);
      }
      if (!slopes) return Spline(t, y);
      const std::vector<double> ends = numbers(*slopes, "*", 2);
      return Spline(t, y, ends[0], ends[1]);
    } catch (const ModelError&) {
      throw;
    } catch (const Error& error) {
      fail(points.where, error.what(), "");
    }
  }
  std::vector<Variable> variables;
  const Expression f = formula(v, unit, {.scalars = {variable}}, variables);
  if (const auto x = f.constant()) return *x;
  return FileFunction{f};
}

namespace {

// The variable of this name, or none.
std::optional<Variable> variable_of(std::string_view name, const Arguments& arguments) {
  const auto index = [](std::string_view x, const std::vector<std::string>& list) {
    const auto it = std::find(list.begin(), list.end(), x);
    return it == list.end() ? -1 : static_cast<int>(it - list.begin());
  };
  const auto bodies = static_cast<int>(arguments.bodies.size());
  const int before = bodies + (arguments.components.empty() ? 0 : 1);
  if (const int i = index(name, arguments.scalars); i >= 0)
    return Variable{.argument = before + i, .time = name == "t"};
  if (const int i = index(name, arguments.components); i >= 0) return Variable{.argument = 0, .component = i};
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view body = name.substr(0, dot);
  std::string_view coordinate = name.substr(dot + 1);
  const bool rate = coordinate.ends_with('\'');
  if (rate && !arguments.rates) return std::nullopt;
  if (rate) coordinate.remove_suffix(1);
  const auto in = [&](int i) -> std::optional<Variable> {
    const auto& known = arguments.bodies[static_cast<std::size_t>(i)].coordinates;
    if (index(coordinate, known) < 0) return std::nullopt;
    return Variable{.argument = i, .coordinate = std::string(coordinate), .rate = rate};
  };
  const int letter = body.size() == 1 && body[0] >= 'a' && body[0] < 'a' + bodies ? body[0] - 'a' : -1;
  for (int i = 0; i < bodies; ++i)
    if (arguments.bodies[static_cast<std::size_t>(i)].name == body) {
      if (letter >= 0 && letter != i)
        throw ExpressionError(
            0, fmt::format("'{}' is the name of body {} and stands for body {}", body, i + 1, letter + 1),
            "give the body another name");
      return in(i);
    }
  return letter >= 0 ? in(letter) : std::nullopt;
}

}  // namespace

std::string name_of(const Variable& v, const Arguments& arguments) {
  const auto bodies = static_cast<int>(arguments.bodies.size());
  if (!v.coordinate.empty())
    return fmt::format("{}.{}{}", static_cast<char>('a' + v.argument), v.coordinate, v.rate ? "'" : "");
  if (v.component >= 0) return arguments.components[static_cast<std::size_t>(v.component)];
  return arguments.scalars[static_cast<std::size_t>(v.argument - bodies - (arguments.components.empty() ? 0 : 1))];
}

Expression Scope::formula(const Value& v, std::string_view unit, const Arguments& arguments,
                          std::vector<Variable>& variables) const {
  const Names names{[&](std::string_view name) -> std::optional<Meaning> {
                      if (const auto x = variable_of(name, arguments)) {
                        const auto it = std::find(variables.begin(), variables.end(), *x);
                        const auto place = static_cast<int>(it - variables.begin());
                        if (it == variables.end()) variables.push_back(*x);
                        return Meaning{std::nullopt, place};
                      }
                      const auto it = parameters.find(std::string(name));
                      if (it == parameters.end()) return std::nullopt;
                      return Meaning{it->second, -1};
                    },
                    [&] {
                      std::vector<std::string> all = arguments.scalars;
                      all.insert(all.end(), arguments.components.begin(), arguments.components.end());
                      for (const auto& b : arguments.bodies)
                        for (const std::string& c : b.coordinates) {
                          all.push_back(b.name + "." + c);
                          if (arguments.rates) all.push_back(b.name + "." + c + "'");
                        }
                      for (const auto& [name, x] : parameters) all.push_back(name);
                      return all;
                    }};
  return parse(v, unit, names);
}

void Scope::require_table(const Value& v, const std::string& what) {
  if (!v.is(Value::Kind::table)) wrong_kind(v, what + ", a table,");
}

void Scope::require_keys(const Value& table, const std::vector<std::string>& known, const std::string& what) {
  require_table(table, what);
  for (const auto& e : table.table)
    if (std::find(known.begin(), known.end(), e.key) == known.end())
      fail(e.where, fmt::format("{} has no '{}'", what, e.key), suggestion(e.key, known));
}

std::string inside(const std::string& folder, const std::string& root, const Value& name) {
  namespace fs = std::filesystem;
  if (!name.is(Value::Kind::text)) fail(name.where, "the name of a file was expected, not " + name.described(), "");
  const auto leaves = [&] {
    fail(name.where, fmt::format("'{}' leads out of the model's folder", name.text),
         "name a file in the folder of the model or below");
  };
  if (name.text.empty() || name.text.find('\0') != std::string::npos)
    fail(name.where, "this names no file", "give a relative path");
  const fs::path given(name.text);
  if (given.is_absolute()) leaves();
  std::error_code error;
  const fs::path base = fs::weakly_canonical(root.empty() ? "." : root, error);
  const fs::path file = fs::weakly_canonical(fs::path(folder.empty() ? "." : folder) / given, error);
  if (error) fail(name.where, fmt::format("'{}' is no path", name.text), "give a relative path");
  const fs::path relative = file.lexically_relative(base);
  if (relative.empty() || *relative.begin() == "..") leaves();
  return file.string();
}

std::vector<double> switches(const std::vector<Expression>& rows, const std::vector<Variable>& variables, double from,
                             double to) {
  std::vector<double> out;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!variables[i].time) continue;
    for (const Expression& f : rows) {
      const std::vector<double> found = f.switches(static_cast<int>(i), from, to);
      out.insert(out.end(), found.begin(), found.end());
    }
  }
  return out;
}

}  // namespace mortise::files
