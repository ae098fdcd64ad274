#pragma once
// The graph of a System: constraints, bodies and forces are its vertices, an edge joins a constraint or a force with
// each body it acts on.  The ground connects nothing, loops apart.  Made once with the System, and shared by its
// copies.

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <mortise/assembly/system.h>
#include <mortise/core/function_ref.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class SystemGraph {
 public:
  SystemGraph(const std::vector<System::BodyInfo>& bodies, const std::vector<System::ConstraintInfo>& constraints,
              const std::vector<System::ForceInfo>& forces);
  ~SystemGraph();

  // Constraints that act on a body, ascending; one that acts on it twice stands there twice.
  std::span<const unsigned> constraints_on(std::size_t body) const;

  // Bodies that constraints connect, and these constraints, can be solved apart from the others.  Numbers from 0, by
  // the smallest constraint, then by the smallest body without constraints.
  struct Components {
    std::vector<unsigned> of_constraint, of_body;  // that of a ground says nothing
    std::size_t count = 0;
  };
  const Components& components() const;  // found when they are first asked for

  // Groups of bodies that `in` takes, connected by constraints, and by forces if these count, on two of them.  By their
  // smallest members, members ascending.
  enum class By { constraints, constraints_and_forces };
  std::vector<std::vector<std::size_t>> groups(const FunctionRef<bool(std::size_t)>& in, By by) const;

  // What is reached from some bodies through constraints and through bodies that `through` takes; at the edge stand the
  // other bodies of these constraints, and their own constraints.
  System::Selection around(std::vector<std::size_t> start, const FunctionRef<bool(std::size_t)>& through) const;

  // A closed walk joint, body, joint, body, ...: indices of constraints and bodies in turn.  All grounds are one body.
  static constexpr std::size_t ground = static_cast<std::size_t>(-1);
  using Walk = std::vector<std::size_t>;
  std::vector<Walk> loops() const;  // independent ones, all
  // The shortest walk through the first two bodies of `main` and through `joints`; empty if there is none.  Begins at
  // the joint of the smallest index.
  Walk loop(const std::vector<std::size_t>& joints, std::size_t main) const;

  // Where solvers find the plans of others that solve systems with this graph: engine::plan_for.
  struct Plans {
    std::mutex mutex;
    std::vector<std::weak_ptr<const void>> list;  // engine::Plan
  };
  Plans& plans() const { return plans_; }

 private:
  struct Edges;
  const std::size_t constraints_, bodies_, forces_;
  std::vector<bool> is_ground_, is_own_;  // by bodies; by constraints
  std::unique_ptr<const Edges> edges_;
  mutable std::once_flag once_;
  mutable Components components_;
  mutable Plans plans_;
};

}  // namespace mortise
#pragma GCC visibility pop
