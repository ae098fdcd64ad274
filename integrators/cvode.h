#pragma once
// CVODE of SUNDIALS behind the interface of steppers, where it was found when mortise was configured.
//
//   cvode_bdf     stiff systems; states are brought onto the constraints by CVODE's own projection function
//   cvode_adams   others; CVODE takes no projection function there, so that it begins anew where what it carries is off
//                 the constraints by more than its tolerance; the states it tells are on them always
//
// D. J. Gardner et al., ACM Trans. Math. Softw. 48 (2022) 31; A. C. Hindmarsh et al., ibid. 31 (2005) 363-396.

#include <memory>
#include <string>
#include <vector>

#include <mortise/integrators/stepper.h>

#pragma GCC visibility push(hidden)
namespace mortise {

bool has_cvode();
inline std::vector<std::string> cvode_names() {
  return {"cvode_bdf", "cvode_adams"};
}  // known even where it is not there
std::unique_ptr<Stepper> make_cvode(const std::string& name, const StepOptions& options);  // where it is there

}  // namespace mortise
#pragma GCC visibility pop
