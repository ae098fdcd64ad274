#pragma once
// RowPass: the bodies of a part at one state, and the rows of a formula of them, differentiated.
//
// Rows come out over the unknowns of the bodies, or, where Places tells no motions, over coordinates: then bodies with
// a frame stand in motions that are made here.

#include <array>
#include <cstddef>

#include <mortise/assembly/models.h>
#include <mortise/core/buffer.h>
#include <mortise/core/function_ref.h>
#include <mortise/core/seen.h>
#include <mortise/core/view.h>

namespace mortise {

inline constexpr std::size_t few_bodies = 4;

// The motions of bodies with a frame, made for one state.
class Motions {
 public:
  Motions(BodyModels bodies, const State& s, Firsts first);
  ~Motions();
  Motions(const Motions&) = delete;
  Motions& operator=(const Motions&) = delete;

  Places places(Firsts first) const { return {first.data(), motion_.data()}; }

 private:
  BodyModels bodies_;
  Buffer<const void*, few_bodies> motion_;  // null for bodies without a frame
  alignas(std::max_align_t) std::array<std::byte, 1024> few_;
  std::unique_ptr<std::byte[]> many_;
};

// How many columns the rows of a part have on one of its bodies.
Index columns(const BodyModel& body, const void* motion);

struct RowTarget {
  double* A;  // rows x columns of all bodies, row by row
  double *value, *rate, *acceleration;
};
// f(views' access, rows out), called once for each pass.
using RowFormula = FunctionRef<void(const detail::Access<RowJet>*, RowJet*)>;
void row_pass(BodyModels bodies, const State& s, const Places& at, bool of_velocities, int rows, RowFormula f,
              const RowTarget& out);

// The same over coordinates, A q'' = b with b = -acceleration, one block of A for each body.
void row_pass(BodyModels bodies, const State& s, Firsts first, bool of_velocities, int rows, RowFormula f,
              FunctionRef<double&(std::size_t body, int row, Index coordinate)> A, double* value, double* b);

// f(views' access): forces on the bodies, added to one vector of unknowns per body; or to forces on all coordinates.
using ForceFormula = FunctionRef<void(detail::Access<double>*)>;
void force_pass(BodyModels bodies, const State& s, const Places& at, ForceFormula f, double* const* out);
void force_pass(BodyModels bodies, const State& s, Firsts first, ForceFormula f, VectorRef Q);

// The coordinates and velocities of the bodies of a part as Taylor numbers, with views of them.
class TaylorBodies {
 public:
  TaylorBodies(BodyModels bodies, const State& s, Firsts first);
  TaylorBodies(BodyModels bodies, const State& s, Firsts first, const VectorXd& a);  // along the motion with q'' = a

  Index size() const { return q_.size(); }  // coordinates of all bodies
  Taylor& q(Index i) { return q_[i]; }
  Taylor& v(Index i) { return v_[i]; }
  Taylor& Q(Index i) { return Q_[i]; }
  void clear_forces() {
    for (Index i = 0; i < Q_.size(); ++i) Q_[i] = Taylor(0);
  }
  detail::Access<Taylor>* access() { return access_.data(); }
  // Keeps what is asked for, for coordinates that vary one or two at a time; values must stay as they are.
  void remember() {
    for (Index i = 0; i < access_.size(); ++i) access_[i].seen = &seen_;
  }

 private:
  detail::Seen seen_;
  Buffer<Taylor, 32> q_, v_, Q_;
  Buffer<detail::Access<Taylor>, few_bodies> access_;
};

// Views of the bodies of a part in a state of the whole system; forces, where given, add up in Q.
Buffer<detail::Access<Taylor>, few_bodies> taylor_views(BodyModels bodies, const TaylorState& s, Firsts first,
                                                        TaylorVector* Q);

// d Q/dq and d Q/dv of what f applies, stacked over the coordinates of the bodies.
Slopes force_slopes(BodyModels bodies, const State& s, Firsts first,
                    FunctionRef<void(detail::Access<Taylor>*, const Taylor&)> f);

// Derivatives of functions of these, two coordinates at a time: f() evaluates, and take(k, i) tells the derivative in
// i = 1 or 2 of the directions of the last call.
void for_each_pair(Index n, FunctionRef<Taylor&(Index)> x, FunctionRef<void()> evaluate,
                   FunctionRef<void(Index, double Taylor::*)> take);

}  // namespace mortise
