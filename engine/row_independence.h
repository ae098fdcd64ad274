#pragma once
// RowIndependence: how independent the rows of A are of each other, whatever the masses.
//
//   B = T A L,   B B' = P' U' D U P,   sqrt(min D_ii)
//
// L counts all coordinates that are no lengths in the typical lever arm of the joints, one for each connected part of
// the mechanism; T makes every row a unit vector.  D_ii is then the square of what the rows eliminated before it leave
// of a row: 1 where rows are orthogonal, 0 where they depend on each other.  Neither masses nor units change it,
// whereas the pivots of A M^-1 A' also get small where light bodies stand beside heavy ones.

#include <vector>

#include <Eigen/SparseCholesky>

#include <mortise/assembly/system.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class RowIndependence {
 public:
  // The state gives room only.
  RowIndependence(const System& system, const State& s);

  // Of the rows that act at s, but for those left out; 1 without rows.
  double at(const State& s, const std::vector<Index>& left_out = {});

 private:
  void find_levers();

  const System& system_;
  Evaluation e_;
  std::vector<bool> is_length_;    // by coordinates
  std::vector<std::size_t> part_;  // by constraints: the connected part
  std::vector<double> lever_;      // [m] by parts
  std::vector<std::vector<double>> ratios_;
  VectorXd norms_;  // of the rows; 0: it does not count
  Eigen::SparseMatrix<double, Eigen::RowMajor> B_;
  Eigen::SparseMatrix<double> G_;
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor_;
};

}  // namespace mortise
#pragma GCC visibility pop
