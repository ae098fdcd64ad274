#pragma once
// Multifrontal LDL' of a sparse symmetric quasi-definite block matrix, without pivoting, along an elimination tree.
//
// The matrix has one block row per node; nodes that touch in the graph have a block in common.  Each front holds the
// columns of a few nodes (its pivots) and the rows below them (its border) as one dense matrix.  FrontTree is the
// symbolic part: the order is found once, by approximate minimum degree (benchmarks/ compares others), and never
// changes, so that threads may share it.  Fronts has the numbers: values are written straight into their places, front
// after front.

#include <algorithm>
#include <vector>

#include <mortise/core/types.h>
#include <mortise/engine/workers.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class FrontTree {
 public:
  // Graph of the nodes in compressed form: the neighbours of i are neighbour[start[i] ... start[i + 1] - 1].
  struct Graph {
    std::vector<int> size, start, neighbour;
  };
  FrontTree() = default;
  // In the order given, or else by approximate minimum degree.
  explicit FrontTree(const Graph& graph, std::vector<int> order = {});

  Index size() const { return size_; }  // of the matrix
  int count() const { return static_cast<int>(fronts_.size()); }
  int position(int node) const { return position_[static_cast<std::size_t>(node)]; }  // of its first row, in order
  int front_of(int node) const { return front_[static_cast<std::size_t>(node)]; }
  Index values() const { return values_; }  // doubles of the factor, a measure of its fill

  // Where the block of two nodes stands, column by column; the node that comes first in the order has the columns.
  struct Place {
    Index offset;
    int stride;
    bool transposed;  // the rows are those of the first argument, as asked, unless this is set
  };
  Place place(int row_node, int column_node) const;

 private:
  friend class Fronts;
  struct Front {
    int first, p, q;      // position of its pivots, their number, size of the border
    int parent;           // -1: none
    Index L, U, border;   // where its columns, its update and its border's positions start
    int child, children;  // in children_
    Index map;            // of its border to the rows of the parent
    bool contiguous;      // ... which are consecutive
  };

  Index size_ = 0, values_ = 0, updates_ = 0;
  std::vector<int> position_, front_;
  std::vector<Front> fronts_;
  std::vector<int> children_, border_, map_;
};

class Fronts {
 public:
  Fronts() = default;
  // The tree must live on.  For more threads it is cut into branches of about equal work.
  explicit Fronts(const FrontTree& tree, std::size_t threads = 1);

  // assemble(front) adds the entries of the front's own columns at value(offset), and may add to x there.  With
  // one thread also x := L^-1 x on the way; whether it was done.
  template <class F> bool factor(Workers& workers, const F& assemble, double* x = nullptr) {
    const int count = tree_->count();
    if (workers.count() == 1 || branches_.empty()) {
      for (int i = 0; i < count; ++i) {
        factor_front(i, assemble);
        if (x) forward(i, x);
      }
      return x != nullptr;
    }
    workers.run([&](std::size_t part) {
      for (const Branch& b : branches_)
        if (b.part == part)
          for (int i = b.first; i <= b.last; ++i) factor_front(i, assemble);
    });
    for (const int i : trunk_) factor_front(i, assemble);
    return false;
  }
  template <class F> void factor_front(int i, const F& assemble) {
    begin(i);
    assemble(i);
    finish(i);
  }
  double* value(Index offset) { return L_.data() + offset; }
  // A pivot smaller than its floor, which only round-off can bring about, is set to it.  Negative for negative pivots.
  double& floor(Index position) { return floor_[static_cast<std::size_t>(position)]; }
  // All pivots are at least so many times their floors.
  bool pivots_above(double factor) const {
    const double most = 1 / factor;
    bool above = true;
    for (std::size_t i = 0; i < inverse_.size(); ++i) above &= floor_[i] * inverse_[i] <= most;
    return above;
  }
  double inverse_pivot(Index position) const { return inverse_[static_cast<std::size_t>(position)]; }

  // x := L^-T x.  Where x is 1 at a vanishing pivot and 0 elsewhere, K x vanishes with it.
  void solve_transposed(double* x) const;
  // x := K^-1 x, in order of elimination.
  void solve(double* x) const { forward(x), backward(x); }
  void forward(double* x) const;   // x := L^-1 x
  void backward(double* x) const;  // x := (D L')^-1 x
  // x := L^-1 of what begin(front) adds to x, in the order of factor(): the same bits.
  template <class F> void forward(const F& begin, double* x) const {
    std::fill(x, x + tree_->size(), 0.0);
    for (int i = 0; i < tree_->count(); ++i) {
      begin(i);
      forward(i, x);
    }
  }

 private:
  using Front = FrontTree::Front;
  struct Branch {  // fronts first ... last, a subtree
    int first, last;
    std::size_t part;
  };
  void share(std::size_t threads);
  void begin(int i);
  void finish(int i);
  void forward(int front, double* x) const;
  void backward(int front, double* x) const;

  const FrontTree* tree_ = nullptr;
  std::vector<Branch> branches_;
  std::vector<int> trunk_;  // fronts above them
  std::vector<double> L_, U_, inverse_, floor_;
};

}  // namespace mortise
#pragma GCC visibility pop
