#pragma once
// RowInputs: what the formula of a row depends on.
//
// A formula is differentiated with respect to its inputs, row_inputs of them in one pass: first the unknowns of the
// frames of its bodies, then, one after the other as they are asked for, the components of points and the coordinates
// of bodies without a frame.  For these the derivatives with respect to the coordinates are kept.
//
// In rows of velocities (psi) only velocities are inputs; points and directions change at their rates.

#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

#include <mortise/core/view.h>

namespace mortise::detail {

class __attribute__((visibility("hidden"))) RowInputs {
 public:
  RowInputs(bool of_velocities, int frames) : of_velocities_(of_velocities), frames_(frames), next_(frames) {}

  struct Asked {
    std::size_t body;
    int first, count;      // inputs
    Index coordinate;      // one of the body's, or -1
    std::size_t jacobian;  // where its derivatives start, count rows of the body's size
  };

  bool of_velocities() const { return of_velocities_; }
  int window() const { return window_; }  // first input of this pass
  int total() const { return next_; }
  const std::pmr::vector<Asked>& asked() const { return asked_; }
  const double* jacobian(const Asked& a) const { return jacobians_.data() + a.jacobian; }

  // A pass over the inputs from `window` on.
  void start(int window) {
    window_ = window;
    next_ = frames_;
    asked_.clear();
    jacobians_.clear();
  }
  // New inputs; the caller fills the derivatives.
  double* ask(std::size_t body, int count, Index size) {
    asked_.push_back({body, next_, count, -1, jacobians_.size()});
    next_ += count;
    jacobians_.resize(jacobians_.size() + static_cast<std::size_t>(count * size));
    return jacobians_.data() + asked_.back().jacobian;
  }
  void ask_coordinate(std::size_t body, Index i) {
    asked_.push_back({body, next_, 1, i, 0});
    ++next_;
  }

 private:
  bool of_velocities_;
  int frames_, window_ = 0, next_;
  std::array<std::byte, 2048> few_;  // no heap for what is common
  std::pmr::monotonic_buffer_resource memory_{few_.data(), few_.size()};
  std::pmr::vector<Asked> asked_{&memory_};
  std::pmr::vector<double> jacobians_{&memory_};
};

}  // namespace mortise::detail
