#include <mortise/assembly/hidden.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <mortise/assembly/hidden_constraint.h>
#include <mortise/assembly/solver.h>
#include <mortise/core/decompositions.h>
#include <mortise/core/scaling.h>

namespace mortise {
namespace {

using Selection = FreeForces::Selection;

std::string joined(const std::vector<std::string>& words, const char* separator = ", ") {
  return fmt::format("{}", fmt::join(words, separator));
}
std::string counted(Index n, const std::string& thing) { return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s"); }

// Sets that grow together.
class Unions {
 public:
  explicit Unions(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t i, std::size_t j) { parent_[find(std::max(i, j))] = find(std::min(i, j)); }

 private:
  std::vector<std::size_t> parent_;
};

// The groups of massless bodies with free directions.  A free direction stays within massless bodies that joints
// connect; forces couple the directions of one group.
std::vector<Selection> find_groups(const System& system, const State& s, const HiddenOptions& options) {
  const Evaluation e = system.evaluate(s);
  const auto& bodies = system.bodies();
  const auto& constraints = system.constraints();
  const auto& forces = system.forces();
  std::vector<Massless> massless(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i)
    massless[i] = bodies[i].model->massless(s, bodies[i].first, e.M(i), {"body", bodies[i].name});
  const auto light = [&](std::size_t i) { return massless[i].N0.cols() > 0; };

  Unions joined_bodies(bodies.size());
  const auto join = [&](Unions& unions, const std::vector<std::size_t>& some, const auto& counts) {
    std::size_t first = bodies.size();
    for (const std::size_t k : some)
      if (counts(k)) first == bodies.size() ? void(first = k) : unions.join(first, k);
  };
  for (const auto& c : constraints) join(joined_bodies, c.bodies, light);
  std::map<std::size_t, Selection> clusters;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (light(i)) clusters[joined_bodies.find(i)].massless.push_back(i);
  const auto assign = [&](const auto& parts, const auto& cluster_of, auto& to,
                          std::vector<std::size_t> Selection::*list) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (const std::size_t k : parts[i].bodies)
        if (const auto it = cluster_of(k); it != to.end()) {
          (it->second.*list).push_back(i);
          break;
        }
  };
  const auto cluster_of = [&](std::size_t k) {
    return light(k) ? clusters.find(joined_bodies.find(k)) : clusters.end();
  };
  assign(constraints, cluster_of, clusters, &Selection::constraints);

  // Which clusters are free?  The columns of massive bodies do not matter: no free direction moves them.
  std::set<std::size_t> free;
  for (const auto& [root, cluster] : clusters) {
    std::map<std::size_t, Index> first;
    Index n = 0, m = 0;
    for (const std::size_t i : cluster.massless) first[i] = n, n += bodies[i].size;
    for (const std::size_t i : cluster.constraints) m += constraints[i].rows;
    Equations eq{.M = MatrixXd::Zero(n, n), .Q = VectorXd::Zero(n), .A = MatrixXd::Zero(m, n), .b = VectorXd::Zero(m)};
    std::vector<Massless> parts;
    int groups = 0;
    for (const std::size_t i : cluster.massless) {
      const auto& b = bodies[i];
      eq.M.block(first[i], first[i], b.size, b.size) = e.M(i);
      eq.Q.segment(first[i], b.size) = e.Q.segment(b.first, b.size) + e.C.segment(b.first, b.size);
      parts.push_back(massless[i]);
      const int base = groups;
      for (const int g : b.model->groups()) eq.groups.push_back(base + g), groups = std::max(groups, base + g + 1);
    }
    Index row = 0;
    for (const std::size_t i : cluster.constraints) {
      const auto& c = constraints[i];
      for (std::size_t k = 0; k < c.bodies.size(); ++k)
        if (const auto it = first.find(c.bodies[k]); it != first.end())
          eq.A.block(row, it->second, c.rows, bodies[c.bodies[k]].size) += e.A(c.block + k);
      row += c.rows;
    }
    eq.massless = stack(parts);
    if (!numerical_rank(eq, options.rank).determined()) free.insert(root);
  }

  Unions coupled = joined_bodies;
  const auto is_free = [&](std::size_t k) { return light(k) && free.count(joined_bodies.find(k)) > 0; };
  for (const auto& f : forces) join(coupled, f.bodies, is_free);
  std::map<std::size_t, Selection> groups;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (is_free(i)) groups[coupled.find(i)].massless.push_back(i);
  const auto group_of = [&](std::size_t k) { return is_free(k) ? groups.find(coupled.find(k)) : groups.end(); };
  assign(constraints, group_of, groups, &Selection::constraints);
  assign(forces, group_of, groups, &Selection::forces);
  std::vector<Selection> out;
  for (auto& [root, group] : groups) out.push_back(std::move(group));
  return out;
}

// The rank of X judged against P >= |X|, what its entries are sums of; and balanced decompositions.
struct Judged {
  Balance balance;
  Svd svd;
  Index rank;
  Judged(const MatrixXd& X, const MatrixXd& P, double zero)
      : balance(mortise::balance(P, separate_groups(P.cols()))),
        svd(balance.r.asDiagonal() * X * balance.c.asDiagonal()),
        rank(svd.count_above(zero)) {}
  MatrixXd left_null() const {  // short vectors y, y'X = 0
    return balance.r.asDiagonal() * ShortBasis(svd.left_null_space(rank)).X;
  }
};

// Rows and columns of X that make a regular block of the rank found.
struct Block {
  std::vector<Index> rows, columns, other_rows;
  Block(const MatrixXd& X, const Judged& j) {
    const Eigen::FullPivLU<MatrixXd> lu(j.balance.r.asDiagonal() * X * j.balance.c.asDiagonal());
    for (Index i = 0; i < X.rows(); ++i) (lu.permutationP().indices()[i] < j.rank ? rows : other_rows).push_back(i);
    for (Index k = 0; k < j.rank; ++k) columns.push_back(lu.permutationQ().indices()[k]);
    std::sort(columns.begin(), columns.end());
  }
};

// A combination c'h of the forces on the free directions that no free direction changes.
struct Stray {
  VectorXd c;
  bool zero;        // it vanishes
  bool constant;    // all its slopes vanish
  bool influences;  // the direction acts on others
};

// Everything about one group at one state, for given pivots.
struct Analysis {
  FreeForces::Numbers e;
  FreeForces::Basis basis;
  FreeForces::Slopes s;
  std::vector<Index> velocity, position, columns;  // rows of h; columns of D
  MatrixXd L;                                      // f x position rows
  Index position_rank = 0;
  bool mixed = false;    // a position-level row depends on velocities of others
  bool regular = false;  // velocity-level and position-level rows together decide all free directions
  std::vector<Stray> strays;

  Analysis(const FreeForces& forces, const State& x, const FreeForces::Pivots& pivots, const HiddenOptions& o)
      : e(forces.numbers(x)), basis(forces.basis(e, pivots)), s(forces.slopes(x, e, basis)) {
    const Index ns = forces.massless_size(), f = basis.N.cols();
    const MatrixXd &N = basis.N, size = N.cwiseAbs();
    const MatrixXd D = s.dv.leftCols(ns) * N, PD = s.dv_size.leftCols(ns) * size;
    const MatrixXd K = s.dq.leftCols(ns) * N, PK = s.dq_size.leftCols(ns) * size;
    const Judged of_D(D, PD, o.zero);
    const Block block(D, of_D);
    velocity = block.rows;
    position = block.other_rows;
    columns = block.columns;
    const auto p = static_cast<Index>(position.size());
    L = MatrixXd::Zero(f, p);
    for (Index i = 0; i < p; ++i) L(position[static_cast<std::size_t>(i)], i) = 1;
    if (!velocity.empty() && p > 0) {
      const MatrixXd DR = D(velocity, columns), DF = D(position, columns);
      L(velocity, Eigen::all) = -DR.transpose().fullPivLu().solve(MatrixXd(DF.transpose()));
    }
    const MatrixXd X = L.transpose() * K, PX = L.cwiseAbs().transpose() * PK;
    const Judged of_X(X, PX, o.zero);
    position_rank = of_X.rank;
    const MatrixXd V = L.transpose() * s.dv, PV = L.cwiseAbs().transpose() * s.dv_size;
    mixed = ((V.array().abs() > o.zero * PV.array()) && PV.array() > 0).any();
    MatrixXd all(f, f), P(f, f);
    all << MatrixXd(D(velocity, Eigen::all)), X;
    P << MatrixXd(PD(velocity, Eigen::all)), PX;
    regular = Judged(all, P, o.zero).rank == f;

    if (position_rank == p) return;
    State rest = x;  // for what changes with time alone
    rest.v.setZero();
    const FreeForces::Course course = forces.course(rest, basis, MatrixXd(x.q.size(), 0));
    const MatrixXd combinations = L * of_X.left_null();
    for (Index k = 0; k < combinations.cols(); ++k) {
      const VectorXd c = combinations.col(k);
      const auto vanishes = [&](const MatrixXd& y, const MatrixXd& terms) {
        return ((y.array().abs() <= o.zero * terms.array()) || y.array() == 0).all();
      };
      const MatrixXd row = c.transpose(), terms = row.cwiseAbs();
      Stray stray;
      stray.c = c;
      stray.zero = vanishes(row * s.h, terms * s.h_size);
      stray.constant = vanishes(row * s.dq, terms * s.dq_size) && vanishes(row * s.dv, terms * s.dv_size) &&
                       (row * course.h[1])(0) == 0;
      const VectorXd y = N * c, y_size = size * c.cwiseAbs();
      stray.influences = !vanishes(e.Fq.leftCols(ns) * y, e.Fq_size.leftCols(ns) * y_size) ||
                         !vanishes(e.Fv.leftCols(ns) * y, e.Fv_size.leftCols(ns) * y_size);
      strays.push_back(std::move(stray));
    }
  }
};

// One group, looked at here and at other states.
class Group {
 public:
  Group(const System& system, const Selection& parts, const State& s, const HiddenOptions& options)
      : system_(system), options_(options), forces_(std::make_shared<const FreeForces>(system, parts)) {
    x_ = forces_->local(s, forces_->firsts());
  }

  void look(std::vector<HiddenRow>& out) {
    if (refuse_parts(out)) return;
    const FreeForces::Numbers e = forces_->numbers(x_);
    const Equations eq = forces_->equations(x_, e);
    const Rank rank = numerical_rank(eq, options_.rank);
    const Index f = rank.N.cols();
    scale_ = scaling(eq.M.diagonal(), eq.A, eq.groups, eq.Q.cwiseAbs(), eq.b);
    pivots_ = forces_->pivots(e, scale_, f);
    here_.emplace(*forces_, x_, pivots_, options_);
    const Analysis& here = *here_;
    look_elsewhere();

    // Directions that nothing decides, or that cannot be.
    std::set<Index> astray;  // position-level rows, by a pivot of their own
    const bool singular = std::any_of(elsewhere_.begin(), elsewhere_.end(), [&](const Analysis& a) {
      return a.velocity.size() > here.velocity.size() ||
             (a.velocity.size() == here.velocity.size() && a.position_rank > here.position_rank);
    });
    const auto indeterminate = [&](const auto& strays) {
      return std::count_if(strays.begin(), strays.end(), [](const Stray& s) { return s.zero && s.constant; });
    };
    auto nothing = indeterminate(here.strays);
    for (const Analysis& a : elsewhere_) nothing = std::min(nothing, indeterminate(a.strays));
    for (const Stray& stray : here.strays) {
      Index pivot = 0;
      stray.c.cwiseAbs().maxCoeff(&pivot);
      for (const Index i : here.position)
        if (std::abs(stray.c[i]) > 0.5 * stray.c.cwiseAbs().maxCoeff() && !astray.count(i)) pivot = i;
      astray.insert(pivot);
      HiddenRow row = told(stray.c, pivot);
      const bool empty = stray.zero && stray.constant;
      if (empty && nothing > 0) {
        --nothing;
        row.kind = HiddenKind::indeterminate;
        row.sentence = fmt::format(
            "nothing decides {}: no force along it, here or elsewhere; give it mass, hold it by a joint, or drop it",
            joined(row.coordinates));
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
        row.kind = HiddenKind::contradictory;
        row.sentence = fmt::format(
            "a force of {:.4g} acts along {}, which has no mass and which nothing holds: no motion exists; give it "
            "mass, hold it by a joint, or take the force away",
            row.value, joined(row.coordinates));
      }
      out.push_back(std::move(row));
    }

    const auto f_unit = [&](Index i) { return VectorXd(VectorXd::Unit(f, i)); };
    const bool decided = here.strays.empty() && !here.mixed && here.regular && !singular;
    completable_ = decided;
    for (std::size_t k = 0; k < here.position.size(); ++k) {
      if (astray.count(here.position[k])) continue;
      HiddenRow row = told(here.L.col(static_cast<Index>(k)), here.position[k]);
      row.kind = HiddenKind::position_level;
      row.sentence = fmt::format("this decides {}, and its velocity with it", row.coordinates.front());
      if (here.strays.empty() && !decided) refuse(row, singular);
      out.push_back(std::move(row));
    }
    for (const Index i : here.velocity) {
      HiddenRow row = told(f_unit(i), i);
      row.kind = HiddenKind::velocity_level;
      row.sentence =
          fmt::format("this decides the velocity of {}; its position may start anywhere", row.coordinates.front());
      if (here.strays.empty() && !decided) refuse(row, singular);
      out.push_back(std::move(row));
    }
  }

  bool completable() const { return completable_; }
  System::ConstraintInfo constraint(const std::string& name) const {
    const Analysis& a = *here_;
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

 private:
  std::string name_of(Index i) const { return forces_->coordinates()[static_cast<std::size_t>(i)]; }

  bool refuse_parts(std::vector<HiddenRow>& out) const {
    const auto reacting = forces_->reacting(), rough = forces_->without_derivatives();
    if (reacting.empty() && rough.empty()) return false;
    HiddenRow row;
    row.forces = reacting.empty() ? rough : reacting;
    const std::vector<std::string>& all = forces_->coordinates();
    row.coordinates.assign(all.begin(), all.begin() + forces_->massless_size());
    row.direction = row.dq = row.dv = VectorXd::Zero(system_.size());
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

  void refuse(HiddenRow& row, bool singular) const {
    row.kind = HiddenKind::refused;
    row.sentence =
        singular ? fmt::format(
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
  VectorXd extent() const {
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
  void look_elsewhere() {
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
      try {
        Analysis a(*forces_, x, pivots_, options_);
        if (a.basis.N.allFinite() && a.s.h.allFinite() && a.s.dq.allFinite() && a.s.dv.allFinite())
          elsewhere_.push_back(std::move(a));
      } catch (const Error&) {  // no state of this model
      }
    }
  }

  // c'h in words.
  HiddenRow told(const VectorXd& c, Index main) const {
    const Analysis& a = *here_;
    const Index ns = forces_->massless_size(), n = forces_->size();
    HiddenRow row;
    VectorXd y = VectorXd::Zero(n);
    y.head(ns) = a.basis.N * c;
    const double largest = y.head(ns).cwiseQuotient(scale_.d).cwiseAbs().maxCoeff();
    constexpr double visible = 1e-6;
    for (Index i = 0; i < ns; ++i)
      if (std::abs(y[i] / scale_.d[i]) < visible * largest) y[i] = 0;
    main = pivots_.free[static_cast<std::size_t>(main)];
    y /= y[main];
    const VectorXd unit = c / (a.basis.N * c)[main];
    row.coordinates.push_back(name_of(main));
    for (Index i = 0; i < ns; ++i)
      if (y[i] != 0 && i != main) row.coordinates.push_back(name_of(i));
    row.value = unit.dot(a.s.h);
    row.direction = row.dq = row.dv = VectorXd::Zero(system_.size());
    const VectorXd dq = a.s.dq.transpose() * unit, dv = a.s.dv.transpose() * unit;
    for (std::size_t k = 0; k < forces_->bodies().size(); ++k) {
      const auto& b = system_.bodies()[forces_->bodies()[k]];
      row.direction.segment(b.first, b.size) = y.segment(forces_->first(k), b.size);
      row.dq.segment(b.first, b.size) = dq.segment(forces_->first(k), b.size);
      row.dv.segment(b.first, b.size) = dv.segment(forces_->first(k), b.size);
    }

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
      for (const Analysis& other : elsewhere_) in = in || enters(other.e.parts[k]);
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
  std::string formula(const VectorXd& c, const VectorXd& dq, const VectorXd& dv) const {
    constexpr int most = 5;
    constexpr double same = 1e-10;
    const Analysis& a = *here_;
    if (elsewhere_.empty()) return "";
    for (const Analysis& other : elsewhere_) {
      const VectorXd q = other.s.dq.transpose() * c, v = other.s.dv.transpose() * c;
      if ((q - dq).cwiseAbs().maxCoeff() > same * dq.cwiseAbs().maxCoeff() ||
          (v - dv).cwiseAbs().maxCoeff() > same * dv.cwiseAbs().maxCoeff())
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

  const System& system_;
  HiddenOptions options_;
  std::shared_ptr<const FreeForces> forces_;
  State x_;
  FreeForces::Pivots pivots_;
  Scaling scale_;
  std::optional<Analysis> here_;
  std::vector<Analysis> elsewhere_;
  bool completable_ = false;
};

HiddenReport look(const System& system, const State& s, const HiddenOptions& options, std::vector<Group>* keep) {
  system.require_state(s);
  HiddenReport report{system.name(), s.t, {}};
  for (const Selection& parts : find_groups(system, s, options)) {
    Group group(system, parts, s, options);
    group.look(report.rows);
    if (keep) keep->push_back(std::move(group));
  }
  return report;
}

// Initial values that are free: coordinates less independent holonomic rows, velocities less independent rows.
std::pair<Index, Index> free_values(const System& system, const State& s, const HiddenOptions& options) {
  constexpr Index dense_at_most = 300;
  const Index n = system.size();
  Index holonomic = 0;
  for (const auto& c : system.constraints()) holonomic += c.holonomic;
  if (n <= dense_at_most) {
    const Evaluation e = system.evaluate(s);
    const Equations eq = system.equations(e);
    Equations positions = eq;
    positions.A.resize(holonomic, n);
    positions.b = positions.b_size = VectorXd::Zero(holonomic);
    Index row = 0;
    for (const auto& c : system.constraints()) {
      positions.A.middleRows(row, c.holonomic) = eq.A.middleRows(c.row, c.holonomic);
      row += c.holonomic;
    }
    return {n - numerical_rank(positions, options.rank).rank_A, n - numerical_rank(eq, options.rank).rank_A};
  }
  // In large systems by the rows that are redundant where the solver looks.
  try {
    Solver solver(system, {.rank = options.rank});
    Index rows = system.rows();
    for (const Index i : solver.leave_out_dependent(s)) {
      --rows;
      for (const auto& c : system.constraints()) holonomic -= i >= c.row && i < c.row + c.holonomic ? 1 : 0;
    }
    return {n - holonomic, n - rows};
  } catch (const Error&) {
    return {n - holonomic, n - system.rows()};
  }
}

}  // namespace

std::string in_words(HiddenKind kind) {
  switch (kind) {
    case HiddenKind::velocity_level:
      return "velocity-level";
    case HiddenKind::position_level:
      return "position-level";
    case HiddenKind::indeterminate:
      return "indeterminate";
    case HiddenKind::contradictory:
      return "contradictory";
    case HiddenKind::implicit_multiplier:
      return "implicit multiplier";
    case HiddenKind::refused:
      return "refused";
  }
  return "";
}

bool HiddenReport::completable() const {
  return std::all_of(rows.begin(), rows.end(), [](const HiddenRow& r) {
    return r.kind == HiddenKind::velocity_level || r.kind == HiddenKind::position_level;
  });
}

std::string HiddenReport::verdict() const {
  if (determined()) return "OK: the motion is determined";
  std::vector<std::string> parts;
  for (const HiddenKind kind : {HiddenKind::position_level, HiddenKind::velocity_level, HiddenKind::indeterminate,
                                HiddenKind::contradictory, HiddenKind::implicit_multiplier, HiddenKind::refused})
    if (const auto n = std::count_if(rows.begin(), rows.end(), [&](const HiddenRow& r) { return r.kind == kind; }))
      parts.push_back(fmt::format("{} {}", n, in_words(kind)));
  return fmt::format("{}: {}{}", counted(static_cast<Index>(rows.size()), "free direction"), joined(parts),
                     completable() ? "; complete() adds what the model implies" : "");
}

std::string HiddenReport::text() const {
  std::string out = fmt::format("hidden constraints '{}' at t = {:g}   {}\n", system, t, verdict());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const HiddenRow& r = rows[i];
    const bool fits = r.kind == HiddenKind::position_level || r.kind == HiddenKind::velocity_level;
    out += fmt::format("  {:<2} {:<24} {}\n", i + 1, r.coordinates.front(), in_words(r.kind));
    if (!r.equation.empty()) out += fmt::format("     {}{}\n", fits ? "the model implies  " : "along it  ", r.equation);
    if (!r.formula.empty() && fits) out += fmt::format("     here  {}\n", r.formula);
    out += "     " + r.sentence + "\n";
  }
  return out;
}

HiddenReport find_hidden(const System& system, const State& s, const HiddenOptions& options) {
  return look(system, s, options, nullptr);
}

Completed complete(const System& system, const State& s, const HiddenOptions& options) {
  std::vector<Group> groups;
  HiddenReport report = look(system, s, options, &groups);
  if (!report.completable()) throw NotCompletable(report, report.text());
  const auto refuse = [&](HiddenKind kind, const std::string& sentence) {
    HiddenReport r = report;
    for (HiddenRow& row : r.rows) row.kind = kind, row.sentence = sentence;
    const std::string text = r.text();
    throw NotCompletable(std::move(r), text);
  };

  std::set<std::string> names;
  for (const auto& c : system.constraints()) names.insert(c.name);
  std::vector<System::ConstraintInfo> added;
  int number = 0;
  for (const Group& g : groups) {
    std::string name;
    do name = fmt::format("implied_{}", ++number);
    while (names.count(name));
    added.push_back(g.constraint(name));
  }
  Completed out{system.with(added), s, report, {}};
  for (std::size_t k = system.constraints().size(); k < out.system.constraints().size(); ++k) {
    const auto& c = out.system.constraints()[k];
    for (Index i = c.row; i < c.row + c.rows; ++i) out.rows.push_back(out.system.row(i).name);
  }
  std::tie(out.positions_before, out.velocities_before) = free_values(system, s, options);
  if (added.empty()) {
    out.positions = out.positions_before, out.velocities = out.velocities_before;
    return out;
  }

  Solver solver(out.system, {.rank = options.rank});
  try {
    solver.project_positions(out.state);
    solver.project_velocities(out.state);
  } catch (const NotConverged& error) {
    refuse(HiddenKind::contradictory,
           fmt::format("h = 0 cannot be reached from this state, so that no motion starts here ({}); start nearer to a "
                       "balance of these forces",
                       error.what()));
  }
  (void)solver.solve(out.state);  // throws UnderModelled if it is not determined
  const VectorXd lambda = solver.lambda().tail(out.system.rows() - system.rows());
  double force = 0;
  const Evaluation e = out.system.evaluate(out.state);
  for (const VectorXd& part : {e.Q, e.C}) force = std::max(force, part.size() ? part.cwiseAbs().maxCoeff() : 0);
  for (const Contribution& c : system.contributions(out.state)) force = std::max(force, c.Q.cwiseAbs().maxCoeff());
  for (const HiddenRow& row : report.rows)  // forces may all be 0 in balance
    force = std::max({force, row.dq.cwiseProduct(out.state.q).cwiseAbs().maxCoeff(),
                      row.dv.cwiseProduct(out.state.v).cwiseAbs().maxCoeff(), std::abs(row.value)});
  constexpr double none = 1e-8;  // of the largest force; round-off leaves 1e-12 and less
  out.reaction = force > 0 ? lambda.cwiseAbs().maxCoeff() / force : lambda.cwiseAbs().maxCoeff();
  if (!(out.reaction <= none))
    refuse(HiddenKind::refused,
           fmt::format("the added rows would carry a reaction, {:.1e} of the largest force, which nothing gives",
                       out.reaction));
  std::tie(out.positions, out.velocities) = free_values(out.system, out.state, options);
  return out;
}

std::string Completed::text() const {
  if (rows.empty()) return fmt::format("completed '{}': nothing is missing\n", system.name());
  return fmt::format(
      "completed '{}': {} added: {}\n  states {}: {} and {} are free at the start ({} and {} before)\n"
      "  reactions of what was added: {} of the largest force\n",
      system.name(), counted(static_cast<Index>(rows.size()), "row"), joined(rows), positions + velocities,
      counted(positions, "coordinate"), fmt::format("{} {}", velocities, velocities == 1 ? "velocity" : "velocities"),
      positions_before, velocities_before, reaction < 1e-12 ? "none, <1e-12" : fmt::format("{:.0e}", reaction));
}

}  // namespace mortise
