#include <mortise/files/field_values.h>

#include <algorithm>

namespace mortise::files {

std::string FieldPlace::variable() const { return kind == "point_on_curve" ? "s" : "t"; }

Arguments FieldPlace::arguments() const {
  if (kind == "motor") return {.scalars = {"angle", "speed", "t"}};
  if (kind == "nonlinear_spring" && field == "energy") return {.scalars = {"e"}};
  if (kind == "nonlinear_spring") return {.scalars = {"e", "rate", "t"}};
  if (kind == "point_on_surface") return {.scalars = {}, .components = {"x", "y", "z"}};
  const bool places_only = kind == "holonomic" || kind == "potential";
  return {.scalars = {"t"}, .bodies = bodies, .rates = !places_only};
}

std::string number_text(double x) {
  if (x == 0 && std::signbit(x)) return "-0.0";
  return fmt::format("{}", x);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out + "\"";
}

std::string numbers_text(const double* x, Index count) {
  return list_text(std::vector<double>(x, x + count), number_text);
}

std::string matrix_text(const MatrixXd& M) {
  std::vector<Index> rows(static_cast<std::size_t>(M.rows()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Index>(i);
  return list_text(rows, [&](Index i) {
    const VectorXd row = M.row(i);
    return numbers_text(row.data(), row.size());
  });
}

std::string in_words(Range range) {
  switch (range) {
    case Range::positive:
      return "> 0";
    case Range::not_negative:
      return ">= 0";
    case Range::nonzero:
      return "not 0";
    default:
      return "";
  }
}

void read_value(const FieldPlace& at, const Value& v, double& out) { out = at.scope().number(v, at.unit); }
void read_value(const FieldPlace& at, const Value& v, int& out) { out = at.scope().integer(v); }
void read_value(const FieldPlace& at, const Value& v, bool& out) { out = at.scope().boolean(v); }
void read_value(const FieldPlace& at, const Value& v, std::string& out) { out = at.scope().text(v); }
void read_value(const FieldPlace& at, const Value& v, std::vector<std::string>& out) { out = at.scope().texts(v); }
void read_value(const FieldPlace& at, const Value& v, Function& out) {
  out = at.scope().function(v, at.unit, at.variable());
}
void read_value(const FieldPlace& at, const Value& v, AnyMatrix& out) { out = at.scope().sparse(v, "*"); }

namespace {

Vec3<double> three(const Scope& scope, const Value& v) {
  const std::vector<double> x = scope.numbers(v, "*", 3);
  return {x[0], x[1], x[2]};
}
Vec2<double> two(const Scope& scope, const Value& v) {
  const std::vector<double> x = scope.numbers(v, "*", 2);
  return {x[0], x[1]};
}
// Directions that are given as they are must be unit and at right angles.
template <class M> void require_frame(const Value& v, const M& frame) {
  constexpr double round_off = 1e-9;
  if (!(frame.transpose() * frame).isIdentity(round_off) || frame.determinant() < 0)
    fail(v.where, "these directions are not of length 1, at right angles and right-handed",
         "give along alone, or along and towards");
}

}  // namespace

void read_value(const FieldPlace& at, const Value& v, Axis& out) {
  const Scope& scope = at.scope();
  if (!v.is(Value::Kind::table)) {
    out = Axis(three(scope, v));
    return;
  }
  Scope::require_keys(v, {"along", "towards", "across_1", "across_2"}, "an axis");
  const Vec3<double> along = three(scope, require_member(at, v, "along"));
  if (v.find("across_1")) {
    out.along = along;
    out.across_1 = three(scope, require_member(at, v, "across_1"));
    out.across_2 = three(scope, require_member(at, v, "across_2"));
    Mat<double, 3> frame;
    frame << out.across_1, out.across_2, out.along;
    require_frame(v, frame);
  } else {
    out = v.find("towards") ? Axis(along, three(scope, *v.find("towards"))) : Axis(along);
  }
}
void read_value(const FieldPlace& at, const Value& v, PlanarAxis& out) {
  if (!v.is(Value::Kind::table)) {
    out = PlanarAxis(two(at.scope(), v));
    return;
  }
  Scope::require_keys(v, {"along", "across"}, "an axis in the plane");
  out.along = two(at.scope(), require_member(at, v, "along"));
  out.across = two(at.scope(), require_member(at, v, "across"));
  Mat<double, 2> frame;
  frame << out.along, out.across;
  require_frame(v, frame);
}

void read_value(const FieldPlace& at, const Value& v, std::vector<Structure::Node>& out) {
  if (!v.is(Value::Kind::list)) fail(v.where, fmt::format("a list of tables was expected, not {}", v.described()), "");
  out.clear();
  for (const Value& item : v.list) {
    Scope::require_keys(item, {"name", "position"}, "a node");
    Structure::Node node;
    node.name = at.scope().text(require_member(at, item, "name"));
    const std::vector<double> x = at.scope().numbers(require_member(at, item, "position"), "m", 3);
    node.position = {x[0], x[1], x[2]};
    out.push_back(node);
  }
}

void read_matrix(const FieldPlace& at, const Value& v, Eigen::Ref<MatrixXd> out) {
  const auto n = static_cast<std::size_t>(out.rows());
  const bool rows = v.is(Value::Kind::list) && !v.list.empty() && v.list[0].is(Value::Kind::list);
  if (rows) {
    const MatrixXd M = at.scope().matrix(v, at.unit);
    if (M.rows() != out.rows() || M.cols() != out.cols())
      fail(v.where, fmt::format("the matrix is {} x {}", M.rows(), M.cols()),
           fmt::format("give {} rows of {} numbers, or the diagonal", out.rows(), out.cols()));
    out = M;
  } else {
    const std::vector<double> d = at.scope().numbers(v, at.unit, n);
    out.setZero();
    for (std::size_t i = 0; i < n; ++i) out(static_cast<Index>(i), static_cast<Index>(i)) = d[i];
  }
}

void read_formula(const FieldPlace& at, const Value& v, std::size_t count, std::vector<Expression>& rows,
                  std::vector<Variable>& variables) {
  rows.clear();
  variables.clear();
  const Arguments arguments = at.arguments();
  if (!v.is(Value::Kind::list)) {
    if (count != 1) fail(v.where, fmt::format("a list of {} formulas was expected, not {}", count, v.described()), "");
    rows.push_back(at.scope().formula(v, at.unit, arguments, variables));
    return;
  }
  if (v.list.size() != count)
    fail(v.where, fmt::format("a list of {} formulas was expected, not {}", count, v.described()), "");
  for (const Value& x : v.list) rows.push_back(at.scope().formula(x, at.unit, arguments, variables));
}

std::size_t read_body_index(const FieldPlace& at, const Value& v) {
  const auto& bodies = at.entry->bodies;
  if (v.is(Value::Kind::text)) {
    const auto it = std::find(bodies.begin(), bodies.end(), v.text);
    if (it == bodies.end())
      fail(v.where, fmt::format("'{}' is none of its bodies", v.text), suggestion(v.text, bodies));
    return static_cast<std::size_t>(it - bodies.begin());
  }
  const int i = at.scope().integer(v);
  if (i < 0 || static_cast<std::size_t>(i) >= bodies.size())
    fail(v.where, fmt::format("body {} of {}", i, bodies.size()), "bodies are counted from 0");
  return static_cast<std::size_t>(i);
}

const Value& require_member(const FieldPlace& at, const Value& v, const char* name) {
  Scope::require_table(v, fmt::format("a part of {}", at.field));
  if (const Value* found = v.find(name)) return *found;
  fail(v.where, fmt::format("{} needs '{}'", at.field, name), "give it");
}

std::string value_text(const FieldPlace&, double x) { return number_text(x); }
std::string value_text(const FieldPlace&, int x) { return fmt::format("{}", x); }
std::string value_text(const FieldPlace&, bool x) { return x ? "true" : "false"; }
std::string value_text(const FieldPlace&, const std::string& x) { return quoted(x); }
std::string value_text(const FieldPlace&, const std::vector<std::string>& x) { return list_text(x, quoted); }

std::string value_text(const FieldPlace&, const Axis& x) {
  const Axis again(x.along);
  const std::string along = numbers_text(x.along.data(), 3);
  if (again.along == x.along && again.across_1 == x.across_1 && again.across_2 == x.across_2) return along;
  return fmt::format("{{along = {}, across_1 = {}, across_2 = {}}}", along, numbers_text(x.across_1.data(), 3),
                     numbers_text(x.across_2.data(), 3));
}
std::string value_text(const FieldPlace&, const PlanarAxis& x) {
  const PlanarAxis again(x.along);
  const std::string along = numbers_text(x.along.data(), 2);
  if (again.along == x.along && again.across == x.across) return along;
  return fmt::format("{{along = {}, across = {}}}", along, numbers_text(x.across.data(), 2));
}
std::string value_text(const FieldPlace& at, const Function& f) {
  const auto points = [](const auto& x) {
    return fmt::format("t = {}, y = {}", list_text(x.points(), number_text), list_text(x.values(), number_text));
  };
  if (const double* x = f.source<double>()) return number_text(*x);
  if (const Table* x = f.source<Table>()) return fmt::format("{{table = {{{}}}}}", points(*x));
  if (const Spline* x = f.source<Spline>()) {
    std::string slopes;
    if (x->ends())
      slopes = fmt::format(", slopes = [{}, {}]", number_text(x->ends()->first), number_text(x->ends()->second));
    return fmt::format("{{spline = {{{}{}}}}}", points(*x), slopes);
  }
  if (const FileFunction* x = f.source<FileFunction>()) return quoted(x->f.text([&](int) { return at.variable(); }));
  at.label.fail<InvalidModel>(fmt::format("{} is a functor of C++, which has no text", at.field),
                              "give a number, a Table or a Spline, or write it in the file");
}
std::string value_text(const FieldPlace&, const AnyMatrix& x) { return x.size() == 0 ? "" : matrix_text(MatrixXd(x)); }
std::string value_text(const FieldPlace&, const std::vector<Structure::Node>& x) {
  return list_text(x, [](const Structure::Node& n) {
    return fmt::format("{{name = {}, position = {}}}", quoted(n.name), numbers_text(n.position.data(), 3));
  });
}
std::string formula_text(const FieldPlace& at, const std::vector<Expression>& rows,
                         const std::vector<Variable>& variables) {
  if (rows.empty()) return "";
  const Arguments arguments = at.arguments();
  const auto name = [&](int i) -> std::string {
    const Variable& v = variables[static_cast<std::size_t>(i)];
    if (v.coordinate.empty() && v.component < 0 && arguments.scalars.size() == 1) return arguments.scalars[0];
    return name_of(v, arguments);
  };
  std::vector<std::string> texts;
  for (const Expression& e : rows) texts.push_back(e.constant() ? number_text(*e.constant()) : quoted(e.text(name)));
  return texts.size() == 1 ? texts[0] : list_text(texts, [](const std::string& t) { return t; });
}

}  // namespace mortise::files
