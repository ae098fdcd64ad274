#include "rank_in_50_digits.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <boost/multiprecision/cpp_bin_float.hpp>

namespace mortise::testing {
namespace {

using Real = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>, boost::multiprecision::et_off>;
using Column = std::vector<Real>;
using Columns = std::vector<Column>;  // of a matrix

// Below `zero` a pivot is 0, above `clear` it is none; thresholds of the library lie between.
constexpr double zero = 1e-12, clear = 1e-6;

Real dot(const Column& a, const Column& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Factors r of rows and c of columns, equal within a group, so that the largest of r |P| c in each row and each group
// is about 1: by square roots, again and again.
struct Factors {
  std::vector<double> r, c;
  Factors(const std::vector<std::vector<double>>& P, Index rows, const std::vector<int>& groups) {
    constexpr int rounds = 60;
    r.assign(static_cast<std::size_t>(rows), 1), c.assign(P.size(), 1);
    const int count = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
    for (int k = 0; k < rounds; ++k) {
      std::vector<double> of_row(r.size(), 0), of_group(static_cast<std::size_t>(count), 0);
      for (std::size_t j = 0; j < P.size(); ++j)
        for (std::size_t i = 0; i < r.size(); ++i) {
          const double x = r[i] * P[j][i] * c[j];
          of_row[i] = std::max(of_row[i], x);
          double& g = of_group[static_cast<std::size_t>(groups[j])];
          g = std::max(g, x);
        }
      for (std::size_t i = 0; i < r.size(); ++i)
        if (of_row[i] > 0) r[i] /= std::sqrt(of_row[i]);
      for (std::size_t j = 0; j < P.size(); ++j)
        if (const double g = of_group[static_cast<std::size_t>(groups[j])]; g > 0) c[j] /= std::sqrt(g);
    }
  }
};

struct Pivoted {
  Index rank = 0;
  bool certain = true;
  Columns basis;  // orthonormal
};

// QR with column pivoting; what is left of the columns is made orthogonal twice.
Pivoted pivoted(Columns X) {
  Pivoted out;
  std::vector<bool> used(X.size(), false);
  for (std::size_t step = 0; step < X.size(); ++step) {
    std::size_t best = X.size();
    Real largest = -1;
    for (std::size_t j = 0; j < X.size(); ++j)
      if (!used[j])
        if (const Real size = dot(X[j], X[j]); size > largest) largest = size, best = j;
    const double pivot = std::sqrt(largest.convert_to<double>());
    if (pivot < clear && pivot > zero) out.certain = false;
    if (!(pivot > 1e-9)) break;
    used[best] = true;
    Column q = X[best];
    const Real length = sqrt(largest);
    for (Real& x : q) x /= length;
    for (std::size_t j = 0; j < X.size(); ++j)
      if (!used[j])
        for (int pass = 0; pass < 2; ++pass) {
          const Real share = dot(q, X[j]);
          for (std::size_t i = 0; i < q.size(); ++i) X[j][i] -= share * q[i];
        }
    out.basis.push_back(std::move(q));
    ++out.rank;
  }
  return out;
}

}  // namespace

ExactRanks exact_ranks(const System& system, const Evaluation& e) {
  const Index n = system.size();
  std::vector<Index> rows;  // those that are there
  for (std::size_t i = 0; i < system.constraints().size(); ++i)
    if (!std::binary_search(e.state.off.begin(), e.state.off.end(), i))
      for (Index k = 0; k < system.constraints()[i].rows; ++k) rows.push_back(system.constraints()[i].row + k);
  const MatrixXd A = e.dense_A()(rows, Eigen::all);
  const VectorXd b = e.b(rows);
  const auto m = static_cast<std::size_t>(A.rows());
  ExactRanks out;

  // A, balanced; by its rows, so that what they leave of b can be seen.
  std::vector<int> groups;
  int base = 0;
  for (const auto& body : system.bodies()) {
    int next = base;
    for (const int g : body.model->groups()) groups.push_back(base + g), next = std::max(next, base + g + 1);
    base = next;
  }
  std::vector<std::vector<double>> P(static_cast<std::size_t>(n), std::vector<double>(m));
  for (Index j = 0; j < n; ++j)
    for (std::size_t i = 0; i < m; ++i) P[static_cast<std::size_t>(j)][i] = std::abs(A(static_cast<Index>(i), j));
  // A row of round-off alone, such as cos(90 degrees), is nobody's certainty.
  constexpr double round_off = 1e-11;
  const double largest = A.size() ? A.cwiseAbs().maxCoeff() : 0;
  bool faint = false;
  for (Index i = 0; i < A.rows(); ++i)
    if (const double x = A.row(i).cwiseAbs().maxCoeff(); x != 0 && x < round_off * largest) faint = true;
  const Factors f(P, static_cast<Index>(m), groups);
  Columns columns(static_cast<std::size_t>(n), Column(m));
  for (Index j = 0; j < n; ++j)
    for (std::size_t i = 0; i < m; ++i)
      columns[static_cast<std::size_t>(j)][i] =
          Real(f.r[i]) * Real(A(static_cast<Index>(i), j)) * Real(f.c[static_cast<std::size_t>(j)]);
  const Pivoted of_A = pivoted(columns);
  out.A = of_A.rank;
  out.certain = of_A.certain && !faint;
  if (m > 0) {  // b less its part in the range of A
    Column rest(m);
    Real size = 0;
    for (std::size_t i = 0; i < m; ++i) {
      rest[i] = Real(f.r[i]) * Real(b[static_cast<Index>(i)]);
      size = std::max(size, Real(abs(rest[i])));
    }
    for (int pass = 0; pass < 2; ++pass)
      for (const Column& q : of_A.basis) {
        const Real share = dot(q, rest);
        for (std::size_t i = 0; i < m; ++i) rest[i] -= share * q[i];
      }
    out.disagrees = size > 0 ? (sqrt(dot(rest, rest)) / size).convert_to<double>() : 0;
  }

  // A N0, with factors from |A| |N0|.
  std::vector<std::pair<Index, MatrixXd>> null;
  Index directions = 0;
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const auto& body = system.bodies()[i];
    if (body.size == 0) continue;
    null.emplace_back(body.first, body.model->massless(e.state, body.first, e.M(i), {"body", body.name}).N0);
    directions += null.back().second.cols();
  }
  Columns X;
  std::vector<std::vector<double>> sizes;
  for (const auto& [first, N0] : null)
    for (Index k = 0; k < N0.cols(); ++k) {
      Column x(m);
      std::vector<double> size(m, 0);
      for (std::size_t i = 0; i < m; ++i)
        for (Index j = 0; j < N0.rows(); ++j) {
          const double a = A(static_cast<Index>(i), first + j);
          x[i] += Real(a) * Real(N0(j, k));
          size[i] += std::abs(a * N0(j, k));
        }
      X.push_back(std::move(x));
      sizes.push_back(std::move(size));
    }
  std::vector<int> each(X.size());
  for (std::size_t j = 0; j < each.size(); ++j) each[j] = static_cast<int>(j);
  const Factors g(sizes, static_cast<Index>(m), each);
  for (std::size_t j = 0; j < X.size(); ++j)
    for (std::size_t i = 0; i < m; ++i) X[j][i] *= Real(g.r[i]) * Real(g.c[j]);
  const Pivoted of_X = pivoted(std::move(X));
  out.MA = n - directions + of_X.rank;
  out.certain = out.certain && of_X.certain;
  return out;
}

}  // namespace mortise::testing
