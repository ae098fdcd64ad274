// Parts that give no numbers at a state, or impossible ones: all of them, and the equations with something sensible in
// their place, so that the others can be judged.

#include <mortise/diagnosis/report.h>

#include <algorithm>
#include <cmath>

#include <mortise/core/decompositions.h>
#include <mortise/core/tolerances.h>
#include <mortise/core/words.h>

namespace mortise::report {
namespace {

constexpr const char* check_formula = "check its formula at this state";

// One part after the other, each by itself.
class Collector {
 public:
  explicit Collector(std::vector<BrokenPart>& out) : out_(out) {}
  // False: it is broken.
  template <class F> bool attempt(const std::string& kind, const std::string& name, const F& f) {
    try {
      f(Label{kind, name});
      return true;
    } catch (const NotSymmetric& x) {
      add(Verdict::not_symmetric, kind, name, x);
    } catch (const InvalidMass& x) {
      add(Verdict::not_semidefinite, kind, name, x);
    } catch (const Error& x) {
      add(Verdict::not_finite, kind, name, x);
    } catch (const std::exception& x) {
      out_.push_back({Verdict::not_finite, kind, name, std::string("it throws: ") + x.what(),
                      "make it return numbers at this state"});
    }
    return false;
  }

 private:
  void add(Verdict verdict, const std::string& kind, const std::string& name, const Error& error) {
    const ErrorParts& x = error.parts();  // of another part, if that one throws for this one
    const std::string fact = x.kind.empty() || (x.kind == kind && x.name == name)
                                 ? x.fact
                                 : fmt::format("{} '{}': {}", x.kind, x.name, x.fact);
    out_.push_back({verdict, kind, name, fact, x.remedy.empty() ? check_formula : x.remedy});
  }
  std::vector<BrokenPart>& out_;
};

// Where both ends of a part of two bodies are, if they coincide.
template <class Part>
std::optional<Vec3<double>> ends_coincide(const System& system, const State& s, const Part& part,
                                          const Sketch& sketch) {
  if (part.bodies.size() != 2 || sketch.points.size() != 2 || sketch.points[0].body == sketch.points[1].body) return {};
  Vec3<double> at[2];
  double size = 0;
  for (int k = 0; k < 2; ++k) {
    const auto& mark = sketch.points[static_cast<std::size_t>(k)];
    const auto& b = system.bodies()[part.bodies[mark.body]];
    int dimension = 0;
    for (const int d : {3, 2, 1})
      if (dimension == 0 && b.model->has(Ask::point, d)) dimension = d;
    if (dimension == 0) return {};
    at[k].setZero();
    b.model->locate(Ask::point, {mark.value.data(), static_cast<std::size_t>(dimension)}, s.q.data() + b.first,
                    at[k].data());
    size = std::max({size, at[k].norm(), mark.value.norm()});
  }
  return (at[0] - at[1]).norm() <= tolerance::round_off * size ? std::optional(at[0]) : std::nullopt;
}

// Where the ends of a part of two bodies coincide it has no direction: that is what is wrong with it, not its formula.
template <class Part> void require_apart(const Label& label, const System& system, const State& s, const Part& part) {
  const auto at = ends_coincide(system, s, part, part.model->sketch());
  if (!at) return;
  const std::string& a = system.bodies()[part.bodies[0]].name;
  const std::string& b = system.bodies()[part.bodies[1]].name;
  label.fail<NonFinite>(
      fmt::format("its ends on '{}' and '{}' coincide at {}: it has no direction there", a, b, point_in_words(*at)),
      fmt::format("place '{}' and '{}' apart, or correct the points of {} on them", a, b, label.name));
}

void require_finite(const Label& label, const VectorXd& x, const std::string& what, double t) {
  for (const double value : x)
    if (!std::isfinite(value))
      label.fail<NonFinite>(
          fmt::format("{} is {} at t = {}", what, std::isnan(value) ? "nan" : fmt::format("{}", value), t),
          check_formula);
}

template <class Stored> void require_energy(const Label& label, const std::optional<Stored>& potential, double t) {
  if (potential && !std::isfinite(*potential))
    label.fail<NonFinite>(fmt::format("its potential energy is {} at t = {}, though its force is finite",
                                      std::isnan(*potential) ? "nan" : fmt::format("{}", *potential), t),
                          "check its formula, or start where the energy is defined");
}

// In place of a matrix that is none of a mass: its symmetric part with no negative energy, or one that is regular.
MatrixXd sensible_mass(const MatrixXd& M, Index size) {
  if (M.rows() != size || M.cols() != size || !M.allFinite()) return MatrixXd::Identity(size, size);
  const SymmetricEigen own(0.5 * (M + M.transpose()));
  return own.vectors * own.values.cwiseAbs().asDiagonal() * own.vectors.transpose();
}

// What stands in for broken parts, in words: "with a sensible mass of a and without force 'law'".
struct StandIns {
  std::vector<std::string> masses, left_out;
  std::string words() const {
    std::vector<std::string> out;
    if (!masses.empty()) out.push_back("with a sensible mass of " + some_of(masses));
    if (!left_out.empty()) out.push_back("without " + some_of(left_out));
    return joined(out, " and ");
  }
};

}  // namespace

std::vector<BrokenPart> broken_energies(const System& system, const State& s) {
  std::vector<BrokenPart> out;
  Collector collect(out);
  for (const auto& b : system.bodies())
    if (b.model->stores())
      collect.attempt("body", b.name, [&](const Label& label) {
        const auto stored = b.model->stored(s, b.first);
        require_energy(label, stored ? std::optional(stored->potential) : std::nullopt, s.t);
      });
  for (const auto& f : system.forces())
    if (f.model->stores())
      collect.attempt("force", f.name, [&](const Label& label) {
        require_energy(label, f.model->potential(s, system.firsts(f.bodies)), s.t);
      });
  return out;
}

std::vector<std::string> springs_without_direction(const System& system, const State& s) {
  std::vector<std::string> out;
  for (const auto& f : system.forces()) {
    if (f.model->kind() != "spring") continue;
    const Sketch sketch = f.model->sketch();
    const auto number = [&](std::string_view name) {
      for (const auto& [key, x] : sketch.numbers)
        if (key == name) return x;
      return 0.0;
    };
    if (number("length") == 0 || number("stiffness") == 0) continue;
    if (const auto at = ends_coincide(system, s, f, sketch))
      out.push_back(
          fmt::format("force '{}': its ends coincide at {}, where a spring of length {:.4g} m has no direction "
                      "and gives no force; place its ends apart, or give it length 0",
                      f.name, point_in_words(*at), number("length")));
  }
  return out;
}

Sound without_broken_masses(const System& system, const Evaluation& e) {
  Sound out{{}, "", e};
  Collector collect(out.broken);
  StandIns instead;
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const auto& b = system.bodies()[i];
    if (collect.attempt("body", b.name, [&](const Label& label) {
          require_symmetric(e.M(i), label, b.model->coordinates());
          (void)b.model->massless(e.state, b.first, e.M(i), label);
        }))
      continue;
    out.e->M(i) = sensible_mass(e.M(i), b.size);
    instead.masses.push_back(b.name);
  }
  out.judged = instead.words();
  return out;
}

Sound without_broken_parts(const System& system, const State& s) {
  Sound out;
  Collector collect(out.broken);
  if (!collect.attempt("state", system.name(), [&](const Label&) { system.require_state(s); })) return out;
  StandIns instead;
  Evaluation e = system.blank();
  e.state = s;
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const auto& b = system.bodies()[i];
    MatrixXd M;
    const bool mass = collect.attempt("body", b.name, [&](const Label& label) {
      M = b.model->mass_matrix(s, b.first);
      if (M.rows() != b.size || M.cols() != b.size)
        label.fail<WrongSize>(fmt::format("M is {} x {} at t = {}", M.rows(), M.cols(), s.t),
                              fmt::format("give {0} x {0}, one row per coordinate", b.size));
      require_symmetric(M, label, b.model->coordinates());
      (void)b.model->massless(s, b.first, M, label);
    });
    e.M(i) = mass ? M : sensible_mass(M, b.size);
    if (!mass) instead.masses.push_back(b.name);
    const bool force = collect.attempt("body", b.name, [&](const Label& label) {
      const VectorXd Q = b.model->force(s, b.first);
      if (Q.size() != b.size)
        label.fail<WrongSize>(fmt::format("Q has {} entries at t = {}", Q.size(), s.t),
                              fmt::format("give {}, one per coordinate", b.size));
      VectorXd weight = VectorXd::Zero(system.size());
      b.model->gravity(s, b.first, system.gravity(), weight);
      const VectorXd all = Q + weight.segment(b.first, b.size);
      require_finite(label, all, "its own force", s.t);
      e.Q.segment(b.first, b.size) = all;
    });
    if (!force) instead.left_out.push_back(fmt::format("the own force of '{}'", b.name));
  }
  for (const auto& f : system.forces()) {
    const bool force = collect.attempt("force", f.name, [&](const Label& label) {
      VectorXd Q = VectorXd::Zero(system.size());
      f.model->act(s, system.firsts(f.bodies), Q);
      if (!Q.allFinite()) require_apart(label, system, s, f);
      require_finite(label, Q, "its force", s.t);
      e.Q += Q;
    });
    if (!force) instead.left_out.push_back(fmt::format("force '{}'", f.name));
  }
  for (std::size_t i = 0; i < system.constraints().size(); ++i) {
    const auto& c = system.constraints()[i];
    if (std::binary_search(s.off.begin(), s.off.end(), i)) continue;
    std::vector<Eigen::Map<MatrixXd>> A;
    for (std::size_t k = 0; k < c.bodies.size(); ++k) A.push_back(e.A(c.block + k));
    auto value = e.phi.segment(c.row, c.rows), b = e.b.segment(c.row, c.rows);
    if (collect.attempt(c.own ? "body" : "joint", c.name, [&](const Label& label) {
          c.model->evaluate(s, system.firsts(c.bodies), value, b, A);
          const bool slopes = std::all_of(A.begin(), A.end(), [](const auto& block) { return block.allFinite(); });
          if (!value.allFinite() || !b.allFinite() || !slopes) require_apart(label, system, s, c);
          require_finite(label, value, "the value of a row", s.t);
          require_finite(label, b, "b of a row", s.t);
          for (const auto& block : A) require_finite(label, block.reshaped(), "a slope of a row", s.t);
          VectorXd C = VectorXd::Zero(system.size());
          if (!c.model->ideal()) c.model->nonideal(s, system.firsts(c.bodies), C);
          require_finite(label, C, "its non-ideal law", s.t);
          e.C += C;
        }))
      continue;
    value.setZero(), b.setZero();
    for (auto& block : A) block.setZero();
    e.state.off.insert(std::lower_bound(e.state.off.begin(), e.state.off.end(), i), i);
    instead.left_out.push_back(c.own ? fmt::format("the own rows of '{}'", c.name) : fmt::format("joint '{}'", c.name));
  }
  out.judged = instead.words();
  out.e = std::move(e);
  return out;
}

}  // namespace mortise::report
