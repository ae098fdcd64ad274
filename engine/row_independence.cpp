#include <mortise/engine/row_independence.h>

#include <algorithm>
#include <cmath>

#include <mortise/assembly/system_graph.h>

namespace mortise {

RowIndependence::RowIndependence(const System& system, const State& s) : system_(system), e_(system.evaluate(s)) {
  for (const auto& b : system.bodies())
    for (const std::string& unit : b.model->units()) is_length_.push_back(unit == "m");
  const SystemGraph::Components& parts = system.graph().components();
  part_.assign(parts.of_constraint.begin(), parts.of_constraint.end());
  lever_.assign(parts.count, 1);
  ratios_.resize(parts.count);
}

// The median, over the joints of a part, of their slopes along other coordinates over those along lengths.  Rows of one
// joint that touch lengths have one unit.
void RowIndependence::find_levers() {
  for (auto& r : ratios_) r.clear();
  for (std::size_t i = 0; i < part_.size(); ++i) {
    const auto& c = system_.constraints()[i];
    double lengths = 0, others = 0;
    for (Index r = 0; r < c.rows; ++r) {
      double along = 0, across = 0;
      for (std::size_t k = 0; k < c.bodies.size(); ++k) {
        const auto& b = system_.bodies()[c.bodies[k]];
        const auto A = e_.A(c.block + k);
        for (Index j = 0; j < b.size; ++j)
          (is_length_[static_cast<std::size_t>(b.first + j)] ? along : across) += A(r, j) * A(r, j);
      }
      if (along > 0) lengths += along, others += across;
    }
    if (lengths > 0 && others > 0) ratios_[part_[i]].push_back(std::sqrt(others / lengths));
  }
  for (std::size_t p = 0; p < ratios_.size(); ++p) {
    auto& r = ratios_[p];
    if (r.empty()) continue;
    const auto middle = r.begin() + static_cast<std::ptrdiff_t>(r.size() / 2);
    std::nth_element(r.begin(), middle, r.end());
    lever_[p] = *middle;
  }
}

double RowIndependence::at(const State& s, const std::vector<Index>& left_out) {
  if (system_.rows() == 0) return 1;
  system_.evaluate(s, e_);
  find_levers();
  std::vector<Eigen::Triplet<double>> slopes;
  norms_.setZero(system_.rows());
  for (std::size_t i = 0; i < part_.size(); ++i) {
    const auto& c = system_.constraints()[i];
    for (std::size_t k = 0; k < c.bodies.size(); ++k) {
      const auto& b = system_.bodies()[c.bodies[k]];
      const auto A = e_.A(c.block + k);
      for (Index r = 0; r < c.rows; ++r)
        for (Index j = 0; j < b.size; ++j) {
          const bool length = is_length_[static_cast<std::size_t>(b.first + j)];
          slopes.emplace_back(c.row + r, b.first + j, length ? A(r, j) : A(r, j) / lever_[part_[i]]);
        }
    }
  }
  B_.resize(system_.rows(), system_.size());
  B_.setFromTriplets(slopes.begin(), slopes.end());
  for (Index i = 0; i < B_.rows(); ++i) norms_[i] = B_.row(i).norm();
  for (const Index i : left_out) norms_[i] = 0;
  for (const std::size_t i : s.off) {
    const auto& c = system_.constraints()[i];
    norms_.segment(c.row, c.rows).setZero();
  }
  for (Index i = 0; i < B_.rows(); ++i)
    if (norms_[i] > 0)
      B_.row(i) /= norms_[i];
    else
      B_.row(i) *= 0;
  G_ = B_ * B_.transpose();
  for (Index i = 0; i < B_.rows(); ++i)
    if (norms_[i] == 0) G_.coeffRef(i, i) = 1;
  factor_.compute(G_);
  if (factor_.info() != Eigen::Success) return 0;
  return std::sqrt(std::clamp(factor_.vectorD().minCoeff(), 0.0, 1.0));
}

}  // namespace mortise
