#include <mortise/assembly/evaluation.h>

namespace mortise {

Evaluation::Evaluation(const Evaluation&) = default;
Evaluation::Evaluation(Evaluation&&) noexcept = default;
Evaluation& Evaluation::operator=(const Evaluation&) = default;
Evaluation& Evaluation::operator=(Evaluation&&) noexcept = default;
Evaluation::~Evaluation() = default;

Evaluation::Evaluation(std::shared_ptr<const Layout> layout)
    : Q(layout->n),
      C(layout->n),
      b(layout->m),
      phi(layout->m),
      layout_(std::move(layout)),
      mass_values_(static_cast<std::size_t>(layout_->mass_values)),
      row_values_(static_cast<std::size_t>(layout_->row_values)) {}

bool Evaluation::same_matrices(const Evaluation& other) const {
  return layout_ == other.layout_ && mass_values_ == other.mass_values_ && row_values_ == other.row_values_;
}

MatrixXd Evaluation::dense_M() const {
  MatrixXd D = MatrixXd::Zero(layout_->n, layout_->n);
  for (std::size_t i = 0; i < layout_->M.size(); ++i) {
    const auto& k = layout_->M[i];
    D.block(k.first, k.first, k.size, k.size) = M(i);
  }
  return D;
}

MatrixXd Evaluation::dense_A() const {
  MatrixXd D = MatrixXd::Zero(layout_->m, layout_->n);
  for (std::size_t i = 0; i < layout_->A.size(); ++i) {
    const auto& k = layout_->A[i];
    D.block(k.row, k.first, k.rows, k.size) += A(i);
  }
  return D;
}

}  // namespace mortise
