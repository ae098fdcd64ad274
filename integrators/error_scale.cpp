#include <mortise/integrators/error_scale.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <mortise/core/components.h>

namespace mortise {
namespace {

constexpr double least_share = 1e-6;  // of the model's own sizes

// Bodies that joints or forces connect.
Components connected(const System& system) {
  Components parts(system.bodies().size());
  const auto join = [&](const std::vector<std::size_t>& bodies) {
    std::size_t first = system.bodies().size();
    for (const std::size_t k : bodies) {
      if (system.bodies()[k].size == 0) continue;  // the ground connects nothing
      if (first == system.bodies().size()) first = k;
      parts.join(first, k);
    }
  };
  for (const auto& c : system.constraints()) join(c.bodies);
  for (const auto& f : system.forces()) join(f.bodies);
  return parts;
}

}  // namespace

void ErrorScale::begin(Flow& flow, const State& s, double tolerance) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const System& system = flow.system();
  share_ = std::max(least_share, 10 * epsilon / tolerance);
  round_off_ = 10 * epsilon / tolerance;
  bodies_.clear(), which_.clear(), kinds_.clear(), units_.clear(), kind_.clear();
  Components parts = connected(system);
  std::map<std::pair<std::size_t, std::string>, int> known;
  std::map<std::pair<int, std::string>, std::pair<double, double>> extent;  // of unit and coordinate: from, to
  std::vector<bool> is_length(static_cast<std::size_t>(system.size()), false);
  std::vector<int> body_of(system.bodies().size(), -1);
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const auto& b = system.bodies()[i];
    const auto units = b.model->units();
    const auto groups = b.model->groups();
    const auto names = b.model->coordinates();
    if (units.empty()) continue;
    body_of[i] = static_cast<int>(bodies_.size());
    bodies_.push_back({b.first, b.size, static_cast<int>(kinds_.size()), 0, -1});
    which_.push_back(i);
    Body& mine = bodies_.back();
    std::map<std::string, int> own;
    for (std::size_t j = 0; j < units.size(); ++j) {
      const bool length = units[j] == "m";
      const std::string key = units[j].empty() ? fmt::format("{}.{}", b.name, groups[j]) : units[j];
      const auto [unit, new_unit] =
          known.emplace(std::pair(parts.representative(i), key), static_cast<int>(units_.size()));
      if (new_unit) units_.push_back({length ? 0.0 : 1.0});
      const auto [kind, new_kind] = own.emplace(key, static_cast<int>(kinds_.size()));
      if (new_kind) kinds_.push_back({unit->second});
      if (length) mine.length = kind->second;
      kind_.push_back(kind->second);
      const Index at = b.first + static_cast<Index>(j);
      is_length[static_cast<std::size_t>(at)] = length;
      Unit& u = units_[static_cast<std::size_t>(unit->second)];
      u.far = std::max(u.far, std::abs(s.q[at]));
      if (length) {
        auto& [from, to] = extent.emplace(std::pair(unit->second, names[j]), std::pair(s.q[at], s.q[at])).first->second;
        from = std::min(from, s.q[at]);
        to = std::max(to, s.q[at]);
        u.size = std::max(u.size, to - from);
      }
    }
    mine.kinds = static_cast<int>(kinds_.size()) - mine.kind;
  }
  // Lever arms, and forces with the reactions that balance them.
  const Evaluation e = system.evaluate(s);
  VectorXd force = (e.Q + e.C).cwiseAbs();
  const VectorXd& lambda = flow.solver().lambda();
  for (const auto& c : system.constraints())
    for (std::size_t k = 0; k < c.bodies.size(); ++k) {
      const auto& b = system.bodies()[c.bodies[k]];
      if (body_of[c.bodies[k]] < 0) continue;
      const auto A = e.A(c.block + k);
      force.segment(b.first, b.size) += A.cwiseAbs().transpose() * lambda.segment(c.row, c.rows).cwiseAbs();
      const Body& mine = bodies_[static_cast<std::size_t>(body_of[c.bodies[k]])];
      if (mine.length < 0) continue;
      for (Index r = 0; r < c.rows; ++r) {
        double along = 0;
        for (Index j = 0; j < b.size; ++j)
          if (is_length[static_cast<std::size_t>(b.first + j)]) along += A(r, j) * A(r, j);
        if (along == 0) continue;
        for (int kind = mine.kind; kind < mine.kind + mine.kinds; ++kind) {
          if (kind == mine.length) continue;
          double across = 0;
          for (Index j = 0; j < b.size; ++j)
            if (kind_[static_cast<std::size_t>(b.first + j)] == kind) across += A(r, j) * A(r, j);
          double& lever = kinds_[static_cast<std::size_t>(kind)].lever;
          lever = std::max(lever, std::sqrt(across / along));
          Unit& u = units_[static_cast<std::size_t>(kinds_[static_cast<std::size_t>(mine.length)].unit)];
          u.size = std::max(u.size, lever);
        }
      }
    }
  for (Unit& u : units_)
    if (u.size == 0) u.size = 1, u.guessed = true;  // points that are all at one place: there is no other measure
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const auto M = e.M(which_[i]);
    for (Index j = 0; j < bodies_[i].size; ++j) {
      const Index at = bodies_[i].first + j;
      double& push = kinds_[static_cast<std::size_t>(kind_[static_cast<std::size_t>(at)])].push;
      if (M(j, j) > 0) push = std::max(push, force[at] / M(j, j));
    }
  }
  start_ = s.q;
  include(s.q, s.v);
}

void ErrorScale::include(const VectorXd& q, const VectorXd& v) {
  for (Index i = 0; i < q.size(); ++i) {
    Kind& k = kinds_[static_cast<std::size_t>(kind_[static_cast<std::size_t>(i)])];
    k.way = std::max(k.way, std::abs(q[i] - start_[i]));
    k.speed = std::max(k.speed, std::abs(v[i]));
  }
  measure();
}

void ErrorScale::measure() {
  for (const Kind& k : kinds_) {
    Unit& u = units_[static_cast<std::size_t>(k.unit)];
    u.way = std::max(u.way, k.way);
    u.speed = std::max(u.speed, k.speed);
  }
  for (const Body& b : bodies_) {
    Kind* const own = kinds_.data() + b.kind;
    // How far and how fast any of its points has moved.
    double way = 0, speed = 0;
    if (b.length >= 0) {
      way = kinds_[static_cast<std::size_t>(b.length)].way, speed = kinds_[static_cast<std::size_t>(b.length)].speed;
      for (int k = 0; k < b.kinds; ++k)
        way = std::max(way, own[k].lever * own[k].way), speed = std::max(speed, own[k].lever * own[k].speed);
    }
    double rate = 0;
    for (int k = 0; k < b.kinds; ++k) {
      const Unit& u = units_[static_cast<std::size_t>(own[k].unit)];
      const double arm = b.kind + k == b.length ? 1 : own[k].lever;
      const double size = std::max(u.size, u.way);
      own[k].least = least_share * size;
      own[k].q = std::max({own[k].way, arm > 0 ? way / arm : 0, share_ * size, round_off_ * u.far});
      own[k].v = std::max({own[k].speed, arm > 0 ? speed / arm : 0, share_ * u.speed});
      if (own[k].q > 0) rate = std::max(rate, own[k].speed / own[k].q);
    }
    for (int k = 0; k < b.kinds; ++k) own[k].v = std::max(own[k].v, rate * own[k].q);
  }
}

double ErrorScale::of_body(const Body& b, const VectorXd& dq, const VectorXd& dv, double h) const {
  double sum = 0;
  for (Index i = b.first; i < b.first + b.size; ++i) {
    const Kind& k = kinds_[static_cast<std::size_t>(kind_[static_cast<std::size_t>(i)])];
    const double push = share_ * k.push * h, q = std::max(k.q, push * h), v = std::max({k.v, push, k.least / h});
    sum += dq[i] * dq[i] / (q * q) + dv[i] * dv[i] / (v * v);
  }
  return std::sqrt(sum / static_cast<double>(2 * b.size));
}

double ErrorScale::norm(const VectorXd& dq, const VectorXd& dv, double h) const {
  double largest = 0;
  for (const Body& b : bodies_) {
    const double error = of_body(b, dq, dv, h);
    if (!(error <= largest)) largest = error;
    if (std::isnan(error)) break;
  }
  return largest;
}

std::size_t ErrorScale::worst_body(const VectorXd& dq, const VectorXd& dv, double h) const {
  double largest = -1;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < bodies_.size(); ++i)
    if (const double error = of_body(bodies_[i], dq, dv, h); !(error <= largest)) largest = error, worst = which_[i];
  return worst;
}

std::pair<VectorXd, VectorXd> ErrorScale::sizes() const {
  std::pair<VectorXd, VectorXd> out{start_, start_};
  for (Index i = 0; i < start_.size(); ++i) {
    const Kind& k = kinds_[static_cast<std::size_t>(kind_[static_cast<std::size_t>(i)])];
    out.first[i] = k.q;
    out.second[i] = k.v > 0 ? k.v : k.q;
  }
  return out;
}

VectorXd ErrorScale::extents() const {
  VectorXd out(start_.size());
  for (Index i = 0; i < start_.size(); ++i) {
    const Unit& u =
        units_[static_cast<std::size_t>(kinds_[static_cast<std::size_t>(kind_[static_cast<std::size_t>(i)])].unit)];
    constexpr double round_off = 1e-13;  // of what is held at 0
    const double far = std::max(u.far, u.way);
    out[i] = u.guessed && far > round_off ? far : std::max(u.size, u.way);
  }
  return out;
}

double ErrorScale::time_scale(const VectorXd& v, const VectorXd& a) const {
  double out = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < v.size(); ++i) {
    const Kind& k = kinds_[static_cast<std::size_t>(kind_[static_cast<std::size_t>(i)])];
    const Unit& u = units_[static_cast<std::size_t>(k.unit)];
    const double size = std::max(u.size, u.way);
    if (v[i] != 0) out = std::min(out, size / std::abs(v[i]));
    if (a[i] != 0) out = std::min(out, std::sqrt(size / std::abs(a[i])));
  }
  return out;
}

}  // namespace mortise
