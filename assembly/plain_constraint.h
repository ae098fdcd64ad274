#pragma once
// A constraint that is no joint: rows alone, without a law, a picture or readings.

#include <mortise/assembly/models.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class PlainConstraint : public ConstraintModel {
 public:
  Sketch sketch() const override { return {}; }
  std::vector<Quantity> quantities() const override { return {}; }
  void read(const State&, const VectorXd&, Firsts, double*) const override {}
  void nonideal(const State&, const Places&, double* const*) const override {}
  bool reacts() const override { return false; }
  void react(const State&, const Places&, const double*, double* const*) const override {}
  void react(const State&, Firsts, const double*, VectorRef) const override {}
  bool ideal() const override { return true; }
  bool differentiable() const override { return true; }
  void nonideal(const State&, Firsts, VectorRef) const override {}
  std::optional<Slopes> nonideal_slopes(const State&, Firsts) const override { return std::nullopt; }
};

}  // namespace mortise
#pragma GCC visibility pop
