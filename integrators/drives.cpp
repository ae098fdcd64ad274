#include <mortise/integrators/drives.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include <mortise/assembly/force_of.h>
#include <mortise/assembly/joint_of.h>

namespace mortise {
namespace {

constexpr int instants = Pace::instants;

// Parts of the library that take functions of time, and all parts of users.
bool may_depend_on_time(std::string_view kind) {
  constexpr std::array<std::string_view, 12> functions{
      "",          "rate",        "motor",     "applied_force",    "applied_torque", "holonomic", "nonholonomic",
      "potential", "dissipation", "subsystem", "coordinate_force", "lagrangian"};
  return kind.starts_with("drive") || std::find(functions.begin(), functions.end(), kind) != functions.end();
}

// The bodies of a part, at rest.  Where all have a frame they are put into motions once, and the part is asked there.
class AtRest {
 public:
  AtRest(const System& system, const std::vector<std::size_t>& bodies, bool of_frames, const State& s)
      : first_(system.firsts(bodies)) {
    for (const std::size_t k : bodies) {
      models_.push_back(system.bodies()[k].model);
      of_frames = of_frames && (models_.back()->size() == 0 || models_.back()->frame() >= 0);
      unknowns_ += models_.back()->unknowns();
    }
    if (of_frames) motions_.emplace(models_, s, first_);
  }
  bool framed() const { return motions_.has_value(); }
  Places places() const { return motions_->places(first_); }
  const std::vector<Index>& firsts() const { return first_; }
  const std::vector<std::shared_ptr<const BodyModel>>& models() const { return models_; }
  Index unknowns() const { return unknowns_; }

 private:
  std::vector<Index> first_;
  std::vector<std::shared_ptr<const BodyModel>> models_;
  std::optional<Motions> motions_;
  Index unknowns_ = 0;
};

// Values and b of a joint's rows, as functions of the time.
class RowsAt {
 public:
  RowsAt(const System& system, const System::ConstraintInfo& c, const State& s)
      : c_(c),
        bodies_(system, c.bodies, dynamic_cast<const JointModel*>(c.model.get()) != nullptr, s),
        rate_(c.rows),
        Y_(c.rows * bodies_.unknowns()) {
    for (const std::size_t k : c.bodies) blocks_.emplace_back(c.rows, system.bodies()[k].size);
    for (MatrixXd& m : blocks_) A_.emplace_back(m.data(), m.rows(), m.cols());
  }
  RowsAt(const RowsAt&) = delete;
  RowsAt& operator=(const RowsAt&) = delete;
  void operator()(const State& s, VectorXd& out) {
    out.resize(2 * c_.rows);
    if (bodies_.framed())
      c_.model->evaluate(s, bodies_.places(), Y_.data(), out.data(), rate_.data(), out.data() + c_.rows);
    else
      c_.model->evaluate(s, bodies_.firsts(), out.head(c_.rows), out.tail(c_.rows), A_);
  }

 private:
  const System::ConstraintInfo& c_;
  AtRest bodies_;
  VectorXd rate_, Y_;
  std::vector<MatrixXd> blocks_;
  std::vector<Eigen::Map<MatrixXd>> A_;
};

// A force, on what its bodies know.
class ForceAt {
 public:
  ForceAt(const System& system, const System::ForceInfo& f, const State& s)
      : f_(f), bodies_(system, f.bodies, dynamic_cast<const ForcePart*>(f.model.get()) != nullptr, s) {
    if (bodies_.framed()) return;
    all_ = VectorXd::Zero(system.size());
    for (const std::size_t k : f.bodies)
      for (Index i = 0; i < system.bodies()[k].size; ++i) on_.push_back(system.bodies()[k].first + i);
  }
  void operator()(const State& s, VectorXd& out) {
    if (bodies_.framed()) {
      out.setZero(bodies_.unknowns());
      to_.clear();
      double* first = out.data();
      for (const auto& b : bodies_.models()) to_.push_back(first), first += b->unknowns();
      f_.model->act(s, bodies_.places(), to_.data());
      return;
    }
    for (const Index i : on_) all_[i] = 0;
    f_.model->act(s, bodies_.firsts(), all_);
    out.resize(static_cast<Index>(on_.size()));
    for (std::size_t i = 0; i < on_.size(); ++i) out[static_cast<Index>(i)] = all_[on_[i]];
  }

 private:
  const System::ForceInfo& f_;
  AtRest bodies_;
  std::vector<Index> on_;
  std::vector<double*> to_;
  VectorXd all_;
};

}  // namespace

bool depends_on_time(const System::ConstraintInfo& c) { return !c.own && may_depend_on_time(c.model->kind()); }

namespace {

// The values of a part at all instants, one in a column, and what they show.
class Values {
 public:
  using At = std::function<void(double, VectorXd&)>;
  Values(const At& at, double from, double to, double apart) : at_(at), from_(from), to_(to), apart_(apart) {
    for (int k = 0; k <= instants; ++k) {
      at(time(k), x_);
      if (k == 0) values_.resize(x_.size(), instants + 1);
      values_.col(k) = x_;
      constant_ = constant_ && x_ == values_.col(0);
    }
    range_ = values_.rowwise().maxCoeff() - values_.rowwise().minCoeff();
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
        while (b - a > apart_) {
          const double m = 0.5 * (a + b);
          if (!(m > a && m < b)) break;
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

  // Where it jumps: far more between two instants than before or after, and most of it between two times that hardly
  // differ.
  void add_jumps(std::vector<Breakpoint>& out) {
    constexpr double clear = 5, sure = 0.5;
    constexpr int most = 1000;
    int tried = 0;
    std::vector<double> way(instants + 2, 0.0);
    for (int k = 1; k <= instants; ++k)
      way[static_cast<std::size_t>(k)] = scaled(values_.col(k) - values_.col(k - 1));
    for (int k = 1; k <= instants && tried < most; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double jump = way[at];
      if (!(jump > clear * std::min(way[at - 1], way[at + 1]))) continue;
      ++tried;
      double a = time(k - 1), b = time(k);
      VectorXd left = values_.col(k - 1), right = values_.col(k);
      while (b - a > apart_) {
        const double m = 0.5 * (a + b);
        if (!(m > a && m < b)) break;
        at_(m, x_);
        if (scaled(x_ - left) > scaled(right - x_))
          b = m, right = x_;
        else
          a = m, left = x_;
      }
      if (scaled(right - left) > sure * jump) out.push_back({a, 0});
    }
  }

  // Where its fourth differences come to be far above those of most of the run: it does something there that a
  // polynomial through its neighbours does not.
  void add_sudden(std::vector<Breakpoint>& out) const {
    constexpr double clear = 1e-3, far = 100;  // of its range; of the median
    constexpr int calm = 16;                   // instants before
    std::vector<double> difference(instants + 1, 0.0);
    for (int k = 2; k + 2 <= instants; ++k)
      difference[static_cast<std::size_t>(k)] =
          scaled(values_.col(k - 2) - 4 * values_.col(k - 1) + 6 * values_.col(k) - 4 * values_.col(k + 1) +
                 values_.col(k + 2));
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

  // Halves of halves of the run, down to those on which the cubic through four of its values is near all of them.
  void limit(std::vector<double>& most, int begin = 0, int end = instants) const {
    constexpr double near = 0.1;  // of its range
    const int third = (end - begin) / 3;
    const std::array<int, 4> at{begin, begin + third, begin + 2 * third, end};
    bool good = third > 0;
    for (int k = begin + 1; k < end && good; ++k) {
      std::array<double, 4> weight{1, 1, 1, 1};
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j)
          if (j != i) weight[i] *= static_cast<double>(k - at[j]) / (at[i] - at[j]);
      for (Index r = 0; r < range_.size() && good; ++r) {
        double off = values_(r, k);
        for (std::size_t i = 0; i < 4; ++i) off -= weight[i] * values_(r, at[i]);
        good = std::abs(off) <= near * range_[r];
      }
    }
    if (!good && end - begin > 1) {
      limit(most, begin, (begin + end) / 2);
      limit(most, (begin + end) / 2, end);
      return;
    }
    if (end - begin == instants) return;  // it is no matter of time
    for (int k = begin; k < end; ++k) {
      double& here = most[static_cast<std::size_t>(k)];
      here = std::min(here, time(end) - time(begin));
    }
  }

 private:
  double time(int k) const { return from_ + (to_ - from_) * k / instants; }
  template <class X> double scaled(const X& change) const {  // the largest share of its range
    double out = 0;
    for (Index i = 0; i < range_.size(); ++i)
      if (range_[i] > 0) out = std::max(out, std::abs(change[i]) / range_[i]);
    return out;
  }

  const At& at_;
  double from_, to_, apart_;
  VectorXd x_, range_;
  MatrixXd values_;
  bool constant_ = true;
};

}  // namespace

Pace::Pace(double from, double to, const std::vector<double>& most)
    : from_(from), piece_((to - from) / instants), reach_(instants) {
  // As far as the shortest on the way allows, which is kept in a queue that ascends.
  std::deque<int> shortest;
  int end = 0;
  for (int k = 0; k < instants; ++k) {
    while (end < instants) {
      const double next = most[static_cast<std::size_t>(end)];
      const double limit = shortest.empty() ? next : std::min(next, most[static_cast<std::size_t>(shortest.front())]);
      if (end > k && limit < 0.999 * piece_ * (end + 1 - k)) break;
      while (!shortest.empty() && most[static_cast<std::size_t>(shortest.back())] >= next) shortest.pop_back();
      shortest.push_back(end++);
    }
    // At least two pieces, so that steps from late in a piece are not cut to nothing.
    reach_[static_cast<std::size_t>(k)] =
        end == instants ? std::numeric_limits<double>::infinity() : from + piece_ * std::max(end, k + 2);
    if (!shortest.empty() && shortest.front() == k) shortest.pop_front();
  }
}

double Pace::longest(double t) const {
  if (reach_.empty()) return std::numeric_limits<double>::infinity();
  const auto k = static_cast<std::size_t>(std::clamp((t - from_) / piece_, 0.0, instants - 1.0));
  return reach_[k] - t;
}

Course course_of(const System& system, const State& start, double end, double resolution) {
  const double apart = 4 * resolution;
  std::vector<Breakpoint> told, seen;
  std::vector<double> most(instants, std::numeric_limits<double>::infinity());
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
      const Values::At at = [&](double t, VectorXd& x) {
        s.t = t;
        values(s, x);
      };
      Values course(at, start.t, end, resolution);
      if (course.constant()) return;
      course.add_jumps(seen);
      course.add_beginnings(seen);
      course.add_sudden(seen);
      course.limit(most);
    } catch (...) {  // reported when the run comes there
      seen.resize(before);
    }
  };
  for (std::size_t i = 0; i < system.constraints().size(); ++i) {
    const auto& c = system.constraints()[i];
    if (!c.own && !std::binary_search(s.off.begin(), s.off.end(), i) && !tells(*c.model))
      look(*c.model, [&] { return RowsAt(system, c, s); });
  }
  for (const auto& f : system.forces())
    if (!tells(*f.model)) look(*f.model, [&] { return ForceAt(system, f, s); });
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
  Course out;
  for (const Breakpoint& b : all) {
    const bool at_start = b.step > 0 && std::abs(b.t - start.t) <= apart;
    if (!at_start && !(b.t > start.t + apart && b.t < end - apart)) continue;
    if (!out.breaks.empty() && b.t - out.breaks.back().t < apart) {
      double& step = out.breaks.back().step;
      if (b.step > 0) step = step > 0 ? std::min(step, b.step) : b.step;
      continue;
    }
    out.breaks.push_back(b);
  }
  if (std::any_of(most.begin(), most.end(), [](double h) { return std::isfinite(h); }))
    out.pace = Pace(start.t, end, most);
  return out;
}

}  // namespace mortise
