#pragma once
// What of the equations of a System does not change from state to state: the numbering of its bodies and constraints
// (Slots), and for given massless directions what is condensed, the order of elimination and the place of every block
// (Plan).  Both are const once they are made, and hold no numbers of a state: threads may share them.

#include <memory>
#include <span>
#include <vector>

#include <mortise/assembly/system.h>
#include <mortise/engine/fronts.h>
#include <mortise/engine/rigid_groups.h>

#pragma GCC visibility push(hidden)
namespace mortise::engine {

// Bodies and constraints as the engine numbers them: with rigid groups one body stands for all of a group, and the
// welds are left out.
struct Slots {
  explicit Slots(const System& system, const RigidGroups* groups = nullptr);

  struct Body {
    const BodyModel* model;
    Index first;  // coordinate
    int y, k;     // first unknown, their number
    // In a rigid group: the body whose unknowns it shares, and has none of its own (k = 0); held: nobody's.
    static constexpr int held = -1;
    int root;
    bool weighs;  // its mass is not told by another one
    bool operator==(const Body&) const = default;
  };
  std::vector<Body> bodies;
  Index unknowns = 0;
  std::size_t largest = 0;                     // number of unknowns of one body's model
  std::vector<std::size_t> storing;            // bodies with an energy of their own
  std::vector<std::size_t> constraints;        // of the system that have rows here, ascending
  std::vector<const ConstraintModel*> joints;  // the same
  std::vector<std::size_t> nonideal;           // among them
  std::vector<std::size_t> reacting;           // constraints of the system
  bool holonomic = true;                       // all rows are
  // Bodies that constraints and forces of the system act on, one part after the other, and their first coordinates.
  std::vector<std::size_t> on, joint_place, force_place;
  std::vector<Index> firsts;
  bool operator==(const Slots&) const = default;
};

class Plan {
 public:
  // massless: by bodies, how many of their unknowns have no mass.  Throws InvalidModel if the system is too large.
  Plan(const System& system, std::shared_ptr<const Slots> slots, const std::vector<Index>& massless);

  struct Body {
    int y, k, massive;           // first unknown, their number, those with mass
    int hub = -1;                // its node in the fronts, if it is one
    int touch = 0, touches = 0;  // in touches: by constraints
    int hold = 0, holds = 0;     // in holds: by nodes that are in the fronts
    Index references = 0;        // of its massless unknowns, in the engine's references (BodyModel::references)
  };
  // A node of rows: a constraint, or what a condensation leaves.
  struct Entry {
    int body, column;      // the body's unknowns with mass start at this column
    int massless;          // how many without mass follow
    int y;                 // the body's first unknown
    Index reference = -1;  // of a condensed node: what its entries along them are sums of, rows x massless
  };
  struct Node {
    int row, rows, columns;
    Index A;
    int entry, entries;
    int position = 0;    // in the order of elimination
    int stride = 0;      // of its block in the fronts
    Index place = 0;     // of this block
    Index norm = 0;      // of a constraint: where the squares of its rows stand
    int shape = 0;       // of a constraint: shape_of
    bool whole = false;  // its block in the fronts is A A' over all its bodies at once
  };
  // How a body sees a node.
  struct Touch {
    unsigned A;
    int stride, rows, row;  // row: of the system, or for holds in the order of elimination
  };
  struct Condensation {
    int body, columns;    // massless unknowns
    int source, sources;  // in sources
    int rows, target;     // stacked rows of the sources; the node that stays
    Index move, moves;    // in moves
    int width;            // columns of the target
    Index numbers;        // where its own begin in the engine's array

    // Q [R; 0] P' = t S c of the massless columns S of the stacked rows; what Q makes of the others, row by row.
    template <class Number> struct View {
      Number *V, *tau;    // Householder vectors one after the other, rows each; their factors
      Number* R;          // columns x columns, row by row
      Number *pivot, *c;  // P, and the scales of the columns
      Number* mu;         // multipliers of the upper rows
      Number *A1, *b1;    // the upper rows, columns x width, and their right-hand side
      Number* t;          // scales of the stacked rows
    };
    template <class Number> View<Number> in(Number* array) const {
      const Index k = columns;
      View<Number> v;
      v.V = array + numbers, v.tau = v.V + rows * k;
      v.R = v.tau + k, v.pivot = v.R + k * k, v.c = v.pivot + k, v.mu = v.c + k;
      v.A1 = v.mu + k, v.b1 = v.A1 + k * width;
      v.t = v.b1 + k;
      return v;
    }
    Index size() const { return (Index{rows} + columns + width + 5) * columns + rows; }
  };
  struct Move {  // columns of a source to columns of the stacked rows
    int source_row, node, from, to, count;
  };
  struct Product {  // A_i A_k' over one body into the fronts
    Index to;
    unsigned left, right;
    int left_rows, right_rows, left_stride, right_stride, stride, columns;
    int shape;  // shape_of two equal numbers of rows, else 0
  };
  struct Insert {  // A of a hub into the fronts
    Index A, to;
    int rows, columns, stride, to_stride;
    bool transposed;
  };
  struct Hub {
    int position, size, stride;
    Index place;
  };
  struct Filling {  // what fills a front: its own share of front_nodes, hubs, products, inserts
    std::span<const int> nodes;
    std::span<const Hub> hubs;
    std::span<const Product> products;
    std::span<const Insert> inserts;
  };
  struct Held {  // columns of a body that is held
    int node, column, count;
  };

  explicit Plan(std::shared_ptr<const Slots> slots);  // for no state yet: no rows
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  bool empty() const { return !made; }
  bool fits(const std::vector<Index>& massless) const;
  bool condenses() const { return !condensations.empty(); }
  std::span<const Node> constraint_nodes() const { return {nodes.data(), empty() ? 0 : slots->constraints.size()}; }
  std::span<const Entry> entries_of(const Node& n) const {
    return {entries.data() + n.entry, static_cast<std::size_t>(n.entries)};
  }
  std::span<const Touch> touches_of(const Body& b) const {
    return {touches.data() + b.touch, static_cast<std::size_t>(b.touches)};
  }

  std::shared_ptr<const Slots> slots;
  int rows = 0;  // of all nodes, condensed ones included
  std::vector<Body> bodies;
  std::vector<Node> nodes;
  std::vector<Entry> entries;
  std::vector<Touch> touches, holds;
  std::vector<Held> held;
  std::vector<Condensation> condensations;
  std::vector<int> sources;
  std::vector<Move> moves;
  std::vector<Product> products;
  std::vector<Insert> inserts;
  std::vector<int> active;       // nodes in the fronts
  std::vector<int> front_nodes;  // the same, front by front
  std::vector<Hub> hubs;
  FrontTree tree;
  std::vector<Filling> fillings;  // by fronts
  // How many numbers a workspace needs for it.
  struct Sizes {
    Index A = 0, norms = 0, qr = 0, scratch = 0, references = 0;
  };
  Sizes sizes;
  bool made = false;  // for a state

 private:
  void plan_nodes(const System& system);
  void plan_condensations();
  void plan_fronts();
};

// A plan that other solvers of the system have made, or a new one.  Threads may call this at once.
std::shared_ptr<const Plan> plan_for(const System& system, const std::shared_ptr<const Slots>& slots,
                                     const std::vector<Index>& massless);

}  // namespace mortise::engine
#pragma GCC visibility pop
