#pragma once
// Events: functions of the state that pass through 0, found within steps.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mortise/integrators/stepper.h>
#include <mortise/integrators/trajectory.h>

namespace mortise {

// Something to look for on the way: a function of the state that passes through 0.
struct Event {
  std::string name;
  std::function<double(const State&)> value;
  int direction = 0;  // 1: only upwards, -1: only downwards, 0: both
  bool stop = false;
  // May change the state: velocities, parameters (bodies/parameter.h), and which joints act (System::switch_off,
  // switch_on).  Velocities are then made consistent, by the impulse that the joints which act exert.  A joint can be
  // switched on only where its gap is small.
  std::function<void(State&)> change = {};
};

// Watches them along a run.  Each step is looked at on the method's continuous output: at eight points, and between them
// wherever the parabola through three neighbours comes near 0.  So what can be missed is a pair of crossings between which
// the value turns more than once within an eighth of a step.
class EventWatch {
 public:
  explicit EventWatch(const std::vector<Event>& events);

  void begin(const State& s);
  // After a step from `from`: writes what happened into notes.  The first event that does something ends the step:
  // `now` is then moved back to just behind it.
  std::optional<std::size_t> look(const Stepper& stepper, Flow& flow, const State& from, State& now,
                                  std::vector<Trajectory::Note>& notes);
  // After this event has changed the state; it happens again only after its value has left 0.
  void happened(std::size_t event, const State& s);
  // An event that happens ever more often, as a ball's last bounces do: why the run cannot go on; "" if it can.
  std::string endless(std::size_t event) const;

  // All that is remembered from step to step, for a checkpoint.
  std::vector<double> memory() const;
  void resume(const std::vector<double>& memory);
  std::size_t memory_size() const { return 3 * events_.size(); }

 private:
  struct Crossing {
    double t;
    bool up;
  };
  double value(const Event& e, const State& s) const;
  std::vector<Crossing> crossings(const Stepper& stepper, std::size_t event, double before, const State& from,
                                  const State& now) const;

  const std::vector<Event>& events_;
  std::vector<double> values_;        // at the last look
  std::vector<double> last_, short_;  // when each happened, and how often in a row after a time as good as none
};

}  // namespace mortise
