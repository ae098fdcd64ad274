#include <mortise/core/exact_solve.h>
#include <mortise/core/tolerances.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

namespace mortise {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
Quad magnitude(Quad x) { return x < 0 ? -x : x; }
double power_of_2(double x) { return std::exp2(std::round(std::log2(x))); }

}  // namespace

ExactSolve::ExactSolve(Index size, const std::vector<Entry>& entries)
    : size_(size), row_scale_(at(size), 1.0), column_scale_(at(size), 1.0), K_(at(size)) {
  // Equilibrated, exactly.
  constexpr int rounds = 8;
  std::vector<double> of_row(at(size)), of_column(at(size));
  for (int k = 0; k < rounds; ++k) {
    std::fill(of_row.begin(), of_row.end(), 0.0);
    std::fill(of_column.begin(), of_column.end(), 0.0);
    for (const Entry& e : entries) {
      const double s = std::abs(row_scale_[at(e.row)] * e.value * column_scale_[at(e.column)]);
      of_row[at(e.row)] = std::max(of_row[at(e.row)], s);
      of_column[at(e.column)] = std::max(of_column[at(e.column)], s);
    }
    for (Index i = 0; i < size; ++i) {
      if (of_row[at(i)] > 0) row_scale_[at(i)] *= power_of_2(1 / std::sqrt(of_row[at(i)]));
      if (of_column[at(i)] > 0) column_scale_[at(i)] *= power_of_2(1 / std::sqrt(of_column[at(i)]));
    }
  }
  for (const Entry& e : entries)
    if (e.value != 0)
      K_[at(e.row)].emplace_back(e.column, row_scale_[at(e.row)] * e.value * column_scale_[at(e.column)]);
  for (auto& row : K_) std::sort(row.begin(), row.end());
  eliminate();
}

void ExactSolve::eliminate() {
  std::vector<Row> rows(at(size_));
  std::vector<std::vector<int>> touching(at(size_));  // rows that may have an entry in a column
  std::vector<int> count(at(size_), 0);               // of entries in a column
  Index entries = 0;
  for (Index i = 0; i < size_; ++i)
    for (const auto& [j, value] : K_[at(i)]) {
      if (!rows[at(i)].empty() && rows[at(i)].back().column == j) {
        rows[at(i)].back().value += value;
        continue;
      }
      rows[at(i)].push_back({j, value});
      touching[at(j)].push_back(static_cast<int>(i));
      ++count[at(j)];
      ++entries;
    }
  std::set<std::pair<std::size_t, int>> queue;  // rows by their number of entries
  for (Index i = 0; i < size_; ++i) queue.emplace(rows[at(i)].size(), static_cast<int>(i));
  U_.resize(at(size_));
  pivot_.resize(at(size_));
  Row merged;
  while (!queue.empty()) {
    const int i = queue.begin()->second;
    queue.erase(queue.begin());
    Row& row = rows[at(i)];
    Quad largest = 0;
    for (const Term& t : row) largest = std::max(largest, magnitude(t.value));
    if (largest == 0) return;
    const Term* best = nullptr;
    for (const Term& t : row)
      if (magnitude(t.value) >= tolerance::stable_pivot * largest &&
          (!best || count[at(t.column)] < count[at(best->column)] ||
           (count[at(t.column)] == count[at(best->column)] && magnitude(t.value) > magnitude(best->value))))
        best = &t;
    const int j = best->column;
    const Quad pivot = best->value;
    Step step{i, j, {}};
    for (const int k : touching[at(j)]) {
      if (k == i) continue;
      Row& other = rows[at(k)];
      const auto found =
          std::lower_bound(other.begin(), other.end(), j, [](const Term& t, int column) { return t.column < column; });
      if (found == other.end() || found->column != j) continue;
      const Quad factor = found->value / pivot;
      step.factors.emplace_back(k, factor);
      queue.erase({other.size(), k});
      entries -= static_cast<Index>(other.size());
      merged.clear();
      auto a = other.begin();
      auto b = row.begin();
      while (a != other.end() || b != row.end()) {
        if (b == row.end() || (a != other.end() && a->column < b->column)) {
          merged.push_back(*a++);
        } else if (a == other.end() || b->column < a->column) {
          merged.push_back({b->column, -factor * b->value});
          touching[at(b->column)].push_back(k);
          ++count[at(b->column)];
          ++b;
        } else {
          if (a->column != j) merged.push_back({a->column, a->value - factor * b->value});
          ++a, ++b;
        }
      }
      other.swap(merged);
      entries += static_cast<Index>(other.size());
      queue.emplace(other.size(), k);
    }
    if (entries > most_entries) return;
    for (const Term& t : row) --count[at(t.column)];
    touching[at(j)].clear();
    for (const Term& t : row)
      if (t.column != j) U_[at(i)].push_back(t);
    pivot_[at(i)] = pivot;
    steps_.push_back(std::move(step));
    row.clear();
  }
  regular_ = true;
}

// K^-1 r
std::vector<Quad> ExactSolve::backward(std::vector<Quad> r) const {
  for (const Step& s : steps_)
    for (const auto& [k, factor] : s.factors) r[at(k)] -= factor * r[at(s.row)];
  std::vector<Quad> x(at(size_));
  for (auto s = steps_.rbegin(); s != steps_.rend(); ++s) {
    Quad sum = r[at(s->row)];
    for (const Term& t : U_[at(s->row)]) sum -= t.value * x[at(t.column)];
    x[at(s->column)] = sum / pivot_[at(s->row)];
  }
  return x;
}

bool ExactSolve::solve(const VectorXd& b, VectorXd& x) {
  constexpr int rounds = 6;
  x_.assign(at(size_), Quad(0));
  std::vector<Quad> r(at(size_));
  Quad largest = 0;
  bool met = false;
  for (int round = 0; round < rounds && !met; ++round) {
    met = round > 0;
    for (Index i = 0; i < size_; ++i) {
      Quad rest = Quad(row_scale_[at(i)]) * b[i], terms = magnitude(rest);
      for (const auto& [j, k] : K_[at(i)]) {
        const Quad term = k * x_[at(j)];
        rest -= term;
        terms += magnitude(term);
      }
      r[at(i)] = rest;
      if (!(magnitude(rest) <= tolerance::quad_round_off * terms + tolerance::quad_nothing * largest)) met = false;
    }
    if (met) break;
    const std::vector<Quad> step = backward(r);
    for (Index i = 0; i < size_; ++i) {
      x_[at(i)] += step[at(i)];
      largest = std::max(largest, magnitude(x_[at(i)]));
    }
  }
  x.resize(size_);
  for (Index i = 0; i < size_; ++i) x[i] = static_cast<double>(column_scale_[at(i)] * x_[at(i)]);
  return met && x.allFinite();
}

VectorXd ExactSolve::sensitivity(const VectorXd& b, const VectorXd& relative, const VectorXd& absolute) const {
  constexpr int draws = 3;
  std::uint64_t random = 1;
  const auto sign = [&] {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 63) != 0 ? Quad(1) : Quad(-1);
  };
  VectorXd moved = VectorXd::Zero(size_);
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<Quad> r(at(size_));
    for (Index i = 0; i < size_; ++i) {
      Quad sum = sign() * row_scale_[at(i)] * b[i];
      for (const auto& [j, k] : K_[at(i)]) sum += sign() * k * x_[at(j)];
      r[at(i)] = relative[i] * sum + sign() * row_scale_[at(i)] * absolute[i];
    }
    const std::vector<Quad> step = backward(std::move(r));
    for (Index i = 0; i < size_; ++i)
      moved[i] = std::max(moved[i], std::abs(static_cast<double>(column_scale_[at(i)] * step[at(i)])));
  }
  return moved;
}

}  // namespace mortise
