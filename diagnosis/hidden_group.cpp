#include <mortise/diagnosis/hidden_group.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include <mortise/diagnosis/hidden_constraint.h>

#include <mortise/core/tolerances.h>
#include <mortise/core/words.h>

namespace mortise {
void HiddenGroup::look(std::vector<HiddenRow>& out) {
  if (refuse_parts(out)) return;
  const FreeForces::Numbers e = forces_->numbers(x_);
  const Equations eq = forces_->equations(x_, e);
  const Rank rank = numerical_rank(eq, options_.rank);
  const Index f = rank.N.cols();
  if (f == 0) return;  // a doubtful rank, which the whole group decides
  scale_ = scaling(eq.M.diagonal(), eq.A, eq.groups, eq.Q.cwiseAbs(), eq.b);
  pivots_ = forces_->pivots(e, scale_, f);
  here_.emplace(*forces_, x_, pivots_, options_);
  // K of a rod that may spin is regular all the same where its springs do not balance.
  bool balances = false;
  if (State x = x_; std::optional<HiddenAnalysis> a = balance(x)) {
    balances = true;
    if (a->velocity.size() == here_->velocity.size() && a->position_rank < here_->position_rank) {
      x_ = x;
      here_.emplace(std::move(*a));
    }
  }
  const HiddenAnalysis& here = *here_;
  look_elsewhere();
  // No state in balance is found, from here or from others: what is not in balance here cannot be.
  const bool unbalanced =
      !balances && !balanced_.empty() && std::none_of(balanced_.begin(), balanced_.end(), [](bool b) { return b; });

  // Directions that nothing decides, or that cannot be.
  std::set<Index> astray;  // position-level rows, by a pivot of their own
  // Where forces are never in balance, slopes of h are those of the length of N, too: they decide nothing.
  const bool never = std::any_of(here.strays.begin(), here.strays.end(), [](const Stray& s) { return !s.zero; }) &&
                     std::none_of(balanced_.begin(), balanced_.end(), [](bool b) { return b; });
  const bool singular = !never && std::any_of(elsewhere_.begin(), elsewhere_.end(), [&](const HiddenAnalysis& a) {
    return a.velocity.size() > here.velocity.size() ||
           (a.velocity.size() == here.velocity.size() && a.position_rank > here.position_rank);
  });
  const auto indeterminate = [&](const auto& strays) {
    return std::count_if(strays.begin(), strays.end(), [](const Stray& s) { return s.zero && s.constant; });
  };
  auto nothing = indeterminate(here.strays);
  for (const HiddenAnalysis& a : elsewhere_) nothing = std::min(nothing, indeterminate(a.strays));
  std::vector<std::pair<Index, VectorXd>> decided;
  for (const Stray& stray : here.strays) {
    // What the pivots before it decide is taken out, so that all of them together decide these directions.
    VectorXd c = stray.c;
    for (const auto& [i, taken] : decided) c -= c[i] / taken[i] * taken;
    Index pivot = 0;
    const double largest = c.cwiseAbs().maxCoeff(&pivot);
    for (const Index i : here.position)
      if (std::abs(c[i]) > 0.5 * largest && !astray.count(i)) pivot = i;
    decided.emplace_back(pivot, c);
    astray.insert(pivot);
    Index main = pivot;
    if (const double own = stray.c.cwiseAbs().maxCoeff(&main); std::abs(stray.c[pivot]) > 0.5 * own) main = pivot;
    HiddenRow row = told(stray.c, main);
    const bool empty = stray.zero && stray.constant;
    if (empty && nothing > 0) {
      --nothing;
      row.kind = HiddenKind::indeterminate;
      row.equation.clear();  // whatever acts there balances at every state
      row.sentence = fmt::format(
          "nothing decides {}{}: no force along it, here or elsewhere; give it mass, hold it by a joint, or drop it",
          row.coordinates.size() > 1 ? "the motion of " : "", joined(row.coordinates));
    } else if (singular) {
      row.kind = HiddenKind::refused;
      row.sentence =
          fmt::format("the forces along {} decide it at other states, but not at this one; start from another state",
                      joined(row.coordinates));
    } else if (stray.influences) {
      row.kind = HiddenKind::implicit_multiplier;
      row.sentence = fmt::format(
          "{} acts like a multiplier: the force along it does not depend on it but it acts on others, so that it "
          "would have to follow from two more derivatives; write the condition as a joint",
          joined(row.coordinates));
    } else {
      contradict(row, stray.zero);
    }
    out.push_back(std::move(row));
  }

  if (!singular && !astray.empty() && astray.size() == here.strays.size() && static_cast<Index>(astray.size()) < f) {
    for (const Index i : astray) undecided_.push_back(pivots_.free[static_cast<std::size_t>(i)]);
    return;
  }

  const auto f_unit = [&](Index i) { return VectorXd(VectorXd::Unit(f, i)); };
  const auto off = [&](std::size_t k) {
    const VectorXd c = here.L.col(static_cast<Index>(k));
    return unbalanced && !singular && std::abs(c.dot(here.s.h)) > options_.zero * c.cwiseAbs().dot(here.s.h_size);
  };
  bool can_be = true;
  for (std::size_t k = 0; k < here.position.size(); ++k) can_be = can_be && !off(k);
  decided_ = here.strays.empty() && !here.mixed && here.regular && !singular && can_be;
  for (std::size_t k = 0; k < here.position.size(); ++k) {
    if (astray.count(here.position[k])) continue;
    HiddenRow row = told(here.L.col(static_cast<Index>(k)), here.position[k]);
    if (off(k)) {
      contradict(row, false);
      out.push_back(std::move(row));
      continue;
    }
    row.kind = HiddenKind::position_level;
    row.sentence = fmt::format("this decides {}, and its velocity with it", row.coordinates.front());
    row.completable = decided_;
    if (here.strays.empty() && !decided_ && can_be) refuse(row, singular);
    out.push_back(std::move(row));
  }
  for (const Index i : here.velocity) {
    HiddenRow row = told(f_unit(i), i);
    row.kind = HiddenKind::velocity_level;
    row.sentence =
        fmt::format("this decides the velocity of {}; its position may start anywhere", row.coordinates.front());
    row.completable = decided_;
    if (here.strays.empty() && !decided_ && can_be) refuse(row, singular);
    out.push_back(std::move(row));
  }
}

System::ConstraintInfo HiddenGroup::constraint(const std::string& name) const {
  const HiddenAnalysis& a = *here_;
  HiddenConstraint::Plan plan{forces_, pivots_, scale_, a.velocity, a.position, {}, {}};
  plan.Z = MatrixXd::Zero(forces_->size(), static_cast<Index>(a.columns.size()));
  for (std::size_t k = 0; k < a.columns.size(); ++k)
    plan.Z.col(static_cast<Index>(k)).head(forces_->massless_size()) = a.basis.N.col(a.columns[k]);
  const auto coordinate = [&](Index i) { return name_of(pivots_.free[static_cast<std::size_t>(i)]); };
  for (const Index i : a.position)
    plan.rows.push_back({coordinate(i), coordinate(i) + ", which its forces decide", "nothing", ""});
  for (const Index i : a.velocity)
    plan.rows.push_back(
        {coordinate(i) + "'", "the velocity of " + coordinate(i) + ", which its forces decide", "nothing", ""});
  return {name, false, 0, 0, 0, forces_->bodies(), 0, std::make_shared<const HiddenConstraint>(std::move(plan))};
}

bool HiddenGroup::refuse_parts(std::vector<HiddenRow>& out) const {
  constexpr Index most = 300;  // massless coordinates: what is looked at is dense, and grows with their cube
  const auto reacting = forces_->reacting(), rough = forces_->without_derivatives();
  if (reacting.empty() && rough.empty() && forces_->massless_size() <= most) return false;
  HiddenRow row;
  row.forces = reacting.empty() ? rough : reacting;
  const std::vector<std::string>& all = forces_->coordinates();
  row.coordinates.assign(all.begin(), all.begin() + forces_->massless_size());
  for (auto* x : {&row.direction, &row.dq, &row.dv}) x->resize(system_.size());
  if (forces_->massless_size() > most) {
    row.forces.clear();
    row.sentence = fmt::format(
        "{} massless coordinates hang together: what their forces imply is looked for among {} at most; give the nodes "
        "mass, reduce the structure, or hold it so that fewer hang together",
        forces_->massless_size(), most);
    out.push_back(std::move(row));
    return true;
  }
  row.sentence =
      reacting.empty()
          ? fmt::format(
                "what {} along {} would need derivatives of {}, written for double only; write it as a "
                "template on the scalar",
                "follows", joined(row.coordinates), joined(rough))
          : fmt::format(
                "the law of {} depends on its own reaction, which h = N'(Q + C) does not know; give {} mass, "
                "or a law without the reaction",
                joined(reacting), joined(row.coordinates));
  out.push_back(std::move(row));
  return true;
}

void HiddenGroup::contradict(HiddenRow& row, bool zero_here) {
  row.kind = HiddenKind::contradictory;
  row.sentence = fmt::format(
      "a force{} acts along {}, which has no mass and which nothing holds: no motion exists; give it mass, hold "
      "it by a joint, or take the force away",
      zero_here ? " that is 0 at this state but not at others" : "", joined(row.coordinates));
}

void HiddenGroup::refuse(HiddenRow& row, bool singular) const {
  row.kind = HiddenKind::refused;
  row.sentence = singular ? fmt::format(
                                "the forces along {} decide more at other states than at this one; start from another "
                                "state",
                                joined(row.coordinates))
                 : here_->mixed
                     ? fmt::format(
                           "{} would follow the velocities of parts that have mass, so that its acceleration needs one "
                           "more derivative; give it mass, or a damper",
                           joined(row.coordinates))
                     : fmt::format("the conditions on {} do not decide all of it: it is of higher index; give it mass",
                                   joined(row.coordinates));
}

// How large the model is in the unit of each coordinate; 1 for angles and where all are 0.
VectorXd HiddenGroup::extent() const {
  std::map<std::string, double> largest;
  const auto each = [&](const auto& f) {
    for (std::size_t k = 0; k < forces_->models().size(); ++k) {
      const auto units = forces_->models()[k]->units();
      for (std::size_t i = 0; i < units.size(); ++i) f(forces_->first(k) + static_cast<Index>(i), units[i]);
    }
  };
  each([&](Index i, const std::string& unit) { largest[unit] = std::max(largest[unit], std::abs(x_.q[i])); });
  VectorXd size = VectorXd::Ones(x_.q.size());
  each([&](Index i, const std::string& unit) {
    if (unit != "rad" && largest[unit] > 0) size[i] = largest[unit];
  });
  return size;
}

// States near this one, for what holds everywhere and not here by chance.
void HiddenGroup::look_elsewhere() {
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> spread(-1, 1);
  const VectorXd size = extent();
  const double v = x_.v.size() ? std::max(1.0, x_.v.cwiseAbs().maxCoeff()) : 0;
  for (int k = 0; k < options_.states; ++k) {
    State x = x_;
    for (Index i = 0; i < x.q.size(); ++i) {
      x.q[i] += 0.3 * size[i] * spread(generator);
      x.v[i] += v * spread(generator);
    }
    x.t += 0.1 * (k + 1);
    if (k < std::ssize(near_)) x = near_[static_cast<std::size_t>(k)];
    try {
      HiddenAnalysis a(*forces_, x, pivots_, options_);
      if (!a.finite()) continue;
      std::optional<HiddenAnalysis> in_balance = balance(x);
      balanced_.push_back(in_balance.has_value());
      elsewhere_.push_back(in_balance ? std::move(*in_balance) : std::move(a));
    } catch (const Error&) {  // no state of this model
    }
  }
}

// Moves x along the free directions to h = 0, as near as round-off lets it.  None: it is not found, or only step by
// step, as where the slopes of h vanish with it.
std::optional<HiddenAnalysis> HiddenGroup::balance(State& x) const {
  constexpr int most = 12;        // Newton's method needs half of it, or does not settle
  constexpr double astray = 1e6;  // forces as many times as large: it has left the model
  const Index ns = forces_->massless_size();
  VectorXd size;  // of the forces, on the way
  double before = 2;
  try {
    for (int k = 0; k < most; ++k) {
      HiddenAnalysis a(*forces_, x, pivots_, options_);
      if (!a.finite()) break;
      if (k > 0 && a.s.h_size.maxCoeff() > astray * std::max(size.maxCoeff(), 1.0)) break;
      size = k == 0 ? a.s.h_size : size.cwiseMax(a.s.h_size);
      const double off = (size.array() > 0).select(a.s.h.array().abs() / size.array(), 0).maxCoeff();
      if (off == 0 || (off < options_.zero && off > before / 2)) {
        for (Stray& stray : a.strays) stray.zero = true;  // also where all forces vanish
        return a;
      }
      const HiddenAnalysis::Move move = a.towards_balance();
      x.q.head(ns) += move.q;
      x.v.head(ns) += move.v;
      before = off;
    }
  } catch (const Error&) {  // no state of this model
  }
  return {};
}

// c'h in words.
HiddenRow HiddenGroup::told(const VectorXd& c, Index main) const {
  const HiddenAnalysis& a = *here_;
  const Index ns = forces_->massless_size(), n = forces_->size();
  HiddenRow row;
  VectorXd y = VectorXd::Zero(n);
  y.head(ns) = a.basis.N * c;
  const double largest = y.head(ns).cwiseQuotient(scale_.d).cwiseAbs().maxCoeff();
  for (Index i = 0; i < ns; ++i)
    if (std::abs(y[i] / scale_.d[i]) < tolerance::visible_share * largest) y[i] = 0;
  main = pivots_.free[static_cast<std::size_t>(main)];
  y /= y[main];
  const VectorXd unit = c / (a.basis.N * c)[main];
  row.coordinates.push_back(name_of(main));
  for (Index i = 0; i < ns; ++i)
    if (y[i] != 0 && i != main) row.coordinates.push_back(name_of(i));
  row.value = unit.dot(a.s.h);
  const VectorXd dq = a.s.dq.transpose() * unit, dv = a.s.dv.transpose() * unit;
  const auto spread = [&](const VectorXd& local, Eigen::SparseVector<double>& whole) {
    whole.resize(system_.size());
    for (std::size_t k = 0; k < forces_->bodies().size(); ++k) {
      const auto& b = system_.bodies()[forces_->bodies()[k]];
      for (Index i = 0; i < b.size; ++i)
        if (const double x = local[forces_->first(k) + i]; x != 0) whole.coeffRef(b.first + i) = x;
    }
  };
  spread(y, row.direction);
  spread(dq, row.dq);
  spread(dv, row.dv);

  // Forces that enter, here or elsewhere.
  const auto enters = [&](const FreeForces::Part& p) {
    for (std::size_t i = 0; i < p.coordinates.size(); ++i)
      if (y[p.coordinates[i]] != 0) {
        const auto r = static_cast<Index>(i);
        if (p.F[r] != 0 || !p.Fq.row(r).isZero(0) || !p.Fv.row(r).isZero(0)) return true;
      }
    return false;
  };
  for (std::size_t k = 0; k < a.e.parts.size(); ++k) {
    bool in = enters(a.e.parts[k]);
    for (const HiddenAnalysis& other : elsewhere_) in = in || enters(other.e.parts[k]);
    const std::string& name = a.e.parts[k].name;
    if (in && std::find(row.forces.begin(), row.forces.end(), name) == row.forces.end()) row.forces.push_back(name);
  }
  std::string along = name_of(main);
  for (Index i = 0; i < ns; ++i)
    if (y[i] != 0 && i != main) {
      const double size = std::abs(y[i]);
      const std::string factor = std::abs(size - 1) < 1e-12 ? "" : fmt::format("{:.4g} ", size);
      along += fmt::format(" {} {}{}", y[i] < 0 ? "-" : "+", factor, name_of(i));
    }
  std::vector<std::string> terms;
  for (const std::string& f : row.forces) terms.push_back(f + ".force");
  if (terms.size() == 2)
    row.equation = fmt::format("{} = {} along {}", terms[0], terms[1], along);
  else if (!terms.empty())
    row.equation = fmt::format("{} = 0 along {}", joined(terms, " + "), along);
  row.formula = formula(unit, dq, dv);
  return row;
}

// "200 one.x1 = 300 two.q2", if h is linear and has few terms.
std::string HiddenGroup::formula(const VectorXd& c, const VectorXd& dq, const VectorXd& dv) const {
  constexpr int most = 5;
  const HiddenAnalysis& a = *here_;
  if (elsewhere_.empty()) return "";
  for (const HiddenAnalysis& other : elsewhere_) {
    const VectorXd q = other.s.dq.transpose() * c, v = other.s.dv.transpose() * c;
    if ((q - dq).cwiseAbs().maxCoeff() > tolerance::same_formula * dq.cwiseAbs().maxCoeff() ||
        (v - dv).cwiseAbs().maxCoeff() > tolerance::same_formula * dv.cwiseAbs().maxCoeff())
      return "";
  }
  std::vector<std::pair<double, std::string>> terms;
  const auto add = [&](double factor, double size, const std::string& name) {
    if (std::abs(factor) > options_.zero * size) terms.emplace_back(factor, name);
  };
  const VectorXd dq_size = a.s.dq_size.transpose() * c.cwiseAbs(), dv_size = a.s.dv_size.transpose() * c.cwiseAbs();
  for (Index i = 0; i < dq.size(); ++i) add(dq[i], dq_size[i], name_of(i));
  for (Index i = 0; i < dv.size(); ++i) add(dv[i], dv_size[i], name_of(i) + "'");
  const double constant = c.dot(a.s.h) - dq.dot(x_.q) - dv.dot(x_.v);
  add(constant, c.cwiseAbs().dot(a.s.h_size) + dq_size.dot(x_.q.cwiseAbs()) + dv_size.dot(x_.v.cwiseAbs()), "");
  if (terms.empty() || terms.size() > most) return "";
  const double sign = terms.front().first < 0 ? -1 : 1;
  std::string left, right;
  for (const auto& [factor, name] : terms) {
    std::string& side = sign * factor > 0 ? left : right;
    const std::string number = fmt::format("{:.6g}", std::abs(factor));
    side += (side.empty() ? "" : " + ") + (name.empty() ? number : number == "1" ? name : number + " " + name);
  }
  return left + " = " + (right.empty() ? "0" : right);
}

}  // namespace mortise
