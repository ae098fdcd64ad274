#pragma once
// K x = b for sparse, regular K, to all digits of doubles however badly K is conditioned: Gaussian elimination in
// quadruple precision, with Markowitz' choice of pivots that keep few entries.  Some hundred times as dear as doubles.

#include <vector>

#include <mortise/core/types.h>

#pragma GCC visibility push(hidden)
namespace mortise {

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Quad;
#else
using Quad = long double;  // which is as long on some machines
#endif

class ExactSolve {
 public:
  struct Entry {
    int row, column;
    double value;
  };
  // Where elimination would keep more than this many entries it is given up.
  static constexpr Index most_entries = 2000000;

  ExactSolve(Index size, const std::vector<Entry>& entries);
  bool regular() const { return regular_; }  // and not given up

  // False if refinement leaves more than round-off of quadruple precision in an equation.
  bool solve(const VectorXd& b, VectorXd& x);
  // How far x, found last, moves when every entry of K and b in equation i changes by relative[i] of itself, and b by
  // absolute[i], with signs at random: the largest of a few draws, to first order.
  VectorXd sensitivity(const VectorXd& b, const VectorXd& relative, const VectorXd& absolute) const;

 private:
  struct Term {
    int column;
    Quad value;
  };
  using Row = std::vector<Term>;
  struct Step {  // of the elimination
    int row, column;
    std::vector<std::pair<int, Quad>> factors;  // of the rows it was taken from
  };

  void eliminate();
  std::vector<Quad> backward(std::vector<Quad> r) const;

  Index size_;
  std::vector<double> row_scale_, column_scale_;  // powers of 2
  std::vector<std::vector<std::pair<int, double>>> K_;  // scaled, by rows
  std::vector<Row> U_;                                  // by rows, without the pivot's own entry
  std::vector<Quad> pivot_;
  std::vector<Step> steps_;
  std::vector<Quad> x_;  // found last, scaled
  bool regular_ = false;
};

}  // namespace mortise
#pragma GCC visibility pop
