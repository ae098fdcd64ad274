#pragma once
// Views: a body as joints, forces and sensors see it.  They do not know the body's type, so that a part is compiled
// once for each scalar, not for each pair of bodies.
//
//   BodyView<D, T>       phi, potential, measure      where the body is
//   VelocityView<D, T>   psi, measure_motion          and how it moves
//   ForceView<D, T>      act, nonideal, react         and what acts on it
//
// D is the dimension, 2 in the plane and 3 in space, or 0 where a part asks for coordinates only.  The scalars are
//   double       numbers
//   RowJet       rows of constraints and forces of potentials: value, derivatives along up to 12 inputs, rates
//   Taylor       along a motion, and varied in one direction; TaylorDual: in one more
// Functors take their views as auto and never notice.

#include <array>
#include <string_view>
#include <type_traits>

#include <mortise/core/geometry.h>
#include <mortise/core/jet.h>
#include <mortise/core/value.h>

namespace mortise {

using RowJet = Jet<12>;
inline constexpr int row_inputs = 12;

namespace detail {

// Where a view finds its body: at coordinates of the scalar.
template <class T> struct Access {
  const Geometry* body;
  const T *q, *v;
  T* Q;  // forces on the coordinates add up here
};
template <> struct Access<Taylor> {
  const Geometry* body;
  const Taylor *q, *v;
  Taylor* Q;
  class Seen* seen = nullptr;  // points and directions that were looked at before, where they are kept
};
// In the engine the body stands in its motion, and forces add up in its unknowns.
template <> struct Access<double> {
  const Geometry* body;
  const double *q, *v;
  double* Q;
  const void* motion = nullptr;  // of a body with a frame
  double* y = nullptr;
};
// Rows: what a part asks for becomes inputs of its formula (assembly/row_pass.h).
class RowInputs;
template <> struct Access<RowJet> {
  const Geometry* body;
  const double *q, *v;
  const void* motion;  // of a body with a frame
  RowInputs* inputs;
  std::size_t index;  // among the bodies of the part
  int first;          // input of the frame's first unknown
};

void look(const Access<double>&, Ask what, LocalVector r, double* out);
void look(const Access<Taylor>&, Ask what, LocalVector r, Taylor* out);
void look(const Access<TaylorDual>&, Ask what, LocalVector r, TaylorDual* out);
void look(const Access<RowJet>&, Ask what, LocalVector r, RowJet* out);
double coordinate(const Access<double>&, Index i);
Taylor coordinate(const Access<Taylor>&, Index i);
TaylorDual coordinate(const Access<TaylorDual>&, Index i);
RowJet coordinate(const Access<RowJet>&, Index i);
void look_velocity(const Access<double>&, LocalVector r, double* out);
void look_velocity(const Access<Taylor>&, LocalVector r, Taylor* out);
void look_velocity(const Access<TaylorDual>&, LocalVector r, TaylorDual* out);  // varies with v only
void look_velocity(const Access<RowJet>&, LocalVector r, RowJet* out);
void look_spin(const Access<double>&, int dimension, double* out);
void look_spin(const Access<Taylor>&, int dimension, Taylor* out);
void look_spin(const Access<TaylorDual>&, int dimension, TaylorDual* out);  // varies with v only
void look_spin(const Access<RowJet>&, int dimension, RowJet* out);
double speed(const Access<double>&, Index i);
Taylor speed(const Access<Taylor>&, Index i);
TaylorDual speed(const Access<TaylorDual>&, Index i);
RowJet speed(const Access<RowJet>&, Index i);
void push(const Access<double>&, LocalVector r, const double* f);
void push(const Access<Taylor>&, LocalVector r, const Taylor* f);
void twist(const Access<double>&, int dimension, const double* torque);
void twist(const Access<Taylor>&, int dimension, const Taylor* torque);

template <class R> inline constexpr int rows_of = static_cast<int>(std::remove_cvref_t<R>::RowsAtCompileTime);

// The coordinates, velocities or forces of a body, one by one.
template <class T, T (*get)(const Access<T>&, Index)> struct Listed {
  const Access<T>* from;
  Index size() const { return from->body->size(); }
  T operator[](Index i) const { return get(*from, i); }
};

}  // namespace detail

template <int D, class T> class BodyView {
 public:
  explicit BodyView(const detail::Access<T>& from) : q{&from}, from_(&from) {}

  // World position of the body-fixed point r; world components of the body-fixed direction d.
  auto point(const auto& r) const { return seen<detail::rows_of<decltype(r)>>(Ask::point, r); }
  auto direction(const auto& d) const { return seen<detail::rows_of<decltype(d)>>(Ask::direction, d); }
  T coordinate(std::string_view name) const { return q[from_->body->require(name)]; }

  // The world point p and the world direction d in the frame of the body, as numbers.
  auto local_point(const auto& p) const { return local<detail::rows_of<decltype(p)>>(Ask::point, p); }
  auto local_direction(const auto& d) const { return local<detail::rows_of<decltype(d)>>(Ask::direction, d); }

  bool fixed() const { return from_->body->size() == 0; }          // it has no coordinates
  bool turns() const { return fixed() || from_->body->turns(D); }  // it knows its rotation
  const Geometry& body() const { return *from_->body; }

  detail::Listed<T, detail::coordinate> q;

 protected:
  template <int E> static constexpr void require_dimension() {
    static_assert(E >= 1 && E <= 3, "points and directions are vectors of 1, 2 or 3 numbers, Vec<double, D>");
    static_assert(D == 0 || E == D,
                  "this part gives points and directions of another dimension than its bodies have: use planar parts "
                  "(Vec2) on planar bodies and spatial parts (Vec3) on spatial bodies");
  }
  template <int E> Value<T, E> seen(Ask what, const Vec<double, E>& r) const {
    require_dimension<E>();
    Value<T, E> out;
    detail::look(*from_, what, {r.data(), static_cast<std::size_t>(E)}, out.data());
    return out;
  }
  template <int E> Vec<double, E> local(Ask what, const Vec<double, E>& x) const {
    static_assert(std::is_same_v<T, double>, "local points and directions are numbers");
    require_dimension<E>();
    Vec<double, E> out;
    from_->body->find_local(what, {x.data(), static_cast<std::size_t>(E)}, from_->q, out.data());
    return out;
  }
  const detail::Access<T>* from_;
};

template <int D, class T> class VelocityView : public BodyView<D, T> {
 public:
  explicit VelocityView(const detail::Access<T>& from) : BodyView<D, T>(from), v{&from} {}

  auto point_velocity(const auto& r) const { return moved<detail::rows_of<decltype(r)>>(r); }
  // In world axes; a number in the plane.  0 for a body without coordinates.
  auto angular_velocity() const {
    static_assert(D == 2 || D == 3, "bodies of this dimension do not turn");
    if constexpr (D == 2) {
      T w;
      detail::look_spin(*this->from_, 2, &w);
      return w;
    } else {
      Value<T, 3> w;
      detail::look_spin(*this->from_, 3, w.data());
      return w;
    }
  }
  T speed(std::string_view name) const { return v[this->from_->body->require(name)]; }

  detail::Listed<T, detail::speed> v;

 private:
  template <int E> Value<T, E> moved(const Vec<double, E>& r) const {
    this->template require_dimension<E>();
    Value<T, E> out;
    detail::look_velocity(*this->from_, {r.data(), static_cast<std::size_t>(E)}, out.data());
    return out;
  }
};

template <int D, class T> class ForceView : public VelocityView<D, T> {
 public:
  using VelocityView<D, T>::VelocityView;

  // World force f at the body-fixed point r:  Q_i = f . d point / d q_i.
  void apply_force(const auto& r, const auto& f) {
    constexpr int E = detail::rows_of<decltype(r)>;
    this->template require_dimension<E>();
    static_assert(E == detail::rows_of<decltype(f)>, "the force has another dimension than the point it acts at");
    const Vec<double, E> at = r;
    const Vec<typename std::remove_cvref_t<decltype(f)>::Scalar, E> given = f;
    T components[E];
    for (int k = 0; k < E; ++k) components[k] = T(given[k]);
    detail::push(*this->from_, {at.data(), static_cast<std::size_t>(E)}, components);
  }
  // World torque m (a number in the plane):  Q_i = m . angular velocity of the unit rate of q_i.  Nothing happens to a
  // body without coordinates.
  void apply_torque(const auto& m) {
    static_assert(D == 2 || D == 3, "bodies of this dimension do not turn");
    constexpr bool vector = requires { m[0]; };
    static_assert(vector == (D == 3), "a torque is a number in the plane and a Vec3 in space");
    if constexpr (vector) {
      const Vec<typename std::remove_cvref_t<decltype(m)>::Scalar, 3> given = m;
      const T components[3] = {T(given[0]), T(given[1]), T(given[2])};
      detail::twist(*this->from_, 3, components);
    } else {
      const T component(m);
      detail::twist(*this->from_, 2, &component);
    }
  }
  // Generalised force on one coordinate, by name or by number.
  void apply_to(std::string_view name, const auto& f) { apply_to(this->from_->body->require(name), f); }
  void apply_to(Index i, const auto& f) { this->from_->Q[i] += T(f); }
};

}  // namespace mortise
