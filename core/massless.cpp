#include <mortise/core/massless.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <mortise/core/components.h>
#include <mortise/core/tolerances.h>

namespace mortise {
namespace {

std::string entry(const std::vector<std::string>& names, Index i, Index j) {
  if (static_cast<Index>(names.size()) <= std::max(i, j)) return fmt::format("({}, {})", i, j);
  return fmt::format("({}, {})", names[static_cast<std::size_t>(i)], names[static_cast<std::size_t>(j)]);
}

}  // namespace

// Of a larger matrix, as programs export it.
static bool one_triangle(const MatrixXd& M) {
  const auto empty = [](const MatrixXd& X) { return MatrixXd(X.triangularView<Eigen::StrictlyUpper>()).isZero(0); };
  return M.rows() > 2 && empty(M) != empty(M.transpose());
}

void require_symmetric(const MatrixXd& M, const Label& label, const std::vector<std::string>& names) {
  if (M.rows() != M.cols())
    label.fail<WrongSize>(fmt::format("the mass matrix is {} x {}", M.rows(), M.cols()), "give a square matrix");
  for (Index j = 0; j < M.cols(); ++j)
    for (Index i = 0; i < M.rows(); ++i)
      if (!std::isfinite(M(i, j)))
        label.fail<NonFinite>(fmt::format("mass matrix entry {} is {}", entry(names, i, j), M(i, j)),
                              "give finite masses");
  for (Index j = 0; j < M.cols(); ++j)
    for (Index i = 0; i < j; ++i) {
      const double size = std::sqrt(std::abs(M(i, i) * M(j, j))) + std::abs(M(i, j)) + std::abs(M(j, i));
      if (std::abs(M(i, j) - M(j, i)) > tolerance::symmetric * size)
        label.fail<NotSymmetric>(fmt::format("the mass matrix is not symmetric: {} = {} but {} = {}",
                                             entry(names, i, j), M(i, j), entry(names, j, i), M(j, i)),
                                 one_triangle(M)
                                     ? "only one triangle of it is there: add the other one; the first line "
                                       "of a Matrix Market file with one triangle ends in 'symmetric'"
                                     : "give a symmetric matrix");
    }
}

namespace {

// L D L' of a part of M, scaled to unit diagonal, pivot by pivot; and what is left where no pivot is.
struct Part {
  std::vector<Index> taken, rest;
  std::vector<double> pivots;
  std::vector<std::vector<std::pair<Index, double>>> columns;  // of L, below each pivot
  MatrixXd S;                                                  // Schur complement

  Part(MatrixXd given, double tolerance) : S(std::move(given)) {
    // Equal pivots go by their order, not by their rounding: the choice must not depend on units.
    const Index n = S.rows();
    rest.resize(static_cast<std::size_t>(n));
    std::iota(rest.begin(), rest.end(), Index{0});
    while (!rest.empty()) {
      auto best = rest.begin();
      for (auto j = rest.begin(); j != rest.end(); ++j)
        if (S(*j, *j) > tolerance::clearly_larger * S(*best, *best)) best = j;
      const Index p = *best;
      const double pivot = S(p, p);
      if (!(pivot > tolerance)) break;
      rest.erase(best);
      taken.push_back(p);
      pivots.push_back(pivot);
      auto& column = columns.emplace_back();
      for (const Index i : rest)
        if (const double x = S(i, p); x != 0) column.emplace_back(i, x / pivot);
      for (const auto& [j, y] : column)
        for (const auto& [i, x] : column) S(i, j) -= x * pivot * y;
    }
  }
};

}  // namespace

Massless massless_directions(const MatrixXd& M, const Label& label, const std::vector<std::string>& names) {
  require_symmetric(M, label, names);
  const Index n = M.rows();
  const auto indefinite = [&](const std::string& fact) {
    label.fail<InvalidMass>("the mass matrix is not positive semi-definite: " + fact,
                            "no motion may have negative kinetic energy; correct the masses");
  };

  // Scale to unit diagonal.  M_jj = 0 requires a zero row.
  VectorXd d = VectorXd::Zero(n);
  Components connected(static_cast<std::size_t>(n));
  for (Index j = 0; j < n; ++j) {
    if (M(j, j) < 0) indefinite(fmt::format("{} = {} is negative", entry(names, j, j), M(j, j)));
    if (M(j, j) > 0) d[j] = 1 / std::sqrt(M(j, j));
    for (Index i = 0; i < n; ++i) {
      if (i == j || M(i, j) == 0) continue;
      if (M(j, j) == 0) indefinite(fmt::format("{} is 0 but {} = {}", entry(names, j, j), entry(names, i, j), M(i, j)));
      connected.join(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    }
  }

  struct Null {
    Index pivot;
    std::vector<std::pair<Index, double>> entries;
  };
  std::vector<Null> null;
  Massless result{MatrixXd(), {}};
  Massless::Factor& f = result.factor;
  for (const auto& members : connected.parts()) {
    const auto count = static_cast<Index>(members.size());
    const auto global = [&](Index i) { return static_cast<Index>(members[static_cast<std::size_t>(i)]); };
    const double tolerance = 64 * static_cast<double>(count) * tolerance::eps;
    const Part part(
        MatrixXd::NullaryExpr(count, count,
                              [&](Index i, Index j) { return d[global(i)] * M(global(i), global(j)) * d[global(j)]; }),
        tolerance);

    // What remains must vanish: a negative or an off-diagonal remainder is negative kinetic energy.
    const double negative = 100 * tolerance;
    for (const Index i : part.rest)
      for (const Index j : part.rest)
        if (part.S(i, i) < -negative || std::abs(part.S(i, j)) > std::sqrt(negative))
          indefinite(fmt::format("scaled to unit diagonal it has a pivot near {:.1e} at {}",
                                 std::min(part.S(i, i), -std::abs(part.S(i, j))), entry(names, global(i), global(j))));

    const auto r = static_cast<Index>(part.taken.size());
    std::vector<Index> place(static_cast<std::size_t>(count), -1);  // of a coordinate among the pivots
    for (Index k = 0; k < r; ++k) place[static_cast<std::size_t>(part.taken[static_cast<std::size_t>(k)])] = k;
    // N0 = [-M_rr^-1 M_rs; I]:  L_rr' x = -L_sr', in scaled coordinates, for all of the rest at once, by rows.
    MatrixXd X = MatrixXd::Zero(r, static_cast<Index>(part.rest.size()));
    if (!part.rest.empty())
      for (Index k = r; k-- > 0;)
        for (const auto& [i, x] : part.columns[static_cast<std::size_t>(k)]) {
          if (const Index other = place[static_cast<std::size_t>(i)]; other >= 0)
            X.row(k) -= x * X.row(other);
          else
            X(k, std::lower_bound(part.rest.begin(), part.rest.end(), i) - part.rest.begin()) -= x;
        }
    for (std::size_t c = 0; c < part.rest.size(); ++c) {
      const Index j = global(part.rest[c]);
      const double left = part.S(part.rest[c], part.rest[c]);
      if (left > static_cast<double>(count) * tolerance::eps)
        result.doubtful.push_back({static_cast<int>(j), false, left});
      Null direction{j, {{j, 1.0}}};
      for (Index k = 0; k < r && d[j] > 0; ++k)
        if (const double x = X(k, static_cast<Index>(c)); x != 0) {
          const Index i = global(part.taken[static_cast<std::size_t>(k)]);
          direction.entries.emplace_back(i, d[i] / d[j] * x);
        }
      null.push_back(std::move(direction));
    }

    const auto first = static_cast<int>(f.coordinate.size());
    for (std::size_t k = 0; k < part.taken.size(); ++k) {
      const auto coordinate = static_cast<int>(global(part.taken[k]));
      if (part.pivots[k] < tolerance::doubtful_mass) result.doubtful.push_back({coordinate, true, part.pivots[k]});
      f.coordinate.push_back(coordinate);
      f.scale.push_back(d[coordinate]);
      f.d.push_back(std::sqrt(part.pivots[k]));
      f.start.push_back(static_cast<int>(f.row.size()));
      for (const auto& [i, x] : part.columns[k])
        if (const Index other = place[static_cast<std::size_t>(i)]; other >= 0) {
          f.row.push_back(first + static_cast<int>(other));
          f.value.push_back(x);
        }
    }
  }
  f.start.push_back(static_cast<int>(f.row.size()));

  std::sort(null.begin(), null.end(), [](const Null& a, const Null& b) { return a.pivot < b.pivot; });
  result.N0 = MatrixXd::Zero(n, static_cast<Index>(null.size()));
  for (std::size_t c = 0; c < null.size(); ++c) {
    result.pivot.push_back(static_cast<int>(null[c].pivot));
    for (const auto& [i, x] : null[c].entries) result.N0(i, static_cast<Index>(c)) = x;
  }
  return result;
}

// M_rr = L diag(d)^2 L' in scaled coordinates:  R = scale L^-T diag(d)^-1.
VectorXd Massless::R_times(const VectorXd& y) const {
  const auto& f = factor;
  const std::size_t r = f.coordinate.size();
  VectorXd x(y.size()), out = VectorXd::Zero(N0.rows());
  for (std::size_t k = r; k-- > 0;) {
    double sum = y[static_cast<Index>(k)] / f.d[k];
    for (int e = f.start[k]; e < f.start[k + 1]; ++e)
      sum -= f.value[static_cast<std::size_t>(e)] * x[f.row[static_cast<std::size_t>(e)]];
    x[static_cast<Index>(k)] = sum;
    out[f.coordinate[k]] = f.scale[k] * sum;
  }
  return out;
}

VectorXd Massless::R_transposed_times(const VectorXd& given) const {
  const auto& f = factor;
  const std::size_t r = f.coordinate.size();
  VectorXd x(static_cast<Index>(r));
  for (std::size_t k = 0; k < r; ++k) x[static_cast<Index>(k)] = f.scale[k] * given[f.coordinate[k]];
  for (std::size_t k = 0; k < r; ++k) {
    const double value = x[static_cast<Index>(k)];
    for (int e = f.start[k]; e < f.start[k + 1] && value != 0; ++e)
      x[f.row[static_cast<std::size_t>(e)]] -= f.value[static_cast<std::size_t>(e)] * value;
    x[static_cast<Index>(k)] /= f.d[k];
  }
  return x;
}

MatrixXd Massless::R() const {
  const auto r = static_cast<Index>(factor.coordinate.size());
  MatrixXd out(N0.rows(), r);
  for (Index k = 0; k < r; ++k) out.col(k) = R_times(VectorXd::Unit(r, k));
  return out;
}

Massless stack(const std::vector<Massless>& blocks) {
  Index n = 0, k = 0;
  for (const Massless& b : blocks) n += b.N0.rows(), k += b.N0.cols();
  Massless all{MatrixXd::Zero(n, k), {}};
  n = k = 0;
  for (const Massless& b : blocks) {
    all.N0.block(n, k, b.N0.rows(), b.N0.cols()) = b.N0;
    for (const int p : b.pivot) all.pivot.push_back(static_cast<int>(n) + p);
    for (const auto& d : b.doubtful) all.doubtful.push_back({static_cast<int>(n) + d.coordinate, d.counts, d.pivot});
    n += b.N0.rows(), k += b.N0.cols();
  }
  return all;
}

}  // namespace mortise
