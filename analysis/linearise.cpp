#include <mortise/analysis/linearise.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <mortise/analysis/channels.h>
#include <mortise/analysis/minimal_motion.h>
#include <mortise/core/json.h>
#include <mortise/core/seen.h>
#include <mortise/core/text.h>
#include <mortise/core/words.h>
#include <mortise/solve/solver.h>

namespace mortise {
namespace {

constexpr double same = 1e-6;  // shares of themselves by which matrices may change along a steady motion

// The rows have this rank here alone: nearby, where the mechanism can go, they have another one.
void require_regular_pose(const System& system, const LinearMotion& motion, const MinimalMotion& minimal) {
  if (minimal.positions().empty() || minimal.rank() == motion.A.rows()) return;
  // A little along a mixture of all directions, then back onto the constraints.
  VectorXd x(static_cast<Index>(minimal.positions().size()));
  for (Index i = 0; i < x.size(); ++i) x[i] = std::sin(1.0 + 2.0 * static_cast<double>(i));
  VectorXd eta = minimal.P() * x;
  const double longest = eta.cwiseQuotient(minimal.scale()).lpNorm<Eigen::Infinity>();
  State near = motion.state;
  near.v.setZero();
  near.q += 1e-3 / longest * (motion.E * eta);
  Solver solver(system);
  const Label label{"system", system.name().empty() ? "model" : system.name()};
  try {
    solver.project_positions(near);
    solver.project_velocities(near);
    const auto [rank, holonomic] = ranks(linear_motion(system, near));
    if (rank == minimal.rank()) return;
  } catch (const Error& e) {
    label.fail<InvalidModel>(
        fmt::format("its rows have rank {} of {} here, and whether they keep it nearby cannot be seen: {}",
                    minimal.rank(), motion.A.rows(), e.what()),
        "take another state, or remove the redundant rows that check names");
  }
  label.fail<InvalidModel>(
      fmt::format("the state is a singular pose: its rows have rank {} here, and another one nearby, so the motions "
                  "near it are no linear ones",
                  minimal.rank()),
      "take a state beside it; check tells which rows depend on each other here");
}

double difference(const MatrixXd& X, const MatrixXd& Y) {
  return X.size() == 0 ? 0 : (X - Y).cwiseAbs().maxCoeff() / std::max(1e-300, X.cwiseAbs().maxCoeff());
}

// The classic method: over a short time its errors are below what is looked for.
State a_little_later(const System& system, const State& s, double time) {
  Solver solver(system);
  constexpr int steps = 8;
  const double h = time / steps;
  State x = s;
  for (int i = 0; i < steps; ++i) {
    const auto slope = [&](const State& at) { return std::pair(at.v, VectorXd(solver.solve(at))); };
    const auto at = [&](const std::pair<VectorXd, VectorXd>& k, double by) {
      State y = x;
      y.q += by * k.first, y.v += by * k.second, y.t += by;
      return y;
    };
    const auto k1 = slope(x), k2 = slope(at(k1, h / 2)), k3 = slope(at(k2, h / 2)), k4 = slope(at(k3, h));
    x.q += h / 6 * (k1.first + 2 * k2.first + 2 * k3.first + k4.first);
    x.v += h / 6 * (k1.second + 2 * k2.second + 2 * k3.second + k4.second);
    x.t += h;
  }
  return x;
}

std::vector<Index> preferred_variations(const System& system, const LinearMotion& motion,
                                        const std::vector<std::string>& names) {
  std::vector<Index> out;
  for (const std::string& name : names) {
    std::vector<std::string> known;
    Index found = -1;
    for (Index i = 0; i < motion.size(); ++i) {
      known.push_back(motion.variations[static_cast<std::size_t>(i)].name);
      if (known.back() == name) found = i;
    }
    if (found < 0)
      Label{"state", name}.fail<InvalidModel>(
          fmt::format("'{}' has no coordinate of this name that varies", system.name()),
          fmt::format("did you mean '{}'?", nearest_name(name, known)));
    out.push_back(found);
  }
  return out;
}

std::string force_unit(const std::string& unit) { return unit == "m" ? "N" : unit == "rad" ? "N m" : "J/" + unit; }

struct Choice {
  std::vector<Index> positions, velocities;  // variations
};

// With states of its own choice, or with those of an instant before.
LinearModel at_this_instant(const System& system, const State& s, const LineariseOptions& options,
                            std::optional<Choice>& states) {
  const LinearMotion motion = linear_motion(system, s);
  const MinimalMotion minimal = states ? MinimalMotion(motion, states->positions, states->velocities)
                                       : MinimalMotion(motion, preferred_variations(system, motion, options.states));
  if (!states) require_regular_pose(system, motion, minimal);
  states = {minimal.positions(), minimal.velocities()};

  LinearModel out;
  out.system = system.name();
  out.at = s;
  out.at_rest = motion.at_rest;
  const auto p = static_cast<Index>(minimal.positions().size()), q = static_cast<Index>(minimal.velocities().size());
  out.positions = p, out.velocities = q;
  for (const Index i : minimal.positions()) {
    const Variation& x = motion.variations[static_cast<std::size_t>(i)];
    out.states.push_back(x.name), out.state_units.push_back(x.unit);
  }
  for (const Index i : minimal.velocities()) {
    const Variation& x = motion.variations[static_cast<std::size_t>(i)];
    out.states.push_back(x.name + "'"), out.state_units.push_back(rate_unit(x.unit));
  }
  for (const Variation& x : motion.variations) out.variations.push_back(x.name), out.variation_units.push_back(x.unit);
  out.A = minimal.A();
  out.shapes = MatrixXd::Zero(motion.size(), p + q);
  out.shapes.leftCols(p) = minimal.P();
  out.mass = motion.M;

  MatrixXd reaction(motion.size(), static_cast<Index>(options.inputs.size()));
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    const Channel c = channel(system, motion, options.inputs[i]);
    reaction.col(static_cast<Index>(i)) = c.value;
    out.inputs.push_back(c.name), out.input_units.push_back(force_unit(c.unit));
  }
  MatrixXd response = minimal.accelerations(reaction);
  for (const ParameterInput& x : options.parameters) {
    const double h = 1e-4 * x.size;
    const auto accelerations = [&](double change) {
      const System other = x.system(change);
      if (other.size() != system.size())
        Label{"parameter", x.name}.fail<WrongSize>(
            fmt::format("the changed system has {} coordinates, not {}", other.size(), system.size()),
            "change values alone");
      return VectorXd(Solver(other).solve(s));
    };
    // What it does to the accelerations, which are E eta'' at fixed positions and velocities.
    const VectorXd change =
        (8 * (accelerations(h) - accelerations(-h)) - accelerations(2 * h) + accelerations(-2 * h)) / (12 * h);
    response.conservativeResize(Eigen::NoChange, response.cols() + 1);
    response.rightCols(1) = LeastSquares(MatrixXd(motion.E)).solve(change);
    out.inputs.push_back(x.name), out.input_units.push_back("");
  }
  out.B = MatrixXd::Zero(p + q, response.cols());
  out.B.bottomRows(q) = response(minimal.velocities(), Eigen::all);

  out.C = MatrixXd::Zero(static_cast<Index>(options.outputs.size()), p + q);
  out.D = MatrixXd::Zero(out.C.rows(), out.B.cols());
  for (std::size_t i = 0; i < options.outputs.size(); ++i) {
    const OutputRow y = output_row(system, motion, options.outputs[i]);
    const auto row = static_cast<Index>(i);
    out.C.row(row).head(p) = y.position.transpose() * minimal.P() + y.velocity.transpose() * minimal.Z();
    out.C.row(row).tail(q) = y.velocity.transpose() * minimal.W();
    out.outputs.push_back(options.outputs[i]), out.output_units.push_back(y.unit);
  }
  return out;
}

std::string matrix_text(const MatrixXd& X) {
  std::string out = "[";
  for (Index i = 0; i < X.rows(); ++i) {
    if (i > 0) out += "; ";
    for (Index j = 0; j < X.cols(); ++j) out += fmt::format("{}{:.17g}", j > 0 ? " " : "", X(i, j));
  }
  return X.size() == 0 ? fmt::format("zeros({}, {})", X.rows(), X.cols()) : out + "]";
}

Json matrix_json(const MatrixXd& X) {
  Json out = Json::array();
  for (Index i = 0; i < X.rows(); ++i) out.push(Json(VectorXd(X.row(i))));
  return out;
}

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{} [{}]", name, unit);
}

}  // namespace

LinearModel linearise(const System& system, const State& s, const LineariseOptions& options) {
  std::optional<Choice> states;
  LinearModel out = at_this_instant(system, s, options, states);
  if (!options.must_be_steady) return out;
  // At rest too: rows and forces may change with time.
  const double fastest = out.A.size() == 0 ? 1 : std::max(1e-3, out.A.cwiseAbs().maxCoeff());
  const double time = 0.3 / std::max({1.0, std::sqrt(fastest), s.v.size() ? s.v.lpNorm<Eigen::Infinity>() : 0.0});
  const State later = a_little_later(system, s, time);
  LineariseOptions again = options;
  again.parameters.clear();
  const LinearModel then = at_this_instant(system, later, again, states);
  const auto inputs = static_cast<Index>(options.inputs.size());
  const auto refuse = [&](const std::string& what, double by) {
    Label{"system", system.name().empty() ? "model" : system.name()}.fail<InvalidModel>(
        fmt::format("the state is no steady motion: {} changes by {:.2g} of itself within {:.2g} s, so there is no "
                    "linear model with constant coefficients",
                    what, by, time),
        "take a state of rest (equilibrium finds one) or of steady motion, or ask for the coefficients at this instant "
        "alone: must_be_steady = false");
  };
  if (const double by = difference(out.A, then.A); by > same) refuse("A", by);
  if (const double by = difference(out.B.leftCols(inputs), then.B.leftCols(inputs)); by > same) refuse("B", by);
  if (const double by = difference(out.C, then.C); by > same) refuse("C", by);
  return out;
}

std::string LinearModel::text() const {
  std::string out = fmt::format("{}: {} near a {}, {} positions and {} velocities\n", system.empty() ? "model" : system,
                                counted(static_cast<Index>(states.size()), "state"),
                                at_rest ? "state of rest" : "steady motion", positions, velocities);
  const auto block = [&](const char* title, const MatrixXd& X, const std::vector<std::string>& rows,
                         const std::vector<std::string>& row_units, const std::vector<std::string>& columns) {
    if (X.size() == 0) return;
    std::size_t width = 0;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      names.push_back(with_unit(rows[i], row_units[i]));
      width = std::max(width, names.back().size());
    }
    out += fmt::format("\n{:<{}}", title, width + 2);
    for (const std::string& c : columns) out += fmt::format(" {:>14}", c);
    out += "\n";
    for (Index i = 0; i < X.rows(); ++i) {
      out += fmt::format("  {:<{}}", names[static_cast<std::size_t>(i)], width);
      for (Index j = 0; j < X.cols(); ++j) {
        const double x = std::abs(X(i, j)) < 1e-13 * X.cwiseAbs().maxCoeff() ? 0 : X(i, j);
        out += fmt::format(" {:>{}.6g}", x, std::max<std::size_t>(14, columns[static_cast<std::size_t>(j)].size()));
      }
      out += "\n";
    }
  };
  block("A", A, states, state_units, states);
  block("B", B, states, state_units, inputs);
  block("C", C, outputs, output_units, states);
  block("D", D, outputs, output_units, inputs);
  return out;
}

std::string LinearModel::csv() const {
  std::string out;
  const auto block = [&](const char* title, const MatrixXd& X, const std::vector<std::string>& rows,
                         const std::vector<std::string>& columns) {
    out += title;
    for (const std::string& c : columns) out += "," + csv_cell(c);
    out += "\n";
    for (Index i = 0; i < X.rows(); ++i) {
      out += csv_cell(rows[static_cast<std::size_t>(i)]);
      for (Index j = 0; j < X.cols(); ++j) out += fmt::format(",{}", X(i, j));
      out += "\n";
    }
  };
  block("A", A, states, states);
  block("B", B, states, inputs);
  block("C", C, outputs, states);
  block("D", D, outputs, inputs);
  return out;
}

std::string LinearModel::json() const {
  return Json({{"system", system},
               {"t", at.t},
               {"at_rest", at_rest},
               {"positions", positions},
               {"velocities", velocities},
               {"states", states},
               {"inputs", inputs},
               {"outputs", outputs},
               {"A", matrix_json(A)},
               {"B", matrix_json(B)},
               {"C", matrix_json(C)},
               {"D", matrix_json(D)}})
             .text() +
         "\n";
}

std::string LinearModel::matlab() const {
  const auto names = [](const std::vector<std::string>& all) {
    std::string out = "{";
    for (const std::string& name : all) {
      out += out.size() > 1 ? ", '" : "'";
      for (const char c : name) out += c == '\'' ? std::string("''") : std::string(1, c);
      out += "'";
    }
    return out + "}";
  };
  return fmt::format(
      "% {}: x' = A x + B u, y = C x + D u.  ss(A, B, C, D) makes a state-space model of it.\n"
      "A = {};\nB = {};\nC = {};\nD = {};\nstates = {};\ninputs = {};\noutputs = {};\n",
      printable(system), matrix_text(A), matrix_text(B), matrix_text(C), matrix_text(D), names(states), names(inputs),
      names(outputs));
}

}  // namespace mortise
