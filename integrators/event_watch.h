#pragma once
// EventWatch: looks for events within the steps of a run.

#include <string>
#include <vector>

#include <mortise/integrators/events.h>
#include <mortise/integrators/stepper.h>
#include <mortise/integrators/trajectory.h>

#pragma GCC visibility push(hidden)
namespace mortise {

// Watches them along a run.  Each step is looked at on the method's continuous output: at eight places, at more of them
// where the value there is not what the cubic through its neighbours says and could reach 0, down to 1/1000 of the
// step, and wherever the parabola through three neighbours comes near 0.  So what can be missed is a pair of crossings
// within a shorter time, or one whose value goes beyond 0 by less than 1e-7 of its range in the step.
class EventWatch {
 public:
  explicit EventWatch(const std::vector<Event>& events);

  void begin(const State& s);
  struct Hit {
    std::size_t event;
    bool up;
  };
  // After a step from `from`: writes what happened into notes.  The first event that does something ends the step:
  // `now` is then moved back to just behind it.  With it come those that t does not tell apart from it.
  std::vector<Hit> look(const Stepper& stepper, Flow& flow, const State& from, State& now,
                        std::vector<Trajectory::Note>& notes);
  // After these events have changed the state; they happen again only after their values have left 0.
  void happened(const std::vector<Hit>& hits, const State& s);
  // How fast the value of an event changes by the velocities of s alone, and, if they are given, by these
  // accelerations: over a time h.
  double rate(std::size_t event, const State& s, double h, const VectorXd* a = nullptr) const;
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
#pragma GCC visibility pop
