#include <mortise/integrators/simulate.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

#include <mortise/integrators/balance.h>
#include <mortise/integrators/chatter_watch.h>
#include <mortise/integrators/checkpoint.h>
#include <mortise/integrators/drives.h>
#include <mortise/integrators/event_watch.h>
#include <mortise/integrators/fold_watch.h>
#include <mortise/integrators/kinematics.h>
#include <mortise/integrators/rank_watch.h>

#include <mortise/core/memory.h>
#include <mortise/core/words.h>

namespace mortise {
namespace {

// [s] What differs by less may be the same in numbers, as it is or in parts.
double least_time(double begin, double end) {
  constexpr double of_any = 1e-290;  // parts of it are numbers of all digits still
  return std::max(of_any, 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(begin), std::abs(end)));
}

class Run {
 public:
  Run(const System& system, const State& start, const SimulationOptions& options)
      : system_(system),
        options_(options),
        flow_(system, options.solver),
        readings_(system, options.record),
        stepper_(make_stepper(options.integrator, options.steps)),
        events_(options.events),
        folds_(system),
        chatter_(options.duration) {
    const Label label{"run of", system.name()};
    const auto require = [&](bool ok, const char* what, double value, const char* remedy) {
      label.require(ok, fmt::format("{} = {} s", what, value), remedy);
    };
    require(options.duration > 0 && std::isfinite(options.duration), "duration", options.duration, "give a number > 0");
    require(options.sample >= 0 && std::isfinite(options.sample), "sample", options.sample, "give a number >= 0");
    label.require(system.size() > 0, "it has no coordinates", "add bodies that can move");
    const double resolution = least_time(start.t, start.t + options.duration);
    for (const auto& [what, value] : {std::pair{"sample", options.sample},
                                      {"step", options.steps.step},
                                      {"largest step", options.steps.largest},
                                      {"checkpoint.every", options.checkpoint.every},
                                      {"duration", options.duration}})
      if (value > 0 && value < resolution)
        label.fail<InvalidModel>(
            fmt::format("{} = {} s, and times up to {:g} s are told apart by {:.1e} s at best", what, value,
                        std::max(std::abs(start.t), std::abs(start.t + options.duration)), resolution),
            "give a longer one");
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
    const State given = state_;
    state_ = consistent(system_, state_, {options_.held, options_.solver});
    tell_start(given);
    leave_out_dependent();
    flow_.stabilise(options_.steps.baumgarte);
    balance_.emplace(system_, flow_, state_);
    Course course = course_of(system_, state_, end_, beside());
    breaks_ = std::move(course.breaks);
    pace_ = std::move(course.pace);
    if (!options_.checkpoint.file.empty()) settings_ = settings(given);
    const bool resumed = options_.checkpoint.resume && std::filesystem::exists(options_.checkpoint.file);
    if (resumed)
      load();
    else
      hold_welds();
    try {
      begin_stepper();
      folds_.begin(state_);
      if (!resumed && !breaks_.empty() && breaks_.front().t <= state_.t + 4 * beside()) {
        if (auto* const controlled = dynamic_cast<Controlled*>(stepper_.get()))
          controlled->go_on(state_, breaks_.front().step);
        breaks_.erase(breaks_.begin());
      }
      if (!resumed) {
        balance_->begin(state_);
        events_.begin(state_);
        record(state_);
      }
      out_.finished = true;
      while (state_.t < end_ && out_.finished) {
        one_step();
        if (state_.t >= checkpoint_time(saved_) && state_.t < end_ && out_.finished) {
          ++saved_;
          save();
          folds_.begin(state_);
          chatter_ = ChatterWatch(options_.duration);
          begin_stepper();
        }
      }
    } catch (const std::exception& error) {
      out_.finished = false;
      out_.stopped = error.what();
    } catch (...) {
      out_.finished = false;
      out_.stopped = "something was thrown that is no std::exception";
    }
    if (options_.sample > 0 &&
        (out_.samples() == 0 || out_.values[out_.values.size() - out_.columns.size()] < state_.t))
      try {
        record(state_);
      } catch (...) {  // said already
      }
    judge_energy();
    out_.last = state_;
    out_.steps = stepper_->steps();
    out_.rejected = stepper_->rejected();
    out_.rough = stepper_->rough();
    out_.evaluations = flow_.evaluations();
    return std::move(out_);
  }

 private:
  void note(const char* kind, const std::string& text) { out_.notes.push_back({state_.t, kind, text}); }

  // For methods that take states as they come.
  void hold_welds() {
    if (options_.integrator == "dopri5" || options_.integrator == "rk4") flow_.hold_welds(state_);
  }

  void leave_out_dependent() {
    const std::vector<Index> before = flow_.solver().left_out();
    const auto& rows = flow_.solver().leave_out_dependent(state_);
    for (const std::string& doubt : flow_.solver().warnings())
      if (std::none_of(out_.notes.begin(), out_.notes.end(), [](const auto& n) { return n.kind == "doubtful"; }))
        note("doubtful", doubt);
    if (rows.empty() || rows == before) return;
    std::vector<std::string> names;
    for (const Index i : rows) names.push_back(system_.row(i).name);
    note("left out", some_of(names) + ": redundant, the other rows hold them");
  }

  // Methods without a tolerance are judged only by what makes a run meaningless; the damping of generalized_alpha takes
  // energy by design.
  void judge_energy() {
    if (options_.integrator == "generalized_alpha") return;
    constexpr double meaningless = 0.5;  // of what is in play
    const double error = out_.energy_error, in_play = balance_->in_play();
    const bool judged = options_.integrator == "dopri5";
    const double explained = balance_->explained(judged ? options_.steps.tolerance : 0);
    if (error <= explained) return;
    const bool lost = !(error < meaningless * in_play);
    if (!judged && !lost) return;
    note(lost ? "meaningless" : "energy",
         fmt::format("the balance is off by {:.2g} J of {:.2g} J in play; {}", error, in_play,
                     judged ? fmt::format("the tolerance explains {:.1g} J, {}", explained,
                                          told_stiff_ ? "it is stiff: a run by radau5 shows what is right"
                                                      : "a run with a tighter one shows what is right")
                            : "take shorter steps"));
  }

  // What was moved most, in shares of the largest coordinate of the same unit (1 rad for angles), or of the velocity
  // given.
  void tell_start(const State& given) {
    constexpr double worth_telling = 1e-4, too_much = 1e-2, too_fast = 0.1;
    std::map<std::string, double> size{{"rad", 1.0}};
    std::vector<std::string> units(static_cast<std::size_t>(system_.size()));
    for (const auto& b : system_.bodies()) {
      const std::vector<std::string> own = b.model->units();
      for (Index i = 0; i < b.size; ++i) {
        const std::string& unit = units[static_cast<std::size_t>(b.first + i)] = own[static_cast<std::size_t>(i)];
        if (unit != "rad") size[unit] = std::max(size[unit], std::abs(state_.q[b.first + i]));
      }
    }
    double moved = 0, changed = 0;
    Index farthest = 0, fastest = 0;
    for (Index i = 0; i < system_.size(); ++i) {
      const double step = std::abs(state_.q[i] - given.q[i]), whole = size[units[static_cast<std::size_t>(i)]];
      if (step > moved * whole && whole > 0) moved = step / whole, farthest = i;
      if (const double v = std::abs(given.v[i]); std::abs(state_.v[i] - given.v[i]) > changed * v && v > 0)
        changed = std::abs(state_.v[i] - given.v[i]) / v, fastest = i;
    }
    out_.start_moved = moved > too_much || changed > too_fast;
    std::vector<std::string> told;
    const auto tell = [&](Index i, const char* rate, double was, double is) {
      const std::string& unit = units[static_cast<std::size_t>(i)];
      const std::string per = *rate && !unit.empty() ? unit + "/s" : unit;
      told.push_back(fmt::format("{}{} from {:.6g} to {:.6g}{}{}", system_.coordinate(i), rate, was, is,
                                 per.empty() ? "" : " ", per));
    };
    if (moved > worth_telling) tell(farthest, "", given.q[farthest], state_.q[farthest]);
    if (changed > worth_telling) tell(fastest, "'", given.v[fastest], state_.v[fastest]);
    if (told.empty()) return;
    if (options_.as_given)
      Label{"start of", system_.name()}.fail<InvalidModel>(
          "it does not meet the constraints: it would be moved, most of all " + joined(told, " and "),
          "give a start that meets them, or let it be moved");
    note("start", "moved onto the constraints, most of all " + joined(told, " and "));
  }

  // Where the rows alone say how everything moves there is nothing to integrate.
  void begin_stepper() {
    const bool rows_alone =
        options_.integrator == "dopri5" && options_.steps.baumgarte == 0 && Kinematics::serves(flow_, state_);
    if (rows_alone)
      change_stepper(std::make_unique<Kinematics>(options_.steps));
    else if (out_.integrator != options_.integrator)
      change_stepper(make_stepper(options_.integrator, options_.steps));
    out_.integrator = rows_alone ? "kinematics" : options_.integrator;
    balance_->integrate_by(*stepper_);
    stepper_->begin(flow_, state_);
  }

  void change_stepper(std::unique_ptr<Stepper> other) {
    other->count_from(stepper_->steps(), stepper_->rejected(), stepper_->rough());
    stepper_ = std::move(other);
  }

  // [s] How near to a breakpoint steps end and begin: a part may see its own time on either side.
  double beside() const {
    return 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(begin_), std::abs(end_));
  }

  // The next one; null: there is none.
  const Breakpoint* next_break() const {
    const auto it = std::upper_bound(breaks_.begin(), breaks_.end(), state_.t,
                                     [](double t, const Breakpoint& b) { return t < b.t; });
    return it == breaks_.end() ? nullptr : &*it;
  }

  // Over a breakpoint that the last step has led up to.
  void cross(const Breakpoint& b) {
    const double before = system_.energy(state_).total(), h = b.t + beside() - state_.t;
    const VectorXd a = flow_.solver().accelerations(state_), off = flow_.solver().gaps(state_).positions;
    state_.t += h;
    state_.q += h * state_.v;
    state_.v += h * a;
    const Solver::Gaps gaps = flow_.solver().gaps(state_);
    require_place(gaps.positions - off);
    const VectorXd v = state_.v;
    flow_.keep(state_);
    constexpr double small = 1e-9;  // of the largest velocity
    const double energy = system_.energy(state_).total() - before;
    if ((state_.v - v).cwiseAbs().maxCoeff() >
        small * std::max(v.cwiseAbs().maxCoeff(), state_.v.cwiseAbs().maxCoeff()))
      note("jump", fmt::format("{} changes its velocity at once: the energy changes by {:.6g} J",
                               joint_of_row(gaps.velocities), energy));
    balance_->jump(energy, state_);
    if (auto* const controlled = dynamic_cast<Controlled*>(stepper_.get()))
      controlled->go_on(state_, b.step);
    else
      begin_stepper();
  }

  // The joint whose row is off the most.
  std::string joint_of_row(const VectorXd& off) const {
    Index worst = 0;
    if (off.size() > 0) off.cwiseAbs().maxCoeff(&worst);
    for (const auto& c : system_.constraints())
      if (worst >= c.row && worst < c.row + c.rows) return "joint '" + c.name + "'";
    return "the motion";
  }

  // No force brings a body from one place to another at once.
  void require_place(const VectorXd& off) const {
    constexpr double small = 1e-9;  // of the largest coordinate
    const double jump = off.size() ? off.cwiseAbs().maxCoeff() : 0;
    if (jump > small * std::max(1.0, state_.q.cwiseAbs().maxCoeff()))
      Label{"run of", system_.name()}.fail<NotConverged>(
          fmt::format("{} jumps by {:.3g} at t = {:.10g} s", joint_of_row(off), jump, state_.t),
          "give a drive whose place does not jump");
  }

  void make_step() {
    const Breakpoint* const next = next_break();
    const double turn = next ? next->t - beside() : std::numeric_limits<double>::infinity();
    const double until = std::min({end_, checkpoint_time(saved_), turn});
    if (auto* const controlled = dynamic_cast<Controlled*>(stepper_.get()))
      controlled->no_longer_than(pace_.longest(state_.t));
    try {
      stepper_->step(until);
    } catch (const Error&) {
      folds_.explain(flow_, state_, options_.steps.step);
      if (out_.integrator == options_.integrator) throw;
      // Next to a pose where rows depend on each other the way on is found from inertia.
      change_stepper(make_stepper(options_.integrator, options_.steps));
      out_.integrator = options_.integrator;
      balance_->integrate_by(*stepper_);
      stepper_->begin(flow_, state_);
      stepper_->step(until);
    }
  }

  // Steps so short that the run would hardly end.
  void watch_speed(double h) {
    constexpr double crawl = 1e-8;                                      // of the duration
    constexpr int often = 20000;                                        // in a row
    if (options_.steps.step > 0 || options_.steps.largest > 0) return;  // asked for
    crawling_ = h < crawl * options_.duration ? crawling_ + 1 : 0;
    if (crawling_ < often) return;
    const auto* const controlled = dynamic_cast<const Controlled*>(stepper_.get());
    if (!controlled) return;
    Label{"run of", system_.name()}.fail<NotConverged>(
        fmt::format(
            "it crawls: the last {} steps were shorter than {:g} of the duration, {:.1e} s at t = {:.6g} s; what "
            "keeps them short is body '{}'",
            often, crawl, h, state_.t, controlled->hardest()),
        "take the integrator radau5 if its forces are stiff, look for forces that jump and masses that are "
        "far "
        "too small, or raise the tolerance");
  }

  void one_step() {
    if (const Breakpoint* const next = next_break(); next && state_.t >= next->t - beside()) return cross(*next);
    make_step();
    note_drift();
    State now = stepper_->state();
    folds_.look(*stepper_, state_, now);
    if (!stepper_->stiff()) chatter_.look(flow_, state_, now);
    if (const auto pose = rank_.look(*stepper_, flow_, state_, now)) out_.notes.push_back(*pose);
    const std::vector<EventWatch::Hit> hits = events_.look(*stepper_, flow_, state_, now, out_.notes);
    out_.energy_error = std::max(out_.energy_error, balance_->step(*stepper_, state_, now));
    sample_until(now);
    const double length = now.t - state_.t;
    state_ = now;
    watch_speed(length);
    if (stepper_->stiff() && !told_stiff_) {
      told_stiff_ = true;
      note("stiff",
           "steps are kept short by stability, not by accuracy; the integrator radau5 may need far fewer, and less "
           "time");
    }
    if (stray_) choose_again();
    if (!hits.empty()) happen(hits, length);
    if (out_.finished && options_.progress && !options_.progress(state_.t, end_)) stop_by_caller(state_.t);
  }

  double checkpoint_time(Index k) const {
    const double every = options_.checkpoint.every;
    return every > 0 ? begin_ + every * static_cast<double>(k) : std::numeric_limits<double>::infinity();
  }

  // What a file must agree with, by name; numbers of the parts by their fingerprints.  At the start.
  std::vector<std::string> settings(const State& given) const {
    std::vector<std::string> out;
    const auto add = [&](const std::string& name, const auto& value) {
      out.push_back(fmt::format("{} = {}", name, value));
    };
    add("system", system_.name());
    add("integrator", options_.integrator);
    add("tolerance", options_.steps.tolerance);
    add("step", options_.steps.step);
    add("largest step", options_.steps.largest);
    add("damping", options_.steps.damping);
    add("baumgarte", options_.steps.baumgarte);
    add("sample", options_.sample);
    add("time between checkpoints", options_.checkpoint.every);
    add("merge_welded", options_.solver.merge_welded);
    add("held", joined(options_.held));
    add("start time", begin_);
    for (Index i = 0; i < system_.size(); ++i) add(fmt::format("coordinate {}", i + 1), system_.coordinate(i));
    for (Index i = 0; i < system_.rows(); ++i) add(fmt::format("row {}", i + 1), system_.row(i).name);
    for (const auto& c : out_.columns) add("column", c.name);
    for (const Event& e : options_.events) add("event", e.name);
    for (const auto& [name, value] : options_.checkpoint.identity) add(name, value);
    const Vec3<double>& g = system_.gravity();
    add("gravity", fmt::format("({}, {}, {})", g[0], g[1], g[2]));
    for (Index i = 0; i < system_.size(); ++i) {
      add("start of " + system_.coordinate(i), given.q[i]);
      add("start of " + system_.coordinate(i) + "'", given.v[i]);
    }
    for (const std::size_t i : given.off) add("switched off", system_.constraints()[i].name);
    const auto print = [](const auto&... x) {
      std::string bytes;
      (bytes.append(reinterpret_cast<const char*>(x.data()), sizeof(double) * static_cast<std::size_t>(x.size())), ...);
      return fmt::format("{:016x}", fingerprint(bytes));
    };
    const Evaluation e = system_.evaluate(state_);
    for (std::size_t i = 0; i < system_.bodies().size(); ++i)
      add("mass of body '" + system_.bodies()[i].name + "'", print(e.M(i)));
    for (const auto& c : system_.constraints()) {
      std::string rows = print(VectorXd(e.b.segment(c.row, c.rows)), VectorXd(e.phi.segment(c.row, c.rows)));
      for (std::size_t k = 0; k < c.bodies.size(); ++k) rows += " " + print(e.A(c.block + k));
      add("rows of '" + c.name + "'", rows);
    }
    add("forces", print(e.Q, e.C));
    return out;
  }

  // A file that cannot be written is no reason to lose the run: the next time it is tried again.
  void save() {
    try {
      replace_file(options_.checkpoint.file, saved_text());
    } catch (const FileError& error) {
      if (unsaved_++ == 0) note("checkpoint", "");
      const auto failed =
          std::find_if(out_.notes.begin(), out_.notes.end(), [](const auto& n) { return n.kind == "checkpoint"; });
      failed->text = fmt::format("{} from here on could not be saved, the last at t = {:g} s: {}",
                                 counted(unsaved_, "checkpoint"), state_.t, error.what());
    }
  }

  std::string saved_text() {
    CheckpointWriter w;
    w.words("settings", settings_);
    w.number("t", state_.t);
    w.numbers("q", state_.q);
    w.numbers("v", state_.v);
    w.numbers("off", std::vector<double>(state_.off.begin(), state_.off.end()));
    w.numbers("acceleration", flow_.solver().solve(state_));
    std::vector<double> left_out;
    for (const Index i : flow_.solver().left_out()) left_out.push_back(static_cast<double>(i));
    w.numbers("left_out", left_out);
    w.numbers("balance", balance_->memory());
    w.numbers("counts",
              std::vector<double>{static_cast<double>(crawling_), static_cast<double>(next_),
                                  static_cast<double>(saved_), static_cast<double>(stepper_->steps()),
                                  static_cast<double>(stepper_->rejected()), static_cast<double>(stepper_->rough()),
                                  static_cast<double>(flow_.evaluations()), told_stiff_ ? 1.0 : 0.0});
    w.numbers("errors", std::vector<double>{rank_.independence(), rank_.most_independent(), out_.energy_error});
    w.numbers("crossings", events_.memory());
    w.numbers("values", out_.values);
    std::vector<double> drift, times;
    for (const auto& d : out_.drift) drift.push_back(d.largest);
    w.numbers("drift", drift);
    std::vector<std::string> words;
    for (const auto& n : out_.notes) {
      if (n.kind == "checkpoint") continue;  // of this file, which is saved now
      times.push_back(n.t);
      words.push_back(n.kind);
      words.push_back(n.text);
    }
    w.numbers("note_times", times);
    w.words("notes", words);
    return w.text();
  }

  void load() {
    const std::string& file = options_.checkpoint.file;
    const CheckpointReader r(file);
    const auto refuse = [&](const std::string& fact) {
      Label{"checkpoint", file}.fail<InvalidModel>("it is of another run: " + fact,
                                                   "resume with the model and the options it was made with");
    };
    const auto& words = r.words("settings");
    for (std::size_t i = 0; i < std::max(words.size(), settings_.size()); ++i) {
      const std::string here = i < settings_.size() ? settings_[i] : "nothing";
      const std::string there = i < words.size() ? words[i] : "nothing";
      if (here != there) refuse(fmt::format("there {}, here {}", there, here));
    }
    const auto vector = [&](const char* key, std::size_t size) {
      const auto& x = r.numbers(key);
      if (x.size() != size) r.fail(fmt::format("'{}' has {} numbers instead of {}", key, x.size(), size));
      for (const double y : x)
        if (!std::isfinite(y)) r.fail(fmt::format("'{}' holds {}", key, y));
      return x;
    };
    const auto n = static_cast<std::size_t>(system_.size());
    state_.t = vector("t", 1)[0];
    if (state_.t >= end_)
      Label{"checkpoint", file}.fail<InvalidModel>(
          fmt::format("it is at t = {} s, and the run ends at {} s", state_.t, end_),
          "give a later end, or another file");
    const auto q = vector("q", n), v = vector("v", n), a = vector("acceleration", n);
    state_.q = Eigen::Map<const VectorXd>(q.data(), system_.size());
    state_.v = Eigen::Map<const VectorXd>(v.data(), system_.size());
    state_.off.clear();
    for (const Index i : r.counts("off", std::ssize(system_.constraints())))
      state_.off.push_back(static_cast<std::size_t>(i));
    system_.require_state(state_);
    flow_.solver().leave_out(r.counts("left_out", system_.rows()));
    hold_welds();
    const VectorXd& now = flow_.solver().solve(state_);
    Index at = 0;
    const auto then = Eigen::Map<const VectorXd>(a.data(), system_.size());
    if ((now - then).cwiseAbs().maxCoeff(&at) != 0)
      refuse(fmt::format("at t = {} {}'' was {} there and is {} here", state_.t, system_.coordinate(at), then[at],
                         now[at]));
    balance_->resume(vector("balance", balance_->memory().size()));
    (void)vector("counts", 8);
    const auto counts = r.counts("counts", Index{1} << 53);
    crawling_ = static_cast<int>(std::min<Index>(counts[0], std::numeric_limits<int>::max()));
    next_ = counts[1], saved_ = counts[2];
    const double sampled = begin_ + static_cast<double>(next_ - 1) * options_.sample;
    if (saved_ < 1 || state_.t < checkpoint_time(saved_ - 1) || state_.t >= checkpoint_time(saved_) ||
        (options_.sample > 0 && (sampled > state_.t || sampled + options_.sample < state_.t - options_.sample)))
      r.fail(fmt::format("its samples and savings are not those up to t = {} s", state_.t));
    stepper_->count_from(counts[3], counts[4], counts[5]);
    flow_.count_from(counts[6]);
    told_stiff_ = counts[7] != 0;
    const auto errors = vector("errors", 3);
    rank_.resume(errors[0], errors[1]);
    out_.energy_error = errors[2];
    const auto& crossings = r.numbers("crossings");  // -inf: it has never happened
    if (crossings.size() != events_.memory_size()) r.fail("its events are not whole");
    events_.resume(crossings);
    const std::size_t width = out_.columns.size();
    out_.values = vector("values", r.numbers("values").size());
    if (out_.values.empty() || out_.values.size() % width != 0) r.fail("its samples are not whole");
    for (std::size_t k = width; k < out_.values.size(); k += width)
      if (out_.values[k] < out_.values[k - width] || out_.values[k] > state_.t) r.fail("its samples are out of order");
    readings_.resume(
        Eigen::Map<const VectorXd>(out_.values.data() + out_.values.size() - width, static_cast<Index>(width)));
    const auto drift = vector("drift", out_.drift.size());
    for (std::size_t i = 0; i < drift.size(); ++i) out_.drift[i].largest = drift[i];
    const auto times = vector("note_times", r.numbers("note_times").size());
    const auto& notes = r.words("notes");
    if (notes.size() != 2 * times.size()) r.fail("its notes are not whole");
    out_.notes.clear();
    for (std::size_t i = 0; i < times.size(); ++i) out_.notes.push_back({times[i], notes[2 * i], notes[2 * i + 1]});
  }

  // The solver is at the end of the step still.
  void note_drift() {
    const VectorXd& phi = flow_.solver().phi();
    const State& now = stepper_->state();
    std::size_t k = 0;
    for (std::size_t i = 0; i < system_.constraints().size(); ++i) {
      const auto& c = system_.constraints()[i];
      if (c.own) continue;
      const bool acts = !std::binary_search(now.off.begin(), now.off.end(), i);
      const double off = acts && c.holonomic > 0 ? phi.segment(c.row, c.holonomic).cwiseAbs().maxCoeff() : 0;
      out_.drift[k].largest = std::max(out_.drift[k].largest, off);
      ++k;
    }
    if (options_.steps.baumgarte > 0) return;
    constexpr double held = 1e-9;  // of the largest coordinate
    const double size = std::max(1.0, now.q.cwiseAbs().maxCoeff());
    for (const Index i : flow_.solver().left_out()) stray_ = stray_ || std::abs(phi[i]) > held * size;
  }

  // The rows that were left out are not held by the others any more.
  void choose_again() {
    stray_ = false;
    flow_.solver().leave_out({});
    flow_.settle(state_);
    leave_out_dependent();
    hold_welds();
    begin_stepper();
  }

  void sample_until(const State& now) {
    if (options_.sample == 0) return record(now);
    for (;; ++next_) {
      const double t = begin_ + static_cast<double>(next_) * options_.sample;
      if (t > now.t) return;
      if (t == now.t) {
        record(now);
      } else {
        sharpen(*stepper_);
        stepper_->at(t, between_);
        flow_.keep(between_);
        record(between_);
        out_.energy_error = std::max(out_.energy_error, balance_->between(between_));
      }
      // Many samples within one step.
      constexpr Index often = 1000;
      if (next_ % often == 0 && t < now.t && options_.progress && !options_.progress(t, end_)) stop_by_caller(t);
      if (!out_.finished) return;
    }
  }

  void stop_by_caller(double t) {
    out_.finished = false;
    out_.stopped = fmt::format("stopped by the caller at t = {:g} s", t);
  }

  double expected() const {  // numbers in the whole record
    return (options_.duration / options_.sample + 2) * static_cast<double>(out_.columns.size());
  }

  // Where memory ends the run does, with all samples before.
  void make_room(std::size_t more) {
    const std::size_t needed = out_.values.size() + more;
    if (needed <= out_.values.capacity()) return;
    std::size_t next = 2 * needed;
    if (options_.sample > 0) next = std::max(needed, std::min(next, static_cast<std::size_t>(expected())));
    require_memory({"run", system_.name()}, fmt::format("the record of {} samples and more", out_.samples()),
                   static_cast<double>(next) * sizeof(double), "give a longer time between samples, or record less");
    out_.values.reserve(next);
  }

  void record(const State& s) {
    const VectorXd& row = readings_.read(s, flow_.solver());
    make_room(static_cast<std::size_t>(row.size()));
    out_.values.insert(out_.values.end(), row.data(), row.data() + row.size());
    if (s.t == begin_) next_ = 1;
  }

  void end_by_event(const std::string& why) {
    out_.finished = false;
    out_.stopped = why;
  }

  // Events at the end of a step of this length, all at one time.  What one of them does may bring another about again,
  // as a blow passes from ball to ball.
  void happen(const std::vector<EventWatch::Hit>& hits, double length) {
    constexpr int often = 1000;
    constexpr double short_share = 1e-3, shortest = 1e-9;  // of the step, of the run: a time in which a rate is taken
    constexpr double at_rest = 1e-12, moves = 1e-9;        // of the rate before
    const double h = std::max(short_share * length, shortest * options_.duration);
    bool stop = false;
    std::vector<double> came(hits.size()), left(hits.size());
    for (std::size_t i = 0; i < hits.size(); ++i) {
      if (const std::string why = events_.endless(hits[i].event); !why.empty()) return end_by_event(why);
      came[i] = events_.rate(hits[i].event, state_, h);
      stop = stop || options_.events[hits[i].event].stop;
    }
    const auto on = [&](std::size_t i, double rate) { return hits[i].up ? rate > 0 : rate < 0; };
    bool again = true;
    for (int round = 0; again; ++round) {
      again = false;
      for (std::size_t i = 0; i < hits.size(); ++i) {
        const Event& e = options_.events[hits[i].event];
        if (!e.change || (round > 0 && (on(i, left[i]) || !on(i, events_.rate(hits[i].event, state_, h))))) continue;
        if (round == often)
          return end_by_event(
              fmt::format("event '{}' happens ever more often: others bring it about again each time, "
                          "at t = {:.10g} s",
                          e.name, state_.t));
        change(e);
        left[i] = events_.rate(hits[i].event, state_, h);
        again = hits.size() > 1;
      }
    }
    if (stop) {
      end_ = state_.t;
      return;
    }
    begin_stepper();
    for (std::size_t i = 0; i < hits.size(); ++i) {
      const Event& e = options_.events[hits[i].event];
      if (!e.change || !on(i, came[i]) || std::abs(left[i]) > at_rest * std::abs(came[i])) continue;
      const VectorXd a = flow_.solver().accelerations(state_);
      const double next = events_.rate(hits[i].event, state_, h, &a);
      if (on(i, next) && std::abs(next) > moves * std::abs(came[i]))
        return end_by_event(
            fmt::format("event '{}' happens ever more often: it leaves what it watches at rest, from where forces "
                        "drive it on, at t = {:.10g} s; let it switch a joint on that holds, stop the run, or leave "
                        "it some speed",
                        e.name, state_.t));
    }
    events_.happened(hits, state_);
  }

  // At rest: velocities need not fit yet.
  void require_determined(State s) {
    s.v.setZero();
    try {
      (void)flow_.solver().solve(s);
    } catch (const UnderModelled&) {
      throw;
    } catch (const Error&) {  // rows that are off a little may contradict each other
    }
  }

  void change(const Event& e) {
    const double before = system_.energy(state_).total();
    State next = state_;
    try {
      e.change(next);
    } catch (...) {
      rethrow_named("event", e.name);
    }
    system_.require_state(next);
    const Label label{"event", e.name};
    label.require(next.t == state_.t, fmt::format("it changes the time from {} to {}", state_.t, next.t),
                  "leave it as it is");
    std::vector<std::string> on, off;
    for (std::size_t i = 0; i < system_.constraints().size(); ++i) {
      const auto acts = [&](const State& s) { return !std::binary_search(s.off.begin(), s.off.end(), i); };
      if (acts(next) == acts(state_)) continue;
      const auto& c = system_.constraints()[i];
      (acts(next) ? on : off).push_back("'" + c.name + "'");
      if (!acts(next) || c.holonomic == 0) continue;
      constexpr double small = 1e-4;  // of the largest coordinate
      const double gap = system_.evaluate(next).phi.segment(c.row, c.holonomic).cwiseAbs().maxCoeff();
      label.require(gap <= small * std::max(1.0, next.q.cwiseAbs().maxCoeff()),
                    fmt::format("joint '{}' is switched on at t = {} with a gap of {:.2g}", c.name, next.t, gap),
                    "let the event find a pose where the joint fits");
    }
    flow_.solver().leave_out({});
    if (!off.empty()) require_determined(next);
    flow_.settle(next);
    state_ = next;
    leave_out_dependent();
    hold_welds();
    const double energy = system_.energy(state_).total() - before;
    balance_->jump(energy, state_);
    if (!off.empty()) note("switched off", some_of(off));
    if (!on.empty()) note("switched on", fmt::format("{}: the energy changes by {:.6g} J", some_of(on), energy));
  }

  const System& system_;
  const SimulationOptions& options_;
  Flow flow_;
  Readings readings_;
  std::unique_ptr<Stepper> stepper_;
  EventWatch events_;
  FoldWatch folds_;
  ChatterWatch chatter_;
  RankWatch rank_;
  std::optional<EnergyBalance> balance_;
  Trajectory out_;
  State state_, between_;
  double begin_ = 0, end_ = 0;
  Index next_ = 0;     // sample
  Index saved_ = 1;    // the next checkpoint
  Index unsaved_ = 0;  // savings that failed
  std::vector<std::string> settings_;
  std::vector<Breakpoint> breaks_;  // of what acts by the clock
  Pace pace_;
  int crawling_ = 0;    // short steps in a row
  bool stray_ = false;  // a row that was left out is off
  bool told_stiff_ = false;
};

}  // namespace

Trajectory simulate(const System& system, const State& start, const SimulationOptions& options) {
  return Run(system, start, options).go();
}

}  // namespace mortise
