#include <mortise/integrators/drives.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

namespace mortise {
namespace {

constexpr int instants = 4096;

// Parts of the library that take functions of time, and all parts of users.
bool may_depend_on_time(std::string_view kind) {
  constexpr std::array<std::string_view, 9> functions{
      "",          "rate", "motor", "applied_force", "applied_torque", "holonomic", "nonholonomic", "coordinate_force",
      "lagrangian"};
  return kind.starts_with("drive") || std::find(functions.begin(), functions.end(), kind) != functions.end();
}

// Values and b of a joint's rows, as functions of the state.
class RowsAt {
 public:
  RowsAt(const System& system, const System::ConstraintInfo& c) : c_(c), first_(system.firsts(c.bodies)) {
    for (const std::size_t k : c.bodies) blocks_.emplace_back(c.rows, system.bodies()[k].size);
    for (MatrixXd& m : blocks_) A_.emplace_back(m.data(), m.rows(), m.cols());
  }
  RowsAt(const RowsAt&) = delete;
  RowsAt& operator=(const RowsAt&) = delete;
  void operator()(const State& s, VectorXd& out) {
    out.resize(2 * c_.rows);
    c_.model->evaluate(s, first_, out.head(c_.rows), out.tail(c_.rows), A_);
  }

 private:
  const System::ConstraintInfo& c_;
  std::vector<Index> first_;
  std::vector<MatrixXd> blocks_;
  std::vector<Eigen::Map<MatrixXd>> A_;
};

// The same of a force, on the bodies it acts on.
class ForceAt {
 public:
  ForceAt(const System& system, const System::ForceInfo& f)
      : f_(f), first_(system.firsts(f.bodies)), all_(VectorXd::Zero(system.size())) {
    for (const std::size_t k : f.bodies)
      for (Index i = 0; i < system.bodies()[k].size; ++i) on_.push_back(system.bodies()[k].first + i);
  }
  void operator()(const State& s, VectorXd& out) {
    for (const Index i : on_) all_[i] = 0;
    f_.model->act(s, first_, all_);
    out.resize(static_cast<Index>(on_.size()));
    for (std::size_t i = 0; i < on_.size(); ++i) out[static_cast<Index>(i)] = all_[on_[i]];
  }

 private:
  const System::ForceInfo& f_;
  std::vector<Index> first_, on_;
  VectorXd all_;
};

}  // namespace

bool depends_on_time(const System& system, const System::ConstraintInfo& c, const State& s) {
  if (c.own) return false;
  if (may_depend_on_time(c.model->kind())) return true;
  try {
    RowsAt rows(system, c);
    VectorXd now, then;
    rows(s, now);
    State later = s;
    for (const double wait : {1e-3, 0.11, 0.73, 17.3, 1234.5}) {
      later.t = s.t + wait;
      rows(later, then);
      if (then != now) return true;
    }
    return false;
  } catch (...) {
    return true;
  }
}

namespace {

// The values of a part at all instants, one in a column, and what they show.
class Course {
 public:
  using Values = std::function<void(double, VectorXd&)>;
  Course(const Values& at, double from, double to) : at_(at), from_(from), to_(to) {
    for (int k = 0; k <= instants; ++k) {
      at(time(k), x_);
      if (k == 0) values_.resize(x_.size(), instants + 1);
      values_.col(k) = x_;
      constant_ = constant_ && x_ == values_.col(0);
    }
  }
  bool constant() const { return constant_; }

  // Where it begins to change after it did not, with a tenth of how long it then acts.
  void add_beginnings(std::vector<Breakpoint>& out) {
    constexpr double share = 0.1;
    const std::size_t before = out.size();
    bool resting = true;
    for (int k = 1; k <= instants; ++k) {
      const bool changes = values_.col(k) != values_.col(k - 1);
      if (changes && resting) {
        double a = time(k - 1), b = time(k);
        for (int i = 0; i < 60 && b - a > 1e-12 * (to_ - from_); ++i) {
          const double m = 0.5 * (a + b);
          at_(m, x_);
          (x_ == values_.col(k - 1) ? a : b) = m;
        }
        out.push_back({a, share * (time(k) - a)});
      } else if (changes && out.size() > before) {
        out.back().step = share * (time(k) - out.back().t);
      }
      resting = !changes;
    }
  }

  // Where its fourth differences come to be far above those of most of the run: it does something there that a
  // polynomial through its neighbours does not.
  void add_sudden(std::vector<Breakpoint>& out) const {
    constexpr double clear = 1e-3, far = 100;  // of its range; of the median
    constexpr int calm = 16;                   // instants before
    const VectorXd range = values_.rowwise().maxCoeff() - values_.rowwise().minCoeff();
    std::vector<double> difference(instants + 1, 0.0);
    for (int k = 2; k + 2 <= instants; ++k)
      for (Index i = 0; i < values_.rows(); ++i) {
        if (!(range[i] > 0)) continue;
        const double d =
            values_(i, k - 2) - 4 * values_(i, k - 1) + 6 * values_(i, k) - 4 * values_(i, k + 1) + values_(i, k + 2);
        difference[static_cast<std::size_t>(k)] =
            std::max(difference[static_cast<std::size_t>(k)], std::abs(d) / range[i]);
      }
    std::vector<double> sorted = difference;
    std::nth_element(sorted.begin(), sorted.begin() + instants / 2, sorted.end());
    const double limit = std::max(clear, far * sorted[instants / 2]);
    int quiet = 0;
    for (int k = 0; k <= instants; ++k) {
      const bool sudden = difference[static_cast<std::size_t>(k)] > limit;
      if (sudden && quiet >= calm) out.push_back({time(k - 3), 0.5 * (time(1) - time(0))});
      quiet = sudden ? 0 : quiet + 1;
    }
  }

 private:
  double time(int k) const { return from_ + (to_ - from_) * k / instants; }

  const Values& at_;
  double from_, to_;
  VectorXd x_;
  MatrixXd values_;
  bool constant_ = true;
};

}  // namespace

std::vector<Breakpoint> breakpoints(const System& system, const State& start, double end, double apart) {
  std::vector<Breakpoint> told, seen;
  State s = start;
  s.v.setZero();
  const auto tells = [&](const PartModel& part) {
    const std::vector<double> own = part.breakpoints(start.t, end);
    for (const double t : own) told.push_back({t, 0});
    return !own.empty();
  };
  const auto look = [&](const auto& part, const auto& values_at) {
    if (!may_depend_on_time(part.kind())) return;
    const std::size_t before = seen.size();
    try {
      auto values = values_at();
      const Course::Values at = [&](double t, VectorXd& x) {
        s.t = t;
        values(s, x);
      };
      Course course(at, start.t, end);
      if (course.constant()) return;
      course.add_beginnings(seen);
      course.add_sudden(seen);
    } catch (...) {  // reported when the run comes there
      seen.resize(before);
    }
  };
  for (std::size_t i = 0; i < system.constraints().size(); ++i) {
    const auto& c = system.constraints()[i];
    if (!c.own && !std::binary_search(s.off.begin(), s.off.end(), i) && !tells(*c.model))
      look(*c.model, [&] { return RowsAt(system, c); });
  }
  for (const auto& f : system.forces())
    if (!tells(*f.model)) look(*f.model, [&] { return ForceAt(system, f); });
  for (const auto& b : system.bodies())
    if (b.size > 0)
      look(*b.model, [&] { return [&](const State& at, VectorXd& out) { out = b.model->force(at, b.first); }; });
  // What is seen next to what is told is the same.
  const double blur = 8 * (end - start.t) / instants;
  std::vector<Breakpoint> all = told;
  for (const Breakpoint& b : seen)
    if (std::none_of(told.begin(), told.end(), [&](const Breakpoint& x) { return std::abs(x.t - b.t) < blur; }))
      all.push_back(b);
  std::sort(all.begin(), all.end(), [](const Breakpoint& a, const Breakpoint& b) { return a.t < b.t; });
  std::vector<Breakpoint> out;
  for (const Breakpoint& b : all) {
    const bool at_start = b.step > 0 && std::abs(b.t - start.t) <= apart;
    if (!at_start && !(b.t > start.t + apart && b.t < end - apart)) continue;
    if (!out.empty() && b.t - out.back().t < apart) {
      if (b.step > 0) out.back().step = out.back().step > 0 ? std::min(out.back().step, b.step) : b.step;
      continue;
    }
    out.push_back(b);
  }
  return out;
}

}  // namespace mortise
