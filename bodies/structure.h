#pragma once
// Structure: an elastic structure from its mass, damping and stiffness matrix, with small displacements about a
// reference shape that is fixed in the world.
//
//   M q'' + C q' + K q = f                                     [kg, N s/m, N/m; kg m^2, ... for rotations]
//
//   Structure boom({.M = M, .K = K, .dofs = {{"n1", "ux"}, {"n1", "uy"}, {"n1", "rz"}}, .nodes = {{"n1", {2, 0, 0}}}});
//
// A coordinate is named node.direction, n1.ux: ux, uy, uz are displacements [m], rx, ry, rz small rotations [rad];
// other directions are free names.  M may be singular: massless dofs are welcome, and the rank report asks for what is
// missing.  K is symmetric.  C may be any matrix, or absent, as K may be.
//
// Points: point(q, r) of a node's reference position r is r + the node's displacement, so joints and forces at points
// work unchanged.  A direction in which the node has no dof is held.  A point that is no node is refused by name.
// Rotations are reached by their coordinates (Coupling, CoordinateSpring, functors).  Gravity acts through M and ux,
// uy, uz.
//
// M, C and K are kept sparse, but the equations of motion treat one body as one block: with more than a few hundred
// dofs, reduce it first (craig_bampton.h).

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <Eigen/SparseCore>

#include <mortise/core/fields.h>
#include <mortise/core/geometry.h>
#include <mortise/core/marker.h>
#include <mortise/core/massless.h>

namespace mortise {

// A dense or a sparse matrix, kept sparse.
struct AnyMatrix : Eigen::SparseMatrix<double> {
  using Sparse = Eigen::SparseMatrix<double>;
  AnyMatrix() = default;
  template <class D> AnyMatrix(const Eigen::SparseMatrixBase<D>& x) : Sparse(x) {}
  template <class D> AnyMatrix(const Eigen::MatrixBase<D>& x) : AnyMatrix(from_dense(x)) {}

 private:
  static Sparse from_dense(const MatrixXd& x);
};

struct Structure {
  struct Dof {
    std::string node, direction;  // "n1", "ux"
  };
  struct Node {
    std::string name;
    Vec3<double> position = Vec3<double>::Zero();  // [m] in the world, unloaded
  };
  struct Given {
    AnyMatrix M = {}, C = {}, K = {};  // C and K may be absent
    std::vector<Dof> dofs = {};        // one per row of the matrices
    std::vector<Node> nodes = {};      // where points are asked for
  };

  Structure() = default;
  explicit Structure(const Given& given);

  std::vector<std::string> coordinates;  // node.direction; of a reduced structure also mode1, mode2, ...
  std::vector<std::string> units;
  std::vector<int> groups;
  AnyMatrix M, C, K;
  std::vector<Node> nodes;
  // Displacements of the nodes, three rows each, and weights per unit of gravity along x, y, z: linear in q.
  Eigen::SparseMatrix<double, Eigen::RowMajor> shape;
  Mat<double, dynamic, 3> weight;
  Vec3<double> moment = Vec3<double>::Zero();  // [kg m] first moment of mass in the reference shape
  double mass = 0;                             // [kg] of it

  static constexpr Summary summary{"structure", "an elastic structure of given matrices", "M q'' + C q' + K q = f"};
  static constexpr std::tuple fields{
      Field{"M", &Structure::M, "kg", "mass; symmetric, positive semi-definite, may be singular"},
      Field{"C", &Structure::C, "N s/m", "damping; may be absent"},
      Field{"K", &Structure::K, "N/m", "stiffness; symmetric, may be absent"},
      Field{"coordinates", &Structure::coordinates, "", "names of the dofs, node.direction"},
      Field{"nodes", &Structure::nodes, "m", "names and reference positions of the nodes"}};
  static constexpr bool constant_mass = true;

  template <class T> Mat<T, dynamic> mass_matrix(const Vec<T, dynamic>&, const T&) const {
    return MatrixXd(M).template cast<T>();
  }
  template <class T> Vec<T, dynamic> force(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v, const T&) const {
    Vec<T, dynamic> Q = Vec<T, dynamic>::Zero(q.size());
    subtract_product(K, q, Q);
    subtract_product(C, v, Q);
    return Q;
  }
  template <class T> T potential(const Vec<T, dynamic>& q, const T&) const {
    Vec<T, dynamic> Q = Vec<T, dynamic>::Zero(q.size());
    subtract_product(K, q, Q);
    T V(0.0);
    for (Index i = 0; i < q.size(); ++i) V -= 0.5 * q[i] * Q[i];
    return V;
  }
  template <class T> Vec3<T> first_moment(const Vec<T, dynamic>& q) const {
    Vec3<T> S = moment.template cast<T>();
    for (Index i = 0; i < weight.rows(); ++i)
      for (int k = 0; k < 3; ++k)
        if (weight(i, k) != 0) S[k] += weight(i, k) * q[i];
    return S;
  }
  // D = 2: in the plane z = 0.
  template <class T, int D> Vec<T, D> point(const Vec<T, dynamic>& q, const Vec<double, D>& r) const {
    static_assert(D >= 1 && D <= 3, "points have up to 3 components");
    Vec3<double> at = Vec3<double>::Zero();
    at.template head<D>() = r;
    const Index first = 3 * node_at(at);
    Vec<T, D> p = r.template cast<T>();
    for (int k = 0; k < D; ++k)
      for (decltype(shape)::InnerIterator it(shape, first + k); it; ++it) p[k] += it.value() * q[it.col()];
    return p;
  }

  // The entries of d point/dq, which are constant.
  void shape_at(LocalVector r, std::vector<Geometry::Entry>& out) const;

  // The node whose reference position is r, to 1e-9 of the structure's extent; throws InvalidModel if there is none.
  Index node_at(const Vec3<double>& r) const;

  void validate(const Label& label) const;

  class Unknowns;

 private:
  template <class T> static void subtract_product(const AnyMatrix& A, const Vec<T, dynamic>& x, Vec<T, dynamic>& y) {
    for (Index j = 0; j < A.outerSize(); ++j)
      for (AnyMatrix::InnerIterator it(A, j); it; ++it) y[it.row()] -= it.value() * x[j];
  }
};

// y: combinations of the coordinates with mass 1 or 0, the same at every state (marked.h).
class Structure::Unknowns {
 public:
  static constexpr int count = dynamic;
  struct Motion {
    VectorXd q, v;
  };
  explicit Unknowns(const Structure& s);

  int massless() const { return static_cast<int>(references_.cols()); }
  double unit(int k, int of) const { return references_(k, of - static_cast<int>(split_.rank())); }
  static Motion motion(const VectorXd& q, const VectorXd& v) { return {q, v}; }
  VectorXd force(const Motion& m, const Vec3<double>& gravity) const {
    VectorXd f = weight_ * gravity;
    if (K_.size() > 0) f -= K_ * m.q;
    if (C_.size() > 0) f -= C_ * m.v;
    return project(m, f);
  }
  VectorXd spread(const Motion&, const VectorXd& y) const;         // R y_r + N0 y_s
  VectorXd project(const Motion&, const VectorXd& Q) const;        // [R'Q; N0'Q]
  const VectorXd& drift(const Motion&) const { return zero_; }
  VectorXd velocities(const Motion& m) const;  // [R'M v; v at the pivots of N0]
  static std::optional<Momentum> momentum(const Motion&) { return std::nullopt; }

 private:
  Massless split_;
  Eigen::SparseMatrix<double> M_, N0_, C_, K_;
  Mat<double, dynamic, 3> weight_;
  MatrixXd references_;  // |[R'M; rows of the identity]| |N0|
  VectorXd zero_;
};

}  // namespace mortise
