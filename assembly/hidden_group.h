#pragma once
// HiddenGroup: free directions that forces couple, looked at here and at other states, told in words, made to rows.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mortise/assembly/hidden_analysis.h>

namespace mortise {

class HiddenGroup {
 public:
  HiddenGroup(const System& system, const FreeForces::Selection& parts, const State& s, const HiddenOptions& options)
      : system_(system),
        options_(options),
        forces_(std::make_shared<const FreeForces>(system, parts)),
        x_(forces_->local(s, forces_->firsts())) {}

  void look(std::vector<HiddenRow>& out);  // adds one row per free direction
  // Its rows, if look() found position-level and velocity-level ones only.
  System::ConstraintInfo constraint(const std::string& name) const;

 private:
  std::string name_of(Index i) const { return forces_->coordinates()[static_cast<std::size_t>(i)]; }
  bool refuse_parts(std::vector<HiddenRow>& out) const;
  void refuse(HiddenRow& row, bool singular) const;
  VectorXd extent() const;
  void look_elsewhere();
  HiddenRow told(const VectorXd& c, Index main) const;
  std::string formula(const VectorXd& c, const VectorXd& dq, const VectorXd& dv) const;

  const System& system_;
  HiddenOptions options_;
  std::shared_ptr<const FreeForces> forces_;
  State x_;
  FreeForces::Pivots pivots_;
  Scaling scale_;
  std::optional<HiddenAnalysis> here_;
  std::vector<HiddenAnalysis> elsewhere_;
};

}  // namespace mortise
