#pragma once
// FoldWatch: looks along a run for folds of hidden constraints that were completed (diagnosis/hidden.h).
//
// Where K = dh/dq N (or D = dh/dv N) becomes singular, h = 0 has no solution near by any more: what has no mass would
// jump to another one, and the model does not say how.  The run must end there, at every tolerance.

#include <string>
#include <vector>

#include <mortise/diagnosis/hidden_constraint.h>
#include <mortise/integrators/stepper.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class FoldWatch {
 public:
  explicit FoldWatch(const System& system);

  void begin(const State& s);
  // After a step: throws NotConverged if a fold lies within it.
  void look(const Stepper& stepper, const State& from, const State& now);
  // Throws NotConverged if a fold lies close ahead of this state, within a step of length h that has failed.
  void explain(Flow& flow, const State& s, double h) const;

 private:
  struct Watched {
    std::string name;
    const HiddenConstraint* rows;
    std::vector<Index> firsts;
    double largest = 0, last = 0;  // determinants; 0: unknown
  };
  void see(Watched& w, const State& s, const State& from);
  [[noreturn]] void fail(const Watched& w, const std::string& coordinate, const State& s) const;

  const System& system_;
  std::vector<Watched> watched_;
  State between_;
};

}  // namespace mortise
#pragma GCC visibility pop
