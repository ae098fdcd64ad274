// Calls of the library in any order and with whatever arguments: numbers that are none, sizes that do not fit, states
// and handles of other systems, what was moved from.

#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include <mortise/mortise.h>

#include "targets.h"

namespace mortise::fuzz {
namespace {

// Throws now and then, sometimes what is none of ours, or gives what is no number.
struct Moody {
  int mood = 0;
  template <class B, class T> void act(B& b, const T& t) const {
    if (mood == 1) throw std::runtime_error("moody");
    if (mood == 2) throw 7;
    b.apply_to("x", mood == 3 ? T(t / (t - t)) : T(1.0 * t));
  }
};

class Session {
 public:
  explicit Session(std::string_view bytes) : c_(bytes) {
    ground_ = a_.add("ground", Ground{});
    make_system();
  }

  void go() {
    constexpr int longest = 60;
    for (int i = 0; i < longest && !c_.empty(); ++i) {
      try {
        step();
      } catch (const Error&) {
      }
    }
  }

 private:
  static constexpr Index most = 12;  // coordinates: the others are built, and not computed with
  bool small() const { return system_->size() <= most; }

  Index index() {
    static constexpr Index odd[] = {
        -1, 0, 1, 2, 3, 5, 7, 100, 1000000, std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min()};
    return c_.one_of(odd);
  }
  std::size_t place() { return static_cast<std::size_t>(index()); }
  VectorXd vector(Index right) {
    const Index n = c_.chance(200) ? right : static_cast<Index>(c_.below(9));
    VectorXd x(n);
    for (double& e : x) e = c_.number();
    return x;
  }
  MatrixXd matrix(Index rows, Index columns) {
    const bool fits = c_.chance(220);
    MatrixXd x(fits ? rows : static_cast<Index>(c_.below(5)), fits ? columns : static_cast<Index>(c_.below(5)));
    for (Index i = 0; i < x.size(); ++i) x.data()[i] = c_.number();
    return x;
  }
  std::string name() {
    static const std::vector<std::string> some{
        "b0", "b1",   "b2",    "ground",   "j0",  "j1",  "f0", "n0", "n0/b0", "",
        "/",  "b0.x", "b0.x'", "b1.theta", "a/b", "b0/", ".",  "'",  "\n",    std::string(5000, 'n')};
    return c_.one_of(some);
  }
  std::string fresh(char kind) { return c_.chance(240) ? fmt::format("{}{}", kind, count_++ % 6) : name(); }
  State state() {
    if (c_.chance(30)) return elsewhere_ ? elsewhere_->state() : State{};
    State s = state_;
    if (c_.chance(20)) s.q = vector(s.q.size());
    if (c_.chance(20)) s.v = vector(s.v.size());
    if (c_.chance(10)) s.t = c_.number();
    if (c_.chance(6)) s.names = nullptr;
    if (c_.chance(6)) s.off = {place(), place()};
    return s;
  }
  // After a change of the assembly, which systems do not follow.
  void make_system() {
    auto system = std::make_unique<System>(a_);
    auto solver = std::make_unique<Solver>(*system);
    auto readings =
        std::make_unique<Readings>(*system, ReadingOptions{.coordinates = true, .reactions = true, .momentum = true});
    solver_ = std::move(solver);
    readings_ = std::move(readings);
    elsewhere_ = std::exchange(system_, std::move(system));
    state_ = system_->state();
  }
  void finite(const VectorXd& x, const char* what) const {
    if (!x.allFinite()) fault(std::string(what) + " is not finite");
  }
  SimulationOptions short_run() {
    static const auto integrators = all_stepper_names();
    SimulationOptions o{.duration = c_.chance(230) ? 0.02 : c_.number(), .sample = c_.chance(200) ? 0.01 : c_.number()};
    o.integrator = c_.one_of(integrators);
    if (c_.chance(128)) o.steps.step = c_.chance(200) ? 0.005 : c_.number();
    if (c_.chance(20)) o.steps.tolerance = c_.number();
    if (c_.chance(20)) o.steps.largest = c_.number();
    if (c_.chance(20)) o.steps.damping = c_.number();
    if (c_.chance(20)) o.steps.baumgarte = c_.number();
    if (c_.chance(20)) o.held = {name()};
    if (c_.chance(20)) o.solver.threads = static_cast<int>(c_.below(7)) - 2;
    if (c_.chance(40)) {
      const int mood = static_cast<int>(c_.below(6));
      o.events.push_back({.name = name(),
                          .value = [mood](const State& s) -> double {
                            if (mood == 1) throw std::runtime_error("moody");
                            if (mood == 2) return std::nan("");
                            return s.t - 0.01;
                          },
                          .direction = static_cast<int>(c_.below(5)) - 2,
                          .stop = c_.chance(60)});
      if (mood == 3) o.events.back().value = nullptr;
      if (mood == 4) o.events.back().change = [](State& s) { s.q.resize(1); };
      if (mood == 5) o.events.back().change = [](State&) { throw 3; };
    }
    o.progress = [n = 0](double, double) mutable { return ++n < 5; };
    return o;
  }

  void step() {
    switch (c_.below(48)) {
      case 0:
      case 1: {
        const double m = c_.chance(60) ? 0 : c_.number();
        planar_.push_back(
            a_.add(fresh('b'), PlanarBody{.mass = m, .inertia = c_.number(), .centre = {c_.number(), 0}}));
        break;
      }
      case 2: {
        const double m = c_.number();
        rigid_.push_back(a_.add(fresh('b'), RigidBody{.mass = m, .inertia = matrix3(), .centre = {0, c_.number(), 0}}));
        break;
      }
      case 3:
        (void)a_.add(fresh('b'),
                     Structure({.M = matrix(2, 2),
                                .K = matrix(2, 2),
                                .dofs = {{"n", "x"}, {c_.chance(200) ? "n" : "", c_.chance(200) ? "y" : "x"}}}));
        break;
      case 4:
      case 5:
      case 6:
        if (!planar_.empty())
          a_.connect(fresh('j'), Pin{.on_a = {c_.number(), 0}, .on_b = {0, c_.number()}}, ground_, planar());
        make_system();
        break;
      case 7:
        if (!planar_.empty()) a_.connect(fresh('j'), Distance<2>{.length = c_.number()}, planar(), planar());
        make_system();
        break;
      case 8:
        if (!rigid_.empty())
          a_.connect(fresh('j'), Revolute{.axis_a = {c_.number(), 0, c_.number()}}, ground_, rigid());
        make_system();
        break;
      case 9:
        if (!planar_.empty())
          a_.apply(fresh('f'), Spring<2>{.stiffness = c_.number(), .length = c_.number()}, ground_, planar());
        make_system();
        break;
      case 10:
        if (!planar_.empty()) a_.apply(fresh('f'), Moody{static_cast<int>(c_.below(4))}, planar());
        make_system();
        break;
      case 11: {
        Assembly part(c_.chance(240) ? "part" : name());
        const auto b = part.add("b0", Particle<2>{.mass = 1});
        part.port("tip", b);
        if (a_.nested().size() < 3) (void)a_.add(fresh('n'), part);
        break;
      }
      case 12:
        a_.remove(name());
        break;
      case 13:
        if (c_.chance(128))
          a_.change(name(), PlanarBody{.mass = c_.number()});
        else
          a_.change(name(), Pin{.on_a = {c_.number(), 1}});
        break;
      case 14:
        if (c_.chance(128))
          a_.place(name(), vector(3));
        else if (!planar_.empty())
          a_.place(planar(), Vec3<double>(c_.number(), c_.number(), c_.number()));
        break;
      case 15:
        a_.set_gravity({c_.number(), c_.number(), 0});
        break;
      case 16:
        (void)a_.body<PlanarBody>(name());
        break;
      case 17:
        (void)a_.replace(name(), Assembly("other"));
        break;
      case 18:
        a_.port(name(), name());
        break;
      case 19: {
        const Assembly other = std::move(a_);
        (void)a_.name();
        (void)System(a_);
        a_ = other;
        break;
      }
      case 20:
        make_system();
        break;
      case 21: {
        (void)system_->coordinate(index());
        break;
      }
      case 22:
        (void)system_->row(index());
        break;
      case 23:
        (void)(c_.chance(128) ? system_->body_of(index()) : system_->constraint_of(index()));
        break;
      case 24:
        (void)(c_.chance(128) ? system_->massless({place()}) : system_->with_bodies({{place(), nullptr}}));
        break;
      case 25: {
        Evaluation e = system_->evaluate(state());
        if (c_.chance(30)) e.Q = vector(e.Q.size());
        if (c_.chance(30)) e.b = vector(e.b.size());
        if (c_.chance(30)) e.C = vector(e.C.size());
        if (c_.chance(30)) e.state = state();
        if (!small()) break;
        finite(solver_->solve(e), "an acceleration");
        finite(mortise::solve(*system_, e).a, "an acceleration");
        break;
      }
      case 26:
        if (c_.chance(100))
          state_.set(name(), c_.number());
        else
          state_.set(name(), vector(3));
        break;
      case 27:
        if (c_.chance(128))
          system_->switch_off(state_, name());
        else
          system_->switch_on(state_, name());
        break;
      case 28:
      case 29:
      case 30:
        if (small()) finite(solver_->solve(state()), "an acceleration");
        break;
      case 31:
        if (small()) finite(solver_->response(vector(system_->size())), "a response");
        break;
      case 32:
        (void)(c_.chance(128) ? solver_->shift_positions(state(), vector(system_->rows()))
                              : solver_->shift_velocities(state(), vector(system_->rows())));
        break;
      case 33:
        if (c_.chance(128))
          solver_->leave_out({index(), index()});
        else
          (void)solver_->leave_out_dependent(state());
        break;
      case 34: {
        State s = state();
        if (c_.chance(100))
          solver_->normalise(s);
        else if (c_.chance(128))
          solver_->project_positions(s);
        else
          solver_->project_nearby(s);
        break;
      }
      case 35:
        (void)solver_->lambda();
        (void)solver_->momentum();
        (void)solver_->unique();
        (void)solver_->warnings();
        (void)solver_->gap();
        break;
      case 36:
        (void)solver_->energy(state());
        (void)solver_->input(state());
        (void)solver_->works(state());
        (void)solver_->input_by_joints(state());
        break;
      case 37:
        if (c_.chance(128))
          solver_->stabilise(c_.number());
        else
          solver_->hold_welds(state());
        break;
      case 38: {
        Solver moved = std::move(*solver_);
        try {
          (void)solver_->solve(state());
          (void)solver_->left_out();
        } catch (const Error&) {
        }
        solver_ = std::make_unique<Solver>(std::move(moved));
        break;
      }
      case 39: {
        System moved = std::move(*system_);
        try {
          (void)solver_->solve(state());
        } catch (const Error&) {
        }
        try {
          (void)system_->evaluate(state());
        } catch (const Error&) {
        }
        *system_ = std::move(moved);
        break;
      }
      case 40:
        if (small()) (void)check_model(*system_, state()).text();
        break;
      case 41:
        if (small()) finite(complete(*system_, state()).state.q, "a completed state");
        break;
      case 42:
      case 43: {
        if (!small()) break;
        const Trajectory run = simulate(*system_, state(), short_run());
        for (const double x : run.values)
          if (!std::isfinite(x)) fault("a sample of a run is not finite");
        (void)run.text();
        if (run.samples() > 0) (void)run.value(index(), "t");
        break;
      }
      case 44:
        if (small()) finite(readings_->read(state()), "a reading");
        (void)readings_->value(name());
        if (c_.chance(60)) readings_->resume(vector(static_cast<Index>(readings_->columns().size())));
        break;
      case 45:
        if (small()) finite(consistent(*system_, state(), {.held = {name()}}).q, "a start");
        break;
      case 46: {
        const Evaluation e = (c_.chance(230) || !elsewhere_ ? *system_ : *elsewhere_).evaluate(state());
        const MotionFamily f = small() ? solve_family(*system_, e) : MotionFamily{};
        (void)f.member(vector(f.N.rows()));
        (void)system_->fixed(e).size();
        (void)system_->equations(e, {{place()}, {place()}});
        break;
      }
      case 47: {
        VectorXd C = vector(system_->size());
        const auto& from = c_.chance(200) || !elsewhere_ ? *system_ : *elsewhere_;
        if (!from.constraints().empty()) {
          (void)system_->nonideal(from.constraints()[0], state());
          system_->react(from.constraints()[0], state(), vector(system_->rows()), C);
        }
        (void)system_->derivatives(state(), vector(system_->size()));
        (void)system_->firsts({place()});
        break;
      }
    }
  }

  Mat<double, 3> matrix3() {
    Mat<double, 3> J = Mat<double, 3>::Zero();
    for (int i = 0; i < 3; ++i) J(i, i) = c_.chance(200) ? 1 : c_.number();
    return J;
  }
  const Handle<PlanarBody>& planar() { return c_.one_of(planar_); }
  const Handle<RigidBody>& rigid() { return c_.one_of(rigid_); }

  Choices c_;
  Assembly a_{"fuzzed"};
  Handle<Ground> ground_;
  std::vector<Handle<PlanarBody>> planar_;
  std::vector<Handle<RigidBody>> rigid_;
  unsigned count_ = 0;
  std::unique_ptr<System> system_, elsewhere_;
  State state_;
  std::unique_ptr<Solver> solver_;
  std::unique_ptr<Readings> readings_;
};

}  // namespace

void feed_calls(std::string_view bytes) {
  Session session(bytes);
  session.go();
}

}  // namespace mortise::fuzz
