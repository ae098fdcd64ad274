#pragma once
// HiddenGroup: free directions that forces couple, looked at here and at other states, told in words, made to rows.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mortise/diagnosis/hidden_analysis.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class HiddenGroup {
 public:
  // near: states of the whole system near s at which its rows are met; where there are none, others do.
  HiddenGroup(const System& system, const FreeForces::Selection& parts, const State& s, const std::vector<State>& near,
              const HiddenOptions& options, double noise)
      : system_(system),
        options_(options),
        forces_([&] {
          auto forces = std::make_shared<FreeForces>(system, parts);
          forces->ignore(noise);
          return forces;
        }()),
        x_(forces_->local(s, forces_->firsts())) {
    for (const State& x : near) near_.push_back(forces_->local(x, forces_->firsts()));
  }

  // Adds one row per free direction; or, where nothing can decide some of them, one for each of these alone.  What is
  // left of the group is then told by another one, with their coordinates held.
  void look(std::vector<HiddenRow>& out);
  const std::vector<Index>& undecided() const { return undecided_; }
  bool decided() const { return decided_; }  // all its rows can be added:
  System::ConstraintInfo constraint(const std::string& name) const;

 private:
  std::string name_of(Index i) const { return forces_->coordinates()[static_cast<std::size_t>(i)]; }
  bool refuse_parts(std::vector<HiddenRow>& out) const;
  void refuse(HiddenRow& row, bool singular) const;
  static void contradict(HiddenRow& row, bool zero_here);
  VectorXd extent() const;
  void look_elsewhere();
  std::optional<HiddenAnalysis> balance(State& x) const;
  HiddenRow told(const VectorXd& c, Index main) const;
  std::string formula(const VectorXd& c, const VectorXd& dq, const VectorXd& dv) const;

  const System& system_;
  HiddenOptions options_;
  std::shared_ptr<const FreeForces> forces_;
  State x_;
  std::vector<State> near_;
  FreeForces::Pivots pivots_;
  Scaling scale_;
  std::optional<HiddenAnalysis> here_;
  std::vector<HiddenAnalysis> elsewhere_;
  std::vector<bool> balanced_;  // h = 0 at these
  std::vector<Index> undecided_;
  bool decided_ = false;
};

// All groups of a system.
struct HiddenSearch {
  HiddenReport report;
  std::vector<HiddenGroup> decided;

  HiddenSearch(const System& system, const State& s, const HiddenOptions& options);
};

}  // namespace mortise
#pragma GCC visibility pop
