#include <mortise/integrators/stepper.h>

#include <cmath>

#include <mortise/integrators/dormand_prince.h>
#include <mortise/integrators/fixed_steps.h>

namespace mortise {

std::vector<std::string> stepper_names() { return {"dopri5", "rk4"}; }

std::unique_ptr<Stepper> make_stepper(const std::string& name, const StepOptions& options) {
  const Label label{"integrator", name};
  const auto require = [&](bool ok, const char* what, double value, const char* remedy) {
    label.require(ok, fmt::format("{} = {}", what, value), remedy);
  };
  require(options.tolerance >= 1e-14 && options.tolerance <= 0.1, "tolerance", options.tolerance,
          "give one from 1e-14 to 0.1");
  require(options.step >= 0 && std::isfinite(options.step), "step", options.step, "give a number of seconds >= 0");
  require(options.largest >= 0, "largest", options.largest, "give a number of seconds >= 0, 0 for no limit");
  if (name == "dopri5") return std::make_unique<DormandPrince>(options);
  if (name == "rk4") return std::make_unique<Rk4>(options);
  label.fail<InvalidModel>("there is no integrator of this name",
                           fmt::format("there are {}", fmt::join(stepper_names(), ", ")));
}

}  // namespace mortise
