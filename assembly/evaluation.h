#pragma once
// Evaluation: everything the equations need at one state, complete.
//
//   M q'' = Q + C + A' lambda,   A q'' = b
//
// M and A are kept as blocks: one of M per body, one of A per constraint and body it touches.

#include <memory>
#include <vector>

#include <mortise/core/state.h>
#include <mortise/core/types.h>

namespace mortise {

// Where the blocks are; made once per System and shared by its evaluations.
struct Layout {
  struct MassBlock {
    Index first, size;  // coordinates
    Index offset;       // of the values
  };
  struct RowBlock {
    Index constraint, body;
    Index row, rows, first, size;
    Index offset;
  };
  Index n = 0, m = 0, mass_values = 0, row_values = 0;
  std::vector<MassBlock> M;  // by body
  std::vector<RowBlock> A;   // by constraint, then by body in the order of connect()
};

class Evaluation {
 public:
  State state;
  VectorXd Q, C;  // n
  VectorXd b;     // m
  VectorXd phi;   // m: phi of holonomic rows, psi of nonholonomic ones; 0 where the constraint holds

  explicit Evaluation(std::shared_ptr<const Layout> layout);
  Evaluation(const Evaluation&);      // these are compiled once, in the library
  Evaluation(Evaluation&&) noexcept;  // what is moved from has no blocks
  Evaluation& operator=(const Evaluation&);
  Evaluation& operator=(Evaluation&&) noexcept;
  ~Evaluation();

  const Layout& layout() const { return *layout_; }

  Eigen::Map<MatrixXd> M(std::size_t body) {
    const auto& k = mass_block(body);
    return {mass_values_.data() + k.offset, k.size, k.size};
  }
  Eigen::Map<const MatrixXd> M(std::size_t body) const {
    const auto& k = mass_block(body);
    return {mass_values_.data() + k.offset, k.size, k.size};
  }
  Eigen::Map<MatrixXd> A(std::size_t block) {
    const auto& k = row_block(block);
    return {row_values_.data() + k.offset, k.rows, k.size};
  }
  Eigen::Map<const MatrixXd> A(std::size_t block) const {
    const auto& k = row_block(block);
    return {row_values_.data() + k.offset, k.rows, k.size};
  }

  bool same_matrices(const Evaluation& other) const;  // M and A to the last bit
  MatrixXd dense_M() const;
  MatrixXd dense_A() const;

 private:
  const Layout::MassBlock& mass_block(std::size_t body) const {
    if (body >= layout_->M.size()) fail_block("M", body, layout_->M.size());
    return layout_->M[body];
  }
  const Layout::RowBlock& row_block(std::size_t block) const {
    if (block >= layout_->A.size()) fail_block("A", block, layout_->A.size());
    return layout_->A[block];
  }
  [[noreturn]] static void fail_block(const char* matrix, std::size_t number, std::size_t count);

  std::shared_ptr<const Layout> layout_;
  std::vector<double> mass_values_, row_values_;
};

}  // namespace mortise
