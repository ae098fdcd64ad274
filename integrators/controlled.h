#pragma once
// A method that chooses its steps by their errors.

#include <string>

#include <mortise/integrators/stepper.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class Controlled : public Stepper {
 public:
  virtual void first(double h) = 0;         // the step to try first
  virtual std::string hardest() const = 0;  // the body whose error, or rate, has kept the last step short
};

}  // namespace mortise
#pragma GCC visibility pop
