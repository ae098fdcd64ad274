#include <mortise/bodies/structure.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace mortise {
namespace {

constexpr double same_place = 1e-9;  // of the structure's extent

int axis_of(const std::string& direction, char kind) {
  if (direction.size() != 2 || direction[0] != kind) return -1;
  return direction[1] >= 'x' && direction[1] <= 'z' ? direction[1] - 'x' : -1;
}

}  // namespace

AnyMatrix::Sparse AnyMatrix::from_dense(const MatrixXd& x) {
  std::vector<Eigen::Triplet<double>> entries;
  for (Index j = 0; j < x.cols(); ++j)
    for (Index i = 0; i < x.rows(); ++i)
      if (x(i, j) != 0) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), x(i, j));  // NaN is kept
  Sparse out(x.rows(), x.cols());
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

Structure::Structure(const Given& given) : M(given.M), C(given.C), K(given.K), nodes(given.nodes) {
  const auto n = static_cast<Index>(given.dofs.size());
  std::map<std::string, Index> node;
  for (std::size_t i = 0; i < nodes.size(); ++i) node.emplace(nodes[i].name, static_cast<Index>(i));
  // Displacements share one scale, rotations another, and every other dof has its own.
  std::map<char, int> group;
  int next_group = 0;
  std::vector<Eigen::Triplet<double>> entries;
  MatrixXd translation = MatrixXd::Zero(n, 3), position = translation;
  for (Index i = 0; i < n; ++i) {
    const Dof& dof = given.dofs[static_cast<std::size_t>(i)];
    coordinates.push_back(dof.node + "." + dof.direction);
    const int u = axis_of(dof.direction, 'u'), r = axis_of(dof.direction, 'r');
    units.emplace_back(u >= 0 ? "m" : r >= 0 ? "rad" : "");
    if (u >= 0 || r >= 0) {
      const auto [it, is_new] = group.emplace(u >= 0 ? 'u' : 'r', next_group);
      if (is_new) ++next_group;
      groups.push_back(it->second);
    } else {
      groups.push_back(next_group++);
    }
    if (u < 0) continue;
    translation(i, u) = 1;
    if (const auto it = node.find(dof.node); it != node.end()) {
      entries.emplace_back(static_cast<int>(3 * it->second + u), static_cast<int>(i), 1.0);
      position(i, u) = nodes[static_cast<std::size_t>(it->second)].position[u];
    }
  }
  shape.resize(3 * static_cast<Index>(nodes.size()), n);
  shape.setFromTriplets(entries.begin(), entries.end());
  weight = MatrixXd::Zero(n, 3);
  if (M.rows() == n && M.cols() == n) {  // else validate refuses it
    weight = M * translation;
    for (int k = 0; k < 3; ++k) {
      moment[k] = weight.col(k).dot(position.col(k));
      mass = std::max(mass, weight.col(k).dot(translation.col(k)));
    }
  }
}

void Structure::shape_at(LocalVector r, std::vector<Geometry::Entry>& out) const {
  Vec3<double> at = Vec3<double>::Zero();
  for (std::size_t k = 0; k < r.size(); ++k) at[static_cast<Index>(k)] = r[k];
  const Index first = 3 * node_at(at);
  for (int k = 0; k < static_cast<int>(r.size()); ++k)
    for (decltype(shape)::InnerIterator it(shape, first + k); it; ++it) out.push_back({k, it.col(), it.value()});
}

Index Structure::node_at(const Vec3<double>& r) const {
  Index best = -1;
  double distance = 0, extent = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double d = (nodes[i].position - r).norm();
    extent = std::max(extent, (nodes[i].position - nodes[0].position).norm());
    if (best < 0 || d < distance) best = static_cast<Index>(i), distance = d;
  }
  const Label label{"point", point_in_words(r)};
  label.require(best >= 0, "the structure has no nodes", "give the positions of its nodes");
  const Node& nearest = nodes[static_cast<std::size_t>(best)];
  label.require(distance <= same_place * std::max(extent, nearest.position.norm()) || distance == 0,
                "the structure has no node there",
                fmt::format("the nearest is '{}' at {}", nearest.name, point_in_words(nearest.position)));
  return best;
}

void Structure::validate(const Label& label) const {
  const auto n = static_cast<Index>(coordinates.size());
  label.require(n > 0, "it has no dofs", "name one dof per row of M");
  const auto check = [&](const AnyMatrix& A, const char* name, bool may_be_absent) {
    if (may_be_absent && A.size() == 0) return;
    if (A.rows() != n || A.cols() != n)
      label.fail<WrongSize>(fmt::format("{} is {} x {} for {} dofs", name, A.rows(), A.cols(), n),
                            "give a square matrix of one row per dof");
    for (Index j = 0; j < A.outerSize(); ++j)
      for (AnyMatrix::InnerIterator it(A, j); it; ++it)
        if (!std::isfinite(it.value()))
          label.fail<NonFinite>(fmt::format("{} at ({}, {}) is {}", name, coordinates[std::size_t(it.row())],
                                            coordinates[std::size_t(j)], it.value()),
                                "give finite numbers");
  };
  check(M, "M", false);
  check(C, "C", true);
  check(K, "K", true);
  (void)massless_directions(M, label, coordinates);
  for (Index j = 0; j < K.outerSize(); ++j)
    for (AnyMatrix::InnerIterator it(K, j); it; ++it) {
      constexpr double round_off = 1e-9;  // matrices from files have few digits
      const double other = K.coeff(j, it.row());
      const double size = std::sqrt(std::abs(K.coeff(j, j) * K.coeff(it.row(), it.row())));
      label.require(std::abs(it.value() - other) <= round_off * std::max(size, std::abs(it.value())),
                    fmt::format("K is not symmetric: ({0}, {1}) = {2} but ({1}, {0}) = {3}",
                                coordinates[std::size_t(it.row())], coordinates[std::size_t(j)], it.value(), other),
                    "give a symmetric matrix; other forces go into a Force");
    }
  std::set<std::string> known;
  for (const Node& node : nodes) {
    label.require(known.insert(node.name).second, fmt::format("two nodes are named '{}'", node.name),
                  "give every node a name of its own");
    label.require(node.position.allFinite(), fmt::format("the position of node '{}' is not finite", node.name),
                  "give finite numbers");
  }
  for (const std::string& c : coordinates)
    if (const auto dot = c.find('.'); !nodes.empty() && dot != std::string::npos)
      label.require(known.count(c.substr(0, dot)) > 0, fmt::format("dof '{}' is of no node that it knows", c),
                    "list the node with its position, or give no nodes at all");
}

Structure::Unknowns::Unknowns(const Structure& s)
    : split_(massless_directions(MatrixXd(s.M), {"body", "structure"}, s.coordinates)),
      M_(s.M),
      N0_(AnyMatrix(split_.N0)),
      C_(s.C),
      K_(s.K),
      weight_(s.weight) {
  const Index n = M_.rows(), massless = split_.N0.cols(), massive = n - massless;
  references_.setZero(n, massless);
  references_.bottomRows(massless).setIdentity();
  for (Index j = 0; j < n && massive > 0; ++j) {
    if (M_.col(j).nonZeros() == 0 || split_.N0.row(j).isZero(0)) continue;
    const VectorXd column = split_.R_transposed_times(VectorXd(M_.col(j))).cwiseAbs();  // |R'M| e_j
    for (Index k = 0; k < massless; ++k)
      if (const double x = std::abs(split_.N0(j, k)); x > 0) references_.col(k).head(massive) += x * column;
  }
  zero_ = VectorXd::Zero(n);
}

VectorXd Structure::Unknowns::spread(const Motion&, const VectorXd& y) const {
  const Index massive = split_.rank();
  VectorXd dq = split_.R_times(y.head(massive));
  dq += N0_ * y.tail(y.size() - massive);
  return dq;
}

VectorXd Structure::Unknowns::project(const Motion&, const VectorXd& Q) const {
  VectorXd f(Q.size());
  f << split_.R_transposed_times(Q), N0_.transpose() * Q;
  return f;
}

VectorXd Structure::Unknowns::velocities(const Motion& m) const {
  VectorXd w(m.v.size());
  w.head(split_.rank()) = split_.R_transposed_times(M_ * m.v);
  for (std::size_t k = 0; k < split_.pivot.size(); ++k)
    w[split_.rank() + static_cast<Index>(k)] = m.v[split_.pivot[k]];
  return w;
}

}  // namespace mortise
