#pragma once
// Values of fields: from a file, to a file, and in words.  One overload per type of field.

#include <array>
#include <string>
#include <vector>

#include <mortise/core/axis.h>
#include <mortise/core/fields.h>
#include <mortise/core/spline.h>
#include <mortise/files/formula.h>
#include <mortise/files/kinds.h>

namespace mortise::files {

// Which field of which part, and what formulas there may name.
struct FieldPlace {
  const Entry* entry = nullptr;  // null when writing
  const Label& label;
  std::string_view kind, field, unit;
  std::vector<Arguments::Body> bodies = {};

  const Scope& scope() const { return entry->scope; }
  std::string variable() const;  // of functions of one variable
  Arguments arguments() const;   // of formulas
};

std::string number_text(double x);  // shortest text that is read as the same number
std::string quoted(std::string_view text);
template <class List, class F> std::string list_text(const List& list, const F& each) {
  std::string out = "[";
  bool first = true;
  for (const auto& x : list) {
    out += (first ? "" : ", ") + each(x);
    first = false;
  }
  return out + "]";
}
std::string numbers_text(const double* x, Index count);

// ---- read
void read_value(const FieldPlace& at, const Value& v, double& out);
void read_value(const FieldPlace& at, const Value& v, int& out);
void read_value(const FieldPlace& at, const Value& v, bool& out);
void read_value(const FieldPlace& at, const Value& v, std::string& out);
void read_value(const FieldPlace& at, const Value& v, std::vector<std::string>& out);
void read_value(const FieldPlace& at, const Value& v, Axis& out);
void read_value(const FieldPlace& at, const Value& v, PlanarAxis& out);
void read_value(const FieldPlace& at, const Value& v, Function& out);
void read_value(const FieldPlace& at, const Value& v, AnyMatrix& out);
void read_value(const FieldPlace& at, const Value& v, std::vector<Structure::Node>& out);
void read_matrix(const FieldPlace& at, const Value& v, Eigen::Ref<MatrixXd> out);  // rows, or its diagonal
void read_formula(const FieldPlace& at, const Value& v, std::size_t count, std::vector<Expression>& rows,
                  std::vector<Variable>& variables);
std::size_t read_body_index(const FieldPlace& at, const Value& v);  // a number from 0, or one of the part's bodies
const Value& require_member(const FieldPlace& at, const Value& v, const char* name);

template <int R, int C> void read_value(const FieldPlace& at, const Value& v, Mat<double, R, C>& out) {
  if constexpr (C == 1) {
    const std::vector<double> x = at.scope().numbers(v, at.unit, R);
    for (int i = 0; i < R; ++i) out[i] = x[static_cast<std::size_t>(i)];
  } else {
    MatrixXd full(R, C);
    read_matrix(at, v, full);
    out = full;
  }
}
template <std::size_t D> void read_value(const FieldPlace& at, const Value& v, std::array<Function, D>& out) {
  if (!v.is(Value::Kind::list) || v.list.size() != D)
    fail(v.where, fmt::format("a list of {} functions was expected, not {}", D, v.described()), "");
  for (std::size_t i = 0; i < D; ++i) read_value(at, v.list[i], out[i]);
}
template <int R> void read_value(const FieldPlace& at, const Value& v, Formula<R>& out) {
  read_formula(at, v, Formula<R>::count, out.rows, out.variables);
}
// Terms {body, coordinate, factor} and points {body, at} of parts on several bodies.
template <class X>
requires requires(X x) { x.body; }
void read_value(const FieldPlace& at, const Value& v, std::vector<X>& out) {
  constexpr bool is_term = requires(X x) { x.coordinate; };
  if (!v.is(Value::Kind::list)) fail(v.where, fmt::format("a list of tables was expected, not {}", v.described()), "");
  out.clear();
  for (const Value& item : v.list) {
    X x;
    x.body = read_body_index(at, require_member(at, item, "body"));
    if constexpr (is_term) {
      Scope::require_keys(item, {"body", "coordinate", "factor"}, "a term");
      read_value(at, require_member(at, item, "coordinate"), x.coordinate);
      x.factor = item.find("factor") ? at.scope().number(*item.find("factor"), "*") : 1;
    } else {
      Scope::require_keys(item, {"body", "at"}, "a point");
      read_value(at, require_member(at, item, "at"), x.at);
    }
    out.push_back(std::move(x));
  }
}
template <class V> constexpr bool is_formula = requires {
  V::count;
  requires requires(V v) {
    v.rows;
    v.variables;
  };
};

template <class P>
void read_fields(const Entry& e, std::string_view kind, const Value& table, P& part,
                 const std::vector<Arguments::Body>& bodies);
// A part of a part, which tells its own fields.
template <HasFields V> void read_value(const FieldPlace& at, const Value& v, V& out) {
  std::vector<std::string> known;
  std::apply([&](const auto&... f) { (known.emplace_back(f.name), ...); }, V::fields);
  Scope::require_keys(v, known, std::string(at.field));
  read_fields(*at.entry, at.kind, v, out, at.bodies);
}

// The unit of a field in the sense of Scope: some are measured as what they are about.
inline std::string_view unit_of(std::string_view unit, std::string_view meaning) {
  return unit.empty() && meaning.find("unit of") != std::string_view::npos ? "*" : unit;
}

template <class P>
void read_fields(const Entry& e, std::string_view kind, const Value& table, P& part,
                 const std::vector<Arguments::Body>& bodies) {
  const auto one = [&](const auto& f) {
    const Value* v = table.find(f.name);
    if (!v) return;
    const FieldPlace at{&e, e.label, kind, f.name, unit_of(f.unit, f.meaning), bodies};
    read_value(at, *v, part.*(f.member));
    try {
      detail::require_field(e.label, f.name, f.unit, f.range, part.*(f.member));
    } catch (const Error& error) {
      fail(v->where, error.what(), "");
    }
  };
  std::apply([&](const auto&... f) { (one(f), ...); }, P::fields);
}

// ---- write
std::string value_text(const FieldPlace& at, double x);
std::string value_text(const FieldPlace& at, int x);
std::string value_text(const FieldPlace& at, bool x);
std::string value_text(const FieldPlace& at, const std::string& x);
std::string value_text(const FieldPlace& at, const std::vector<std::string>& x);
std::string value_text(const FieldPlace& at, const Axis& x);
std::string value_text(const FieldPlace& at, const PlanarAxis& x);
std::string value_text(const FieldPlace& at, const Function& x);
std::string value_text(const FieldPlace& at, const AnyMatrix& x);
std::string value_text(const FieldPlace& at, const std::vector<Structure::Node>& x);
std::string formula_text(const FieldPlace& at, const std::vector<Expression>& rows,
                         const std::vector<Variable>& variables);
std::string matrix_text(const MatrixXd& M);
template <int R, int C> std::string value_text(const FieldPlace&, const Mat<double, R, C>& x) {
  if constexpr (C == 1)
    return numbers_text(x.data(), R);
  else
    return matrix_text(x);
}
template <std::size_t D> std::string value_text(const FieldPlace& at, const std::array<Function, D>& x) {
  return list_text(x, [&](const Function& f) { return value_text(at, f); });
}
template <int R> std::string value_text(const FieldPlace& at, const Formula<R>& x) {
  return formula_text(at, x.rows, x.variables);
}
template <class X>
requires requires(X x) { x.body; }
std::string value_text(const FieldPlace& at, const std::vector<X>& list) {
  return list_text(list, [&](const X& x) {
    if constexpr (requires { x.coordinate; })
      return fmt::format("{{body = {}, coordinate = {}, factor = {}}}", x.body, quoted(x.coordinate),
                         number_text(x.factor));
    else
      return fmt::format("{{body = {}, at = {}}}", x.body, value_text(at, x.at));
  });
}
template <class P> std::string fields_text(const Label& label, std::string_view kind, const P& part, bool one_line);
template <HasFields V> std::string value_text(const FieldPlace& at, const V& x) {
  return "{" + fields_text(at.label, at.kind, x, true) + "}";
}
template <class P> std::string fields_text(const Label& label, std::string_view kind, const P& part, bool one_line) {
  std::string out;
  const auto one = [&](const auto& f) {
    const std::string text = value_text(FieldPlace{nullptr, label, kind, f.name, f.unit}, part.*(f.member));
    if (text.empty()) return;  // left out
    if (one_line)
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", f.name, text);
    else
      out += fmt::format("{} = {}\n", f.name, text);
  };
  std::apply([&](const auto&... f) { (one(f), ...); }, P::fields);
  return out;
}

// ---- in words
inline std::string takes(const double&) { return "number"; }
inline std::string takes(const int&) { return "whole number"; }
inline std::string takes(const bool&) { return "true or false"; }
inline std::string takes(const std::string&) { return "text"; }
inline std::string takes(const std::vector<std::string>&) { return "list of texts"; }
inline std::string takes(const Axis&) { return "axis"; }
inline std::string takes(const PlanarAxis&) { return "axis in the plane"; }
inline std::string takes(const Function&) { return "function"; }
inline std::string takes(const AnyMatrix&) { return "matrix"; }
inline std::string takes(const std::vector<Structure::Node>&) { return "list of {name, position}"; }
template <int R, int C> std::string takes(const Mat<double, R, C>&) {
  return C == 1 ? fmt::format("{} numbers", R) : fmt::format("{} x {} matrix, or its diagonal", R, C);
}
template <std::size_t D> std::string takes(const std::array<Function, D>&) { return fmt::format("{} functions", D); }
template <int R> std::string takes(const Formula<R>&) { return R <= 1 ? "formula" : fmt::format("{} formulas", R); }
template <class X>
requires requires(X x) { x.body; }
std::string takes(const std::vector<X>&) {
  return requires(X x) { x.coordinate; }
  ? "list of {body, coordinate, factor}" : "list of {body, at}";
}
template <HasFields V> std::string takes(const V&) {
  std::string names;
  std::apply([&](const auto&... f) { ((names += fmt::format("{}{}", names.empty() ? "" : ", ", f.name)), ...); },
             V::fields);
  return names.empty() ? "empty table" : "table of " + names;
}

// The default of a field, in words.
template <class V> std::string standard(const V& x) {
  if constexpr (std::is_same_v<V, double> || std::is_same_v<V, int>) {
    return fmt::format("{}", x);
  } else if constexpr (std::is_same_v<V, bool>) {
    return x ? "true" : "false";
  } else if constexpr (std::is_same_v<V, std::string>) {
    return x.empty() ? "to be given" : x;
  } else if constexpr (std::is_base_of_v<Eigen::MatrixBase<V>, V>) {
    if (x.isZero(0)) return "0";
    if (x.isIdentity(0)) return "identity";
    return numbers_text(x.data(), x.size());
  } else if constexpr (requires { x.along; }) {
    return numbers_text(x.along.data(), x.along.size());
  } else if constexpr (std::is_same_v<V, Function>) {
    return x.template source<double>() ? fmt::format("{}", *x.template source<double>()) : "";
  } else if constexpr (HasFields<V> || std::is_same_v<V, AnyMatrix>) {
    return "";
  } else {
    return "to be given";
  }
}

std::string in_words(Range range);

template <class P> std::vector<FieldInfo> fields_of() {
  std::vector<FieldInfo> out;
  const P part{};
  std::apply(
      [&](const auto&... f) {
        (out.push_back({std::string(f.name), std::string(f.unit), in_words(f.range), standard(part.*(f.member)),
                        takes(part.*(f.member)), std::string(f.meaning)}),
         ...);
      },
      P::fields);
  return out;
}

}  // namespace mortise::files
