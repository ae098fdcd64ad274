// Models, from any text and from the parts that files know.

#include <cmath>
#include <set>

#include <mortise/diagnosis/hidden.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/files/kinds.h>
#include <mortise/files/model.h>
#include <mortise/solve/solve.h>

#include "table.h"
#include "targets.h"

namespace mortise::fuzz {
namespace {

// Where files that a model names are looked for: parts to include, a matrix.
const std::string folder = std::string(MORTISE_SOURCE) + "/tests/models/bad";

void require_finite(const std::string& what, const auto& numbers) {
  for (const double x : numbers)
    if (!std::isfinite(x)) fault(what + " is not finite");
}

// What we have written must be read.
template <class F> auto read_back(const std::string& what, const std::string& text, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    fault(what + " that we wrote is refused, " + error.what() + "\n" + text);
  }
}

// A run of a few steps, and its CSV file read back.
void run(const System& system, const State& start, SimulationOptions how) {
  int steps = 0;
  how.progress = [&](double, double) { return ++steps < 4; };
  const Trajectory run = simulate(system, start, how);
  require_finite("a sample of a run", run.values);
  if (run.samples() == 0) return;
  const std::string csv = run.csv();
  const RunTable back = read_back("a CSV file", csv, [&] { return parse_csv(csv, "run.csv"); });
  if (back.values != run.values) fault("a CSV file has other numbers than its run");
  for (std::size_t i = 0; i < run.columns.size(); ++i)
    if (back.columns[i].name != run.columns[i].name) fault("a CSV file has other names than its run");
}

void use(Model model, const std::string& text) {
  const System system(model.assembly);
  const State start = model.start(system);
  std::string written;
  try {
    written = write_model(model);
  } catch (const InvalidModel&) {
  }
  if (!written.empty()) {
    const Model again = read_back("a model", written, [&] { return parse_model(written, "fuzz.toml", folder); });
    if (write_model(again) != written) fault("a model is not read back as it was written:\n" + text);
  }
  constexpr Index small = 14;
  if (system.size() == 0 || system.size() > small || system.rows() > small) return;
  const RankReport report = check_model(system, start);
  (void)report.text({.details = true});
  (void)report.json().text();
  try {
    const Solution found = solve(system, start);
    require_finite("an acceleration", found.a);
    require_finite("a multiplier", found.lambda);
  } catch (const Error&) {
  }
  model.run.sample = model.run.sample > 0 ? std::max(model.run.sample, model.run.duration / 1e4) : 0;
  try {
    run(system, start, model.run);
  } catch (const Error&) {
  }
  if (find_hidden(system, start).determined()) return;
  const Completed completed = complete(system, start);
  (void)completed.text();
  run(completed.system, completed.state, model.run);
}

// ---- the text of a model of parts that files know
class Writer {
 public:
  explicit Writer(Choices& choices) : c_(choices) {}

  std::string text() {
    const bool plane = c_.chance(100);
    std::string out = "gravity = [0, -9.81, 0]\n[parameters]\nL = 0.5\nm = \"2 * L\"\n";
    const std::size_t bodies = 1 + c_.below(3);
    for (std::size_t i = 0; i < bodies; ++i) {
      const std::string name = fmt::format("b{}", i);
      out += fmt::format("[bodies.{}]\n", name);
      if (c_.chance(190)) {
        const bool light = c_.chance(60);
        dimension_ = plane ? 2 : 3;
        if (c_.chance(200))
          out += plane ? fmt::format("kind = \"planar_body\"\nmass = {0}\ninertia = {0}\n", light ? "0" : "\"m\"")
                       : fmt::format("kind = \"rigid_body\"\nmass = {0}\ninertia = [{0}, {0}, {0}]\n", light ? 0 : 1);
        else
          out += fmt::format("kind = \"particle\"\ndimension = {}\nmass = {}\n", dimension_, light ? 0 : 1);
        if (c_.chance(80)) out += "place = {x = " + number() + ", y = " + number() + "}\n";
        if (c_.chance(60)) out += "velocity = {x = " + number() + "}\n";
      } else {
        part(out, files::kinds().bodies, {});
      }
      names_.push_back(name);
    }
    names_.emplace_back("ground");
    parts(out, "joints", files::kinds().joints, 4, plane);
    parts(out, "forces", files::kinds().forces, 3, plane);
    parts(out, "sensors", files::kinds().sensors, 2, plane);
    if (c_.chance(60)) out += fmt::format("[start]\n\"{}.x\" = {}\n", names_[0], number());
    static const auto integrators = all_stepper_names();
    out += fmt::format("[run]\nuntil = 0.05\nsample = {}\nintegrator = \"{}\"\n", c_.chance(40) ? number() : "0.01",
                       c_.one_of(integrators));
    if (c_.chance(128)) out += fmt::format("step = {}\n", c_.chance(40) ? number() : "0.01");
    if (c_.chance(60))
      out += "record = [\"coordinates\", \"sensors\", \"reactions\", \"forces\", \"energy\", \"momentum\"]\n";
    if (c_.chance(30)) out += "unpad = true\n";
    return out;
  }

 private:
  void parts(std::string& out, const char* section, const std::vector<files::Kind>& all, std::size_t most, bool plane) {
    std::vector<files::Kind> fit;
    for (const files::Kind& k : all)
      if (k.dimension == 0 || k.dimension == (plane ? 2 : 3)) fit.push_back(k);
    const std::size_t n = c_.below(most + 1);
    for (std::size_t i = 0; i < n; ++i) {
      out += fmt::format("[{}.p{}]\n", section, i);
      part(out, c_.chance(245) ? fit : all, {});
    }
  }

  void part(std::string& out, const std::vector<files::Kind>& all, const std::string& more) {
    const files::Kind& k = c_.one_of(all);
    out += fmt::format("kind = \"{}\"\n", k.name) + more;
    if (!k.bodies.empty()) {
      const int n = c_.chance(250) ? k.bodies[c_.below(k.bodies.size())] : static_cast<int>(c_.below(5));
      std::vector<std::string> list;
      for (int i = 0; i < n; ++i) list.push_back('"' + c_.one_of(names_) + '"');
      out += fmt::format("bodies = [{}]\n", fmt::join(list, ", "));
    }
    if (k.at_world > 0 && c_.chance(128)) {
      const std::string axis = k.dimension == 2 ? "[1, 0]" : "[0, 0, 1]";
      out += fmt::format("at_world = {{point = {}{}}}\n", list_of(k.dimension == 2 ? 2 : 3),
                         k.at_world == 2 ? ", axis = " + axis : "");
    } else {
      for (const files::FieldInfo& f : k.fields)
        if (f.standard == "to be given" || c_.chance(90)) out += fmt::format("{} = {}\n", f.name, value(f));
    }
    if (k.friction && c_.chance(60)) out += "friction = {kind = \"coulomb\", coefficient = 0.3, radius = 0.1}\n";
  }

  std::string number() {
    const double x = c_.number();
    if (std::isnan(x)) return "nan";
    if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
    if (c_.chance(10)) return "\"m * L\"";
    return fmt::format("{:e}", x);
  }
  std::string list_of(std::size_t n) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(number());
    return fmt::format("[{}]", fmt::join(out, ", "));
  }
  std::string matrix(std::size_t n, bool diagonal) {
    if (diagonal && c_.chance(180)) return list_of(n);
    const double d = c_.number();
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::string> row;
      for (std::size_t j = 0; j < n; ++j)
        row.push_back(c_.chance(20) ? number() : i == j && !std::isnan(d) ? fmt::format("{:e}", d) : "0");
      rows.push_back(fmt::format("[{}]", fmt::join(row, ", ")));
    }
    return fmt::format("[{}]", fmt::join(rows, ", "));
  }
  std::string formula() {
    static const std::vector<std::string> leaves{"x", "a.x",  "b.x", "a.x'",  "a.theta", "t", "1",
                                                 "L", "b0.y", "x'",  "speed", "q0",      "q1"};
    static const std::vector<std::string> forms{"{} + {}",       "{} * {}",       "{} / {}",    "{} ^ {}",
                                                "sin({}) - {}",  "sqrt({}) + {}", "abs({})*{}", "max({}, {})",
                                                "atan2({}, {})", "({})^2 - {}"};
    const std::string a = c_.one_of(leaves), b = c_.one_of(leaves);
    return c_.chance(60) ? a : fmt::format(fmt::runtime(c_.one_of(forms)), a, b);
  }
  std::string quoted(const std::string& s) { return '"' + s + '"'; }
  std::string list_of_texts(std::size_t n, const auto& one) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(quoted(one(i)));
    return fmt::format("[{}]", fmt::join(out, ", "));
  }
  std::string function() {
    static const std::vector<std::string> of_t{"sin(3 * t)", "0.1 * t", "t^2", "abs(t - 0.01)", "1",  "exp(t) - 1",
                                               "sqrt(t)",    "1 / t",   "s",   "max(t, 0.02)",  "-t", "0.5"};
    if (c_.chance(30)) return "{table = {t = [0, 0.01, 1], y = [0, 1, 0]}}";
    if (c_.chance(30)) return "{spline = {t = [0, 0.02, 1], y = [0, 1, 0], slopes = [0, 0]}}";
    return quoted(c_.one_of(of_t));
  }
  // What a field takes, in the words of docs/MODEL_FILES.md.
  std::string value(const files::FieldInfo& f) {
    const std::string& takes = f.takes;
    const auto has = [&](const char* words) { return takes.find(words) != takes.npos; };
    static const std::vector<std::string> coordinates{"x", "y", "z", "theta", "u1", "q0"};
    if (c_.chance(4)) return number();
    if (takes == "number") return number();
    if (takes == "whole number") return fmt::format("{}", static_cast<int>(c_.below(30)) - 9);
    if (takes == "text") return quoted(c_.one_of(coordinates));
    if (takes == "true or false") return c_.chance(128) ? "true" : "false";
    if (takes == "axis") return c_.chance(128) ? "[0, 0, 1]" : list_of(3);
    if (takes == "axis in the plane") return c_.chance(128) ? "[1, 0]" : list_of(2);
    if (has("formula")) {
      const std::size_t n = has("list") ? 2 : takes.starts_with("2") ? dimension_ : c_.chance(60) ? dimension_ : 1;
      return n == 1 ? quoted(formula()) : list_of_texts(n, [&](std::size_t) { return formula(); });
    }
    if (takes == "function") return function();
    if (has("functions")) {
      std::vector<std::string> out;
      for (std::size_t i = 0; i < dimension_; ++i) out.push_back(function());
      return fmt::format("[{}]", fmt::join(out, ", "));
    }
    if (has("6 x 6")) return matrix(6, true);
    if (has("3 x 3")) return matrix(3, true);
    if (takes == "matrix") return c_.chance(250) ? matrix(2, false) : "\"matrix.mtx\"";
    if (takes == "list of texts") return list_of_texts(2, [](std::size_t i) { return fmt::format("q{}", i); });
    if (has("{body, coordinate, factor}"))
      return fmt::format(
          "[{{body = 0, coordinate = \"{}\", factor = {}}}, {{body = {}, coordinate = \"{}\", factor = 1}}]",
          c_.one_of(coordinates), number(), c_.below(3), c_.one_of(coordinates));
    if (has("{name, position}")) return "[{name = \"n1\", position = " + list_of(3) + "}]";
    if (has("{body, at}"))
      return fmt::format("[{{body = 0, at = {}}}, {{body = 1, at = {}}}]", list_of(dimension_), list_of(dimension_));
    if (has("table")) return "{}";
    if (has("2 numbers or 3 numbers")) return list_of(dimension_);
    if (takes.ends_with("numbers")) return list_of(static_cast<std::size_t>(takes[0] - '0'));
    return number();
  }

  Choices& c_;
  std::vector<std::string> names_;
  std::size_t dimension_ = 3;
};

}  // namespace

void feed_model(std::string_view bytes) {
  const std::string text(bytes);
  try {
    use(parse_model(text, "fuzz.toml", folder), text);
  } catch (const Error&) {
  }
}

void feed_parts(std::string_view bytes) {
  Choices choices(bytes);
  feed_model(Writer(choices).text());
}

}  // namespace mortise::fuzz
