#pragma once
// A method that chooses its steps by their errors.

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
};

}  // namespace mortise
#pragma GCC visibility pop
