#pragma once
// A method that chooses its steps by their errors.

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include <mortise/integrators/stepper.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class Controlled : public Stepper {
 public:
  // From a state at which something has changed by the clock; remembers how large motions were.  h is the step to try
  // first, 0: found by itself.
  virtual void go_on(const State& s, double h) = 0;
  virtual std::string hardest() const = 0;  // the body whose error, or rate, has kept the last step short

  // The next step, whatever its error.
  void no_longer_than(double h) { longest_ = h; }

  // What is put in per second [W] is integrated along with the motion, by methods that can; it is asked where the
  // solver of the flow is.
  void integrate(std::function<double(const State&)> power) { power_ = std::move(power); }
  virtual std::optional<double> work() const { return std::nullopt; }  // [J] in the last step; none: it was not
  // Makes at() as good as the ends of the last step, by an evaluation more, where it is not; the solver of the flow
  // goes there.
  virtual void sharpen() const {}

 protected:
  double longest(const StepOptions& options) const {
    return options.largest > 0 ? std::min(options.largest, longest_) : longest_;
  }

  std::function<double(const State&)> power_;
  double longest_ = std::numeric_limits<double>::infinity();
};

inline void sharpen(const Stepper& stepper) {
  if (const auto* const controlled = dynamic_cast<const Controlled*>(&stepper)) controlled->sharpen();
}

}  // namespace mortise
#pragma GCC visibility pop
