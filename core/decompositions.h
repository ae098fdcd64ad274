#pragma once
// Decompositions of dense matrices, compiled once: Eigen's are dear to compile wherever they are used.

#include <type_traits>
#include <vector>

#include <Eigen/Dense>

#include <mortise/core/types.h>

#pragma GCC visibility push(hidden)
namespace mortise {

// x = solve(b), b one column or several, for what has solve_into(b, x) and cols().
template <class Factor> struct Solves {
  template <class B> auto solve(const Eigen::MatrixBase<B>& b) const {
    const auto& factor = static_cast<const Factor&>(*this);
    std::conditional_t<B::ColsAtCompileTime == 1, VectorXd, MatrixXd> x(factor.cols(), b.cols());
    factor.solve_into(b, x);
    return x;
  }
};

// X = L L', X symmetric.
class Cholesky : public Solves<Cholesky> {
 public:
  explicit Cholesky(const MatrixXd& X);
  bool positive() const { return llt_.info() == Eigen::Success; }  // was X positive definite?
  Index cols() const { return llt_.cols(); }
  void solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const;
  MatrixXd upper() const;                        // L'
  MatrixXd over_lower(const MatrixXd& b) const;  // L^-1 b
  MatrixXd over_upper(const MatrixXd& b) const;  // L'^-1 b

 private:
  Eigen::LLT<MatrixXd> llt_;
};

// X symmetric, semi-definite either way.
class Ldlt : public Solves<Ldlt> {
 public:
  explicit Ldlt(const MatrixXd& X);
  Index cols() const { return ldlt_.cols(); }
  void solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const;

 private:
  Eigen::LDLT<MatrixXd> ldlt_;
};

// X square and regular.
class Lu : public Solves<Lu> {
 public:
  Lu() = default;
  explicit Lu(const MatrixXd& X);
  Index cols() const { return lu_.cols(); }
  void solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const;
  MatrixXd solve_transposed(const MatrixXd& b) const;

 private:
  Eigen::PartialPivLU<MatrixXd> lu_;
};

// Any X, by the largest pivot each time: the first k are those of a regular block of rank k.
class PivotedLu : public Solves<PivotedLu> {
 public:
  explicit PivotedLu(const MatrixXd& X);
  Index cols() const { return lu_.cols(); }
  void solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const;
  Index column(Index k) const { return lu_.permutationQ().indices()[k]; }        // of X, of pivot k
  Index place_of_row(Index i) const { return lu_.permutationP().indices()[i]; }  // k, if row i of X has pivot k
  double pivot(Index k) const { return lu_.matrixLU()(k, k); }

 private:
  Eigen::FullPivLU<MatrixXd> lu_;
};

// X P = Q R by pivoted columns; least squares for X of full column rank.
class PivotedQr : public Solves<PivotedQr> {
 public:
  explicit PivotedQr(const MatrixXd& X);
  Index cols() const { return qr_.cols(); }
  Index rank() const { return qr_.rank(); }
  void solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const;
  MatrixXd basis(Index k) const;  // the first k columns of Q

 private:
  Eigen::ColPivHouseholderQR<MatrixXd> qr_;
};

// Any X: least squares of minimum norm.  Pivots below `zero` of the largest count as 0; 0 means round-off.
class LeastSquares : public Solves<LeastSquares> {
 public:
  explicit LeastSquares(const MatrixXd& X, double zero = 0);
  Index cols() const { return cod_.cols(); }
  Index rank() const { return cod_.rank(); }
  void solve_into(const Eigen::Ref<const MatrixXd>& b, Eigen::Ref<MatrixXd> x) const;
  MatrixXd left_null_space() const;  // orthonormal basis of null(X')

 private:
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> cod_;
};

// N R^-1 with N = Q R: columns made orthonormal by recombining them only, so that rows of small units stay exact.
void orthonormalise(MatrixXd& N);

// Y = Q R without pivoting: Q of as many columns as Y, and R with no more rows than columns.
MatrixXd orthonormal_basis(const MatrixXd& Y);
MatrixXd upper_triangle(const MatrixXd& Y);

// X = V diag(values) V', X symmetric, values ascending.
struct SymmetricEigen {
  VectorXd values;
  MatrixXd vectors;

  explicit SymmetricEigen(const MatrixXd& X);
};

// X = U diag(s) V', U and V square, s descending.  Any size, also empty.
struct Svd {
  MatrixXd U, V;
  VectorXd s;

  explicit Svd(const MatrixXd& X);
  Index count_above(double threshold) const { return (s.array() > threshold).count(); }
  MatrixXd row_space(Index rank) const { return V.leftCols(rank); }               // orthonormal basis of range(X')
  MatrixXd null_space(Index rank) const { return V.rightCols(V.cols() - rank); }  // ... of null(X)
  MatrixXd left_null_space(Index rank) const { return U.rightCols(U.cols() - rank); }
  MatrixXd pseudo_inverse(Index rank) const;  // Moore-Penrose, with all but `rank` values taken as 0
};

// S^1/2 and S^-1/2 of a symmetric positive definite S.
struct SquareRoot {
  MatrixXd root, inverse_root;
  double smallest = 0, largest = 0;  // eigenvalues of S

  explicit SquareRoot(const MatrixXd& S);
};

// Columns recombined so that each has a pivot row of its own: 1 there and 0 in the other columns' pivot rows.
// Pivots are taken from the last rows where that is stable.  pivots[k] is the row of column k.  Entries below round_off
// of their column's largest become 0.
struct ShortBasis {
  MatrixXd X;
  std::vector<Index> pivots;

  explicit ShortBasis(const MatrixXd& basis, double round_off = 1e-9);
};

}  // namespace mortise
#pragma GCC visibility pop
