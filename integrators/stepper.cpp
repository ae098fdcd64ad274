#include <mortise/integrators/stepper.h>

#include <algorithm>
#include <cmath>

#include <mortise/integrators/cvode.h>
#include <mortise/integrators/dormand_prince.h>
#include <mortise/integrators/fixed_steps.h>
#include <mortise/integrators/gauss.h>
#include <mortise/integrators/generalized_alpha.h>
#include <mortise/integrators/radau.h>

namespace mortise {
namespace {

std::vector<std::string> own_names() { return {"dopri5", "rk4", "radau5", "gauss", "generalized_alpha"}; }

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> all_stepper_names() {
  std::vector<std::string> names = own_names();
  for (const std::string& name : cvode_names()) names.push_back(name);
  return names;
}

std::vector<std::string> stepper_names() { return has_cvode() ? all_stepper_names() : own_names(); }

NoStepper no_stepper(const std::string& name) {
  const auto there = fmt::format("{}", fmt::join(stepper_names(), ", "));
  if (contains(stepper_names(), name)) return {};
  if (contains(cvode_names(), name))
    return {"this build of mortise has no CVODE",
            fmt::format("build it where SUNDIALS is installed (libsundials-dev), or take one of {}", there)};
  return {"there is no integrator of this name", fmt::format("there are {}", there)};
}

std::unique_ptr<Stepper> make_stepper(const std::string& name, const StepOptions& options) {
  const Label label{"integrator", name};
  const auto require = [&](bool ok, const char* what, double value, const char* remedy) {
    label.require(ok, fmt::format("{} = {}", what, value), remedy);
  };
  require(options.tolerance >= 1e-14 && options.tolerance <= 0.1, "tolerance", options.tolerance,
          "give one from 1e-14 to 0.1");
  require(options.step >= 0 && std::isfinite(options.step), "step", options.step, "give a number of seconds >= 0");
  require(options.largest >= 0, "largest", options.largest, "give a number of seconds >= 0, 0 for no limit");
  require(options.baumgarte >= 0 && std::isfinite(options.baumgarte), "baumgarte", options.baumgarte,
          "give a rate >= 0 in 1/s, 0 for none");
  const NoStepper none = no_stepper(name);
  label.require(none.fact.empty(), none.fact, none.remedy);
  if (name == "dopri5") return std::make_unique<DormandPrince>(options);
  if (name == "rk4") return std::make_unique<Rk4>(options);
  require(options.baumgarte == 0, "baumgarte", options.baumgarte,
          "give 0: this method meets the constraints itself; dopri5 and rk4 take it");
  if (name == "radau5") return std::make_unique<Radau>(options);
  if (name == "gauss") return std::make_unique<Gauss>(options);
  if (name == "generalized_alpha") return std::make_unique<GeneralizedAlpha>(options);
  return make_cvode(name, options);
}

}  // namespace mortise
