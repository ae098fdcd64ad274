#include <mortise/integrators/simulate.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include <mortise/integrators/checkpoint.h>

namespace mortise {
namespace {

// The joints whose rows are off the most, in words: "'hinge' 0.12, 'rod' 0.03".
std::string largest_gaps(const System& system, const VectorXd& phi) {
  std::vector<std::pair<double, std::string>> gaps;
  for (const auto& c : system.constraints())
    if (const double off = phi.segment(c.row, c.rows).cwiseAbs().maxCoeff(); off > 0) gaps.emplace_back(off, c.name);
  std::stable_sort(gaps.begin(), gaps.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t most = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(most, gaps.size()); ++i)
    out += fmt::format("{}'{}' {:.2g}", i ? ", " : "", gaps[i].second, gaps[i].first);
  return out + (gaps.size() > most ? ", ..." : "");
}

void settle_start(const System& system, Flow& flow, State& s) {
  try {
    flow.settle(s);
  } catch (const NotConverged&) {
    (void)system.evaluate(s);  // if it is a functor that is not finite there, that is the reason
    const VectorXd phi = flow.solver().phi();
    Label{"start of", system.name()}.fail<NotConverged>(
        "no state on the constraints was found near it; the joints that are off the most: " + largest_gaps(system, phi),
        "start nearer to a pose that can be, or check whether these joints contradict each other (check_rank)");
  }
}

// What forces and joints put into the system per second: the rate of T + V.
class Power {
 public:
  Power(const System& system, Flow& flow, const State& start, double duration) : system_(system), flow_(flow) {
    for (const auto& c : system.constraints()) by_joints_ = by_joints_ || !c.model->ideal() || c.model->reacts();
    // Joints that move by themselves: their rows have a rate where nothing else moves.
    State s = start;
    s.v.setZero();
    for (const double part : {0.0, 0.1370, 0.3821, 0.6180, 0.8912}) {
      s.t = start.t + part * duration;
      try {
        (void)flow.solver().solve(s);
      } catch (const Error&) {
        by_joints_ = true;  // to be safe
        break;
      }
      by_joints_ = by_joints_ || !flow.solver().rate().isZero(0);
    }
    needed_ = by_joints_ || !system.forces().empty();
    for (const auto& b : system.bodies()) needed_ = needed_ || b.model->stored(start, b.first).has_value();
  }
  bool needed() const { return needed_; }
  double operator()(const State& s) const {
    double power = 0;
    for (const Contribution& c : system_.contributions(s)) power += c.input;
    if (!by_joints_) return power;
    (void)flow_.solver().solve(s);
    const Evaluation e = system_.evaluate(s);
    const VectorXd& lambda = flow_.solver().lambda();
    for (std::size_t k = 0; k < e.layout().A.size(); ++k) {
      const auto& block = e.layout().A[k];
      power += lambda.segment(block.row, block.rows).dot(e.A(k) * s.v.segment(block.first, block.size));
    }
    return power + e.C.dot(s.v) + (flow_.solver().friction().size() ? flow_.solver().friction().dot(s.v) : 0);
  }

 private:
  const System& system_;
  Flow& flow_;
  bool by_joints_ = false, needed_ = false;
};

class Run {
 public:
  Run(const System& system, const State& start, const SimulationOptions& options)
      : system_(system),
        options_(options),
        flow_(system, options.solver),
        readings_(system, options.record),
        stepper_(make_stepper(options.integrator, options.steps)) {
    const Label label{"run of", system.name()};
    const auto require = [&](bool ok, const char* what, double value, const char* remedy) {
      label.require(ok, fmt::format("{} = {} s", what, value), remedy);
    };
    require(options.duration > 0 && std::isfinite(options.duration), "duration", options.duration, "give a number > 0");
    require(options.sample >= 0 && std::isfinite(options.sample), "sample", options.sample, "give a number >= 0");
    label.require(system.size() > 0, "it has no coordinates", "add bodies that can move");
    for (const Event& e : options.events)
      Label{"event", e.name}.require(static_cast<bool>(e.value), "it has no function", "give value(state)");
    const auto& save = options.checkpoint;
    require(save.every >= 0 && std::isfinite(save.every), "checkpoint.every", save.every, "give a number >= 0");
    label.require((save.every > 0) == !save.file.empty(), "a checkpoint needs both a file and a time between",
                  "give checkpoint.file and checkpoint.every > 0, or neither");
    system.require_state(start);
    state_ = start;
    begin_ = start.t;
    end_ = start.t + options.duration;
    out_.system = system.name();
    out_.integrator = options.integrator;
    out_.columns = readings_.columns();
    for (const auto& c : system.constraints())
      if (!c.own) out_.drift.push_back({c.name, 0});
  }

  Trajectory go() {
    settle_start(system_, flow_, state_);
    leave_out("left out");
    power_.emplace(system_, flow_, state_, options_.duration);
    const bool resumed = options_.checkpoint.resume && std::filesystem::exists(options_.checkpoint.file);
    if (resumed) load();
    try {
      stepper_->begin(flow_, state_);
      if (!resumed) {
        reference_ = system_.energy(state_).total();
        if (power_->needed()) last_power_ = (*power_)(state_);
        for (const Event& e : options_.events) crossings_.push_back(e.value(state_));
        record(state_);
      }
      out_.finished = true;
      while (state_.t < end_ && out_.finished) {
        one_step();
        if (state_.t == checkpoint_time(saved_) && state_.t < end_ && out_.finished) {
          ++saved_;
          save();
          stepper_->begin(flow_, state_);
        }
      }
    } catch (const Error& error) {
      out_.finished = false;
      out_.stopped = error.what();
    }
    if (options_.sample > 0 &&
        (out_.samples() == 0 || out_.values[out_.values.size() - out_.columns.size()] < state_.t))
      try {
        record(state_);
      } catch (const Error&) {  // said already
      }
    out_.last = state_;
    out_.steps = stepper_->steps();
    out_.rejected = stepper_->rejected();
    out_.evaluations = flow_.evaluations();
    return std::move(out_);
  }

 private:
  void leave_out(const char* kind) {
    const std::vector<Index> before = flow_.solver().left_out();
    const auto& rows = flow_.solver().leave_out_dependent(state_);
    if (rows.empty() || rows == before) return;
    std::string names;
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) names += (i ? ", " : "") + system_.row(rows[i]).name;
    if (rows.size() > most) names += fmt::format(" and {} more", rows.size() - most);
    out_.notes.push_back({state_.t, kind, names + ": redundant, the other rows hold them"});
  }

  void one_step() {
    stepper_->step(std::min(end_, checkpoint_time(saved_)));
    note_drift();
    State now = stepper_->state();
    watch_rank(now);
    const std::optional<std::size_t> hit = first_event(now);
    balance(now);
    sample_until(now);
    state_ = now;
    if (stray_) choose_again();
    if (hit) happen(options_.events[*hit]);
    if (options_.progress && !options_.progress(state_.t, end_)) {
      out_.finished = false;
      out_.stopped = fmt::format("stopped by the caller at t = {:g} s", state_.t);
    }
  }

  double checkpoint_time(Index k) const {
    const double every = options_.checkpoint.every;
    return every > 0 ? begin_ + every * static_cast<double>(k) : std::numeric_limits<double>::infinity();
  }

  // What a file must agree with, by name.
  std::vector<std::pair<std::string, std::string>> settings() const {
    const auto exact = [](double x) { return fmt::format("{}", x); };
    std::vector<std::pair<std::string, std::string>> out{{"system", system_.name()},
                                                         {"integrator", options_.integrator},
                                                         {"tolerance", exact(options_.steps.tolerance)},
                                                         {"step", exact(options_.steps.step)},
                                                         {"largest step", exact(options_.steps.largest)},
                                                         {"sample", exact(options_.sample)},
                                                         {"time between checkpoints", exact(options_.checkpoint.every)},
                                                         {"start time", exact(begin_)}};
    for (Index i = 0; i < system_.size(); ++i)
      out.emplace_back(fmt::format("coordinate {}", i + 1), system_.coordinate(i));
    for (Index i = 0; i < system_.rows(); ++i) out.emplace_back(fmt::format("row {}", i + 1), system_.row(i).name);
    for (const auto& c : out_.columns) out.emplace_back("column", c.name);
    for (const Event& e : options_.events) out.emplace_back("event", e.name);
    return out;
  }

  void save() {
    CheckpointWriter w;
    std::vector<std::string> words;
    for (const auto& [name, value] : settings()) words.push_back(name + " = " + value);
    w.words("settings", words);
    w.number("t", state_.t);
    w.numbers("q", state_.q);
    w.numbers("v", state_.v);
    w.numbers("acceleration", flow_.solver().solve(state_));
    std::vector<double> left_out;
    for (const Index i : flow_.solver().left_out()) left_out.push_back(static_cast<double>(i));
    w.numbers("left_out", left_out);
    w.numbers("run",
              std::vector<double>{reference_, last_power_, static_cast<double>(next_), static_cast<double>(saved_),
                                  independence_, most_independent_, out_.energy_error,
                                  static_cast<double>(stepper_->steps()), static_cast<double>(stepper_->rejected()),
                                  static_cast<double>(stepper_->rough()), static_cast<double>(flow_.evaluations())});
    w.numbers("crossings", crossings_);
    w.numbers("values", out_.values);
    std::vector<double> drift, times;
    for (const auto& d : out_.drift) drift.push_back(d.largest);
    w.numbers("drift", drift);
    words.clear();
    for (const auto& n : out_.notes) {
      times.push_back(n.t);
      words.push_back(n.kind);
      words.push_back(n.text);
    }
    w.numbers("note_times", times);
    w.words("notes", words);
    replace_file(options_.checkpoint.file, w.text());
  }

  void load() {
    const std::string& file = options_.checkpoint.file;
    const CheckpointReader r(file);
    const auto refuse = [&](const std::string& fact) {
      Label{"checkpoint", file}.fail<InvalidModel>("it is of another run: " + fact,
                                                   "resume with the model and the options it was made with");
    };
    const auto& words = r.words("settings");
    const auto mine = settings();
    for (std::size_t i = 0; i < std::max(words.size(), mine.size()); ++i) {
      const std::string here = i < mine.size() ? mine[i].first + " = " + mine[i].second : "nothing";
      const std::string there = i < words.size() ? words[i] : "nothing";
      if (here != there) refuse(fmt::format("there {}, here {}", there, here));
    }
    const auto vector = [&](const char* key, std::size_t size) {
      const auto& x = r.numbers(key);
      if (x.size() != size) refuse(fmt::format("'{}' has {} numbers, here {}", key, x.size(), size));
      return x;
    };
    const auto n = static_cast<std::size_t>(system_.size());
    state_.t = r.number("t");
    const auto q = vector("q", n), v = vector("v", n), a = vector("acceleration", n);
    state_.q = Eigen::Map<const VectorXd>(q.data(), system_.size());
    state_.v = Eigen::Map<const VectorXd>(v.data(), system_.size());
    std::vector<Index> rows;
    for (const double i : r.numbers("left_out")) rows.push_back(static_cast<Index>(i));
    flow_.solver().leave_out(rows);
    const VectorXd& now = flow_.solver().solve(state_);
    Index at = 0;
    const auto then = Eigen::Map<const VectorXd>(a.data(), system_.size());
    if ((now - then).cwiseAbs().maxCoeff(&at) != 0)
      refuse(fmt::format("at t = {} {}'' was {} there and is {} here", state_.t, system_.coordinate(at), then[at],
                         now[at]));
    const auto run = vector("run", 11);
    reference_ = run[0], last_power_ = run[1];
    next_ = static_cast<Index>(run[2]), saved_ = static_cast<Index>(run[3]);
    independence_ = run[4], most_independent_ = run[5], out_.energy_error = run[6];
    stepper_->count_from(static_cast<Index>(run[7]), static_cast<Index>(run[8]), static_cast<Index>(run[9]));
    flow_.count_from(static_cast<Index>(run[10]));
    crossings_ = vector("crossings", options_.events.size());
    out_.values = r.numbers("values");
    if (out_.values.empty() || out_.values.size() % out_.columns.size() != 0) refuse("its samples are not whole");
    readings_.resume(Eigen::Map<const VectorXd>(out_.values.data() + out_.values.size() - out_.columns.size(),
                                                static_cast<Index>(out_.columns.size())));
    const auto drift = vector("drift", out_.drift.size());
    for (std::size_t i = 0; i < drift.size(); ++i) out_.drift[i].largest = drift[i];
    const auto& times = r.numbers("note_times");
    const auto& notes = r.words("notes");
    if (notes.size() != 2 * times.size()) refuse("its notes are not whole");
    out_.notes.clear();
    for (std::size_t i = 0; i < times.size(); ++i) out_.notes.push_back({times[i], notes[2 * i], notes[2 * i + 1]});
  }

  void note_drift() {
    const VectorXd& phi = flow_.solver().phi();
    std::size_t k = 0;
    for (const auto& c : system_.constraints()) {
      if (c.own) continue;
      const double off = c.holonomic > 0 ? phi.segment(c.row, c.holonomic).cwiseAbs().maxCoeff() : 0;
      out_.drift[k].largest = std::max(out_.drift[k].largest, off);
      ++k;
    }
    constexpr double held = 1e-9;  // of the largest coordinate
    const double size = std::max(1.0, stepper_->state().q.cwiseAbs().maxCoeff());
    for (const Index i : flow_.solver().left_out()) stray_ = stray_ || std::abs(phi[i]) > held * size;
  }

  // A pose within the last step where rows come to depend on each other, and the mechanism gains freedoms.
  void watch_rank(const State& now) {
    constexpr double look = 0.5, singular = 1e-3;  // of the largest independence so far
    const double before = independence_, after = independence_ = flow_.solver().independence();
    most_independent_ = std::max(most_independent_, after);
    if (std::min(before, after) > look * most_independent_) return;
    const auto independence = [&](double t) {
      stepper_->at(t, between_);
      return flow_.solver().independence(between_);
    };
    const double golden = 0.5 * (std::sqrt(5.0) - 1), h = now.t - state_.t;
    constexpr double edge = 1e-4;  // of the step; falling at its start and rising at its end, or there is none within
    if (independence(state_.t + edge * h) >= before || independence(now.t - edge * h) >= after) return;
    double a = state_.t, b = now.t, x = b - golden * (b - a), y = a + golden * (b - a);
    double fx = independence(x), fy = independence(y);
    while (b - a > 1e-6 * h) {
      if (fx < fy) {
        b = y, y = x, fy = fx;
        fx = independence(x = b - golden * (b - a));
      } else {
        a = x, x = y, fx = fy;
        fy = independence(y = a + golden * (b - a));
      }
    }
    const double t = 0.5 * (a + b), least = independence(t);
    if (least > singular * most_independent_) return;
    const auto rows = flow_.solver().dependent_rows();
    constexpr std::size_t most = 8;
    std::string names;
    for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) names += (i ? ", " : "") + rows[i];
    if (rows.size() > most) names += fmt::format(" and {} more", rows.size() - most);
    out_.notes.push_back({t, "singular pose",
                          names.empty() ? "rows nearly depend on each other" : names + " depend on each other there"});
  }

  // The rows that were left out are not held by the others any more.
  void choose_again() {
    stray_ = false;
    flow_.solver().leave_out({});
    flow_.settle(state_);
    leave_out("left out");
    stepper_->begin(flow_, state_);
  }

  // T + V less what was put in, by the formula of Lobatto with four points on each step.
  void balance(const State& now) {
    const double energy = system_.energy(now).total();
    if (power_->needed()) {
      const double h = now.t - state_.t, r = 0.5 / std::sqrt(5.0);
      double inner = 0;
      for (const double x : {0.5 - r, 0.5 + r}) {
        stepper_->at(state_.t + x * h, between_);
        inner += (*power_)(between_);
      }
      const double power = (*power_)(now);
      reference_ += h / 12 * (last_power_ + 5 * inner + power);
      last_power_ = power;
    }
    out_.energy_error = std::max(out_.energy_error, std::abs(energy - reference_));
  }

  void sample_until(const State& now) {
    if (options_.sample == 0) return record(now);
    for (;; ++next_) {
      const double t = begin_ + static_cast<double>(next_) * options_.sample;
      if (t > now.t) return;
      if (t == now.t) {
        record(now);
      } else {
        stepper_->at(t, between_);
        flow_.settle(between_);
        record(between_);
      }
    }
  }

  void record(const State& s) {
    const VectorXd& row = readings_.read(s, flow_.solver());
    out_.values.insert(out_.values.end(), row.data(), row.data() + row.size());
    if (s.t == begin_) next_ = 1;
  }

  // The first crossing within the step; `now` is then moved back to just behind it, if the event does something.
  std::optional<std::size_t> first_event(State& now) {
    std::optional<std::size_t> first;
    double t_first = now.t;
    std::vector<double> values;
    for (std::size_t i = 0; i < options_.events.size(); ++i) {
      const Event& e = options_.events[i];
      const double before = crossings_[i], after = e.value(now);
      if (!std::isfinite(after))
        Label{"event", e.name}.fail<NonFinite>(fmt::format("its value is {} at t = {}", after, now.t),
                                               "check its formula");
      values.push_back(after);
      const bool up = before < 0 && after >= 0, down = before > 0 && after <= 0;
      if (!((up && e.direction >= 0) || (down && e.direction <= 0))) continue;
      const double t = locate(e, before, now);
      if (e.stop || e.change) {
        if (t <= t_first) t_first = t, first = i;
      } else {
        found_.push_back({t, "event", e.name});
      }
    }
    if (first) {
      found_.push_back({t_first, "event", options_.events[*first].name});
      if (t_first < now.t) {
        stepper_->at(t_first, now);
        flow_.settle(now);
        for (std::size_t i = 0; i < options_.events.size(); ++i) values[i] = options_.events[i].value(now);
      }
    }
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
    for (const auto& n : found_)
      if (n.t <= t_first) out_.notes.push_back(n);
    found_.clear();
    crossings_ = values;
    return first;
  }

  // By bisection and the rule of false position in turn, to the last digits of t.
  double locate(const Event& e, double before, const State& now) {
    double a = state_.t, b = now.t, fa = before, fb = e.value(now);
    State s;
    for (int k = 0; k < 200 && b - a > 4e-16 * std::max(std::abs(a), std::abs(b)) && fb != 0; ++k) {
      double t = k % 2 == 0 ? a + (b - a) * fa / (fa - fb) : 0.5 * (a + b);
      if (!(t > a && t < b)) t = 0.5 * (a + b);
      if (t <= a || t >= b) break;
      stepper_->at(t, s);
      const double f = e.value(s);
      if ((f < 0) == (fa < 0) && f != 0)
        a = t, fa = f;
      else
        b = t, fb = f;
    }
    return b;
  }

  void happen(const Event& e) {
    if (e.change) {
      const double before = system_.energy(state_).total();
      e.change(state_);
      system_.require_state(state_);
      flow_.settle(state_);
      leave_out("left out");
      reference_ += system_.energy(state_).total() - before;
      if (power_->needed()) last_power_ = (*power_)(state_);
    }
    if (e.stop) {
      end_ = state_.t;
      return;
    }
    stepper_->begin(flow_, state_);
    for (std::size_t i = 0; i < options_.events.size(); ++i) {
      crossings_[i] = options_.events[i].value(state_);
      if (&options_.events[i] == &e) crossings_[i] = 0;  // it does not happen again at once
    }
  }

  const System& system_;
  const SimulationOptions& options_;
  Flow flow_;
  Readings readings_;
  std::unique_ptr<Stepper> stepper_;
  std::optional<Power> power_;
  Trajectory out_;
  State state_, between_;
  double begin_ = 0, end_ = 0, reference_ = 0, last_power_ = 0;
  double independence_ = 1, most_independent_ = 0;
  Index next_ = 0;      // sample
  Index saved_ = 1;     // the next checkpoint
  bool stray_ = false;  // a row that was left out is off
  std::vector<double> crossings_;
  std::vector<Trajectory::Note> found_;
};

}  // namespace

Trajectory simulate(const System& system, const State& start, const SimulationOptions& options) {
  return Run(system, start, options).go();
}

State consistent(const System& system, State s, const SolverOptions& options) {
  system.require_state(s);
  Flow flow(system, options);
  settle_start(system, flow, s);
  return s;
}

}  // namespace mortise
