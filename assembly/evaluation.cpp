#include <mortise/assembly/evaluation.h>

#include <utility>

#include <mortise/core/memory.h>

namespace mortise {
namespace {

const std::shared_ptr<const Layout>& no_layout() {
  static const auto none = std::make_shared<const Layout>();
  return none;
}

double numbers(Index rows, Index columns) {
  return static_cast<double>(sizeof(double)) * static_cast<double>(rows) * static_cast<double>(columns);
}

}  // namespace

Evaluation::Evaluation(const Evaluation&) = default;
Evaluation::Evaluation(Evaluation&& other) noexcept
    : state(std::move(other.state)),
      Q(std::move(other.Q)),
      C(std::move(other.C)),
      b(std::move(other.b)),
      phi(std::move(other.phi)),
      layout_(std::exchange(other.layout_, no_layout())),
      mass_values_(std::move(other.mass_values_)),
      row_values_(std::move(other.row_values_)) {}
Evaluation& Evaluation::operator=(const Evaluation&) = default;
Evaluation& Evaluation::operator=(Evaluation&& other) noexcept {
  if (this == &other) return *this;
  state = std::move(other.state);
  Q = std::move(other.Q), C = std::move(other.C), b = std::move(other.b), phi = std::move(other.phi);
  layout_ = std::exchange(other.layout_, no_layout());
  mass_values_ = std::move(other.mass_values_), row_values_ = std::move(other.row_values_);
  return *this;
}
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

void Evaluation::fail_block(const char* matrix, std::size_t number, std::size_t count) {
  Label{"block", std::to_string(number)}.fail<InvalidModel>(
      fmt::format("{} has none of this number", matrix),
      count ? fmt::format("give one from 0 to {}", count - 1) : "there are none; it may have been moved from");
}

MatrixXd Evaluation::dense_M() const {
  require_memory({"evaluation", ""}, fmt::format("M as a dense matrix of {} coordinates", layout_->n),
                 numbers(layout_->n, layout_->n), "take its blocks M(body)");
  MatrixXd D = MatrixXd::Zero(layout_->n, layout_->n);
  for (std::size_t i = 0; i < layout_->M.size(); ++i) {
    const auto& k = layout_->M[i];
    D.block(k.first, k.first, k.size, k.size) = M(i);
  }
  return D;
}

MatrixXd Evaluation::dense_A() const {
  require_memory({"evaluation", ""},
                 fmt::format("A as a dense matrix of {} rows and {} coordinates", layout_->m, layout_->n),
                 numbers(layout_->m, layout_->n), "take its blocks A(block)");
  MatrixXd D = MatrixXd::Zero(layout_->m, layout_->n);
  for (std::size_t i = 0; i < layout_->A.size(); ++i) {
    const auto& k = layout_->A[i];
    D.block(k.row, k.first, k.rows, k.size) += A(i);
  }
  return D;
}

}  // namespace mortise
