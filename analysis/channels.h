#pragma once
// Channels: numbers of a System by name, as rows over the variations of a LinearMotion.

#include <string>

#include <mortise/analysis/linear_motion.h>

#pragma GCC visibility push(hidden)
namespace mortise {

// y = value eta;  y' = value eta' + rate eta.
struct Channel {
  std::string name, unit;
  VectorXd value, rate;
};

// A variation, or what a joint, a force or a sensor tells.  Throws InvalidModel with the nearest name.
Channel channel(const System& system, const LinearMotion& motion, const std::string& name);

// As an output, where the name may end in ' for the rate: y = position eta + velocity eta'.
struct OutputRow {
  std::string unit;
  VectorXd position, velocity;
};
OutputRow output_row(const System& system, const LinearMotion& motion, const std::string& name);

std::string rate_unit(const std::string& unit);  // of a rate of what has this unit

}  // namespace mortise
#pragma GCC visibility pop
