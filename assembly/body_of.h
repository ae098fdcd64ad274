#pragma once
// From a body, a plain struct, to its model.  The body's formulas are instantiated for double and Taylor; what is done
// with the numbers is in body_model.cpp.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mortise/assembly/models.h>
#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

// A body made of formulas of its coordinates.  Its unknowns are the coordinates, combined so that the mass is 1 or 0:
//   T = [R N0],  R'M R = I,  M N0 = 0,  z = 0        (core/massless.h)
class BodyPart : public BodyModel, public std::enable_shared_from_this<BodyPart> {
 public:
  struct Facts {
    bool mass_varies = false, force_varies = false;  // written as templates
    bool constant_mass = false, potential = false, weighs = false, weight_varies = false, own_rows = false;
  };

  bool differentiable() const override { return facts_.mass_varies && facts_.force_varies; }
  bool has_weight() const override { return facts_.weighs; }
  MatrixXd mass_matrix(const State& s, Index first) const override;
  VectorXd force(const State& s, Index first) const override;
  std::optional<MatrixXd> mass_slopes(const State& s, Index first, const VectorXd& a) const override;
  std::optional<Slopes> force_slopes(const State& s, Index first) const override;
  bool evaluate(const TaylorState& s, Index first, const Vec3<double>& g, Mat<Taylor, dynamic>& M,
                TaylorVector& Q) const override;
  bool stores() const override { return facts_.potential; }
  std::optional<Stored> stored(const State& s, Index first) const override;
  Vec3<double> first_moment(const State& s, Index first) const override;
  Vec3<double> first_moment_rate(const State& s, Index first) const override;
  void gravity(const State& s, Index first, const Vec3<double>& g, VectorRef Q) const override;
  MatrixXd gravity_slopes(const State& s, Index first, const Vec3<double>& g) const override;
  std::shared_ptr<const ConstraintModel> own_constraint() const override;

  Index unknowns() const override { return size(); }
  bool meets_own_rows() const override { return false; }
  std::size_t motion_size() const override;
  std::size_t motion_align() const override;
  void* make_motion(void* where) const override;
  void destroy_motion(void* motion) const override;
  Index move(const State& s, Index first, const Vec3<double>& gravity, const std::string& name, void* motion,
             double* f) const override;
  void stand(const double*, const double*, void*) const override {}
  void spread(const void* motion, const double* y, double* dq) const override;
  void gather(const void*, const double*, double*) const override {}
  void drift(const void* motion, double* z) const override;
  void accelerate(const void* motion, const double* y, double* a) const override;
  void velocities(const void* motion, double* w) const override;
  std::optional<Momentum> momentum(const void*) const override { return std::nullopt; }
  void normalise(double*, double*) const override {}
  void references(const void* motion, double* u) const override;
  bool references_vary() const override { return true; }
  std::string describe(const State& s, Index first, const VectorXd& dq) const override;

  int frame() const override { return -1; }
  void mark(const void*, Ask, LocalVector r, Mark&) const override { refuse("frame", static_cast<int>(r.size())); }
  void spin(const void*, int dimension, double*, double*) const override { refuse("frame", dimension); }
  void coordinate_row(const void* motion, Index i, double* row, double& drift) const override;
  void project(const void* motion, const double* Q, double* y) const override;

  // Its own constraint.
  virtual std::vector<RowInfo> own_rows() const = 0;
  virtual void own_phi(const Taylor* q, Taylor* out) const = 0;

 protected:
  explicit BodyPart(const Facts& facts) : facts_(facts) {}

  // The formulas; each is called only where there is one.
  virtual MatrixXd mass_at(const double* q, double t) const = 0;
  virtual void mass_at(const Taylor* q, const Taylor& t, Mat<Taylor, dynamic>& M) const = 0;
  virtual VectorXd force_at(const double* q, const double* v, double t) const = 0;
  virtual void force_at(const Taylor* q, const Taylor* v, const Taylor& t, Taylor* Q) const = 0;
  virtual Taylor potential_at(const Taylor* q, const Taylor& t) const = 0;
  // The first moment of mass [kg m]; returns the number of its components.
  virtual int moment_at(const double* q, double* S) const = 0;
  virtual int moment_at(const Taylor* q, Taylor* S) const = 0;
  virtual int moment_at(const TaylorDual* q, TaylorDual* S) const = 0;

 private:
  Facts facts_;
};

namespace detail {

template <class B, class T>
concept MassIn = requires(const B& b, const Coordinates<B, T>& q, const T& t) {
  b.mass_matrix(q, t);
};
template <class B, class T>
concept ForceIn = requires(const B& b, const Coordinates<B, T>& q, const T& t) {
  b.force(q, q, t);
};
template <class B, class T>
concept PotentialIn = requires(const B& b, const Coordinates<B, T>& q, const T& t) {
  b.potential(q, t);
};
template <class B, class T>
concept MomentIn = requires(const B& b, const Coordinates<B, T>& q) {
  b.first_moment(q);
};
template <class B, class T>
concept OwnRowsIn = requires(const B& b, const Coordinates<B, T>& q) {
  b.phi(q);
};
template <class B>
concept ConstantMass = requires {
  requires B::constant_mass;
};
template <class B>
concept HasUnknowns = Body<B> && requires {
  typename B::Unknowns;
};

}  // namespace detail

template <Body B> class BodyOf : public BodyPart, public MadeFrom<B, BodyModel> {
 public:
  static constexpr BodyPart::Facts facts{.mass_varies = detail::MassIn<B, Taylor>,
                                         .force_varies = detail::ForceIn<B, Taylor>,
                                         .constant_mass = detail::ConstantMass<B>,
                                         .potential = detail::PotentialIn<B, double>,
                                         .weighs = detail::MomentIn<B, double>,
                                         .weight_varies = detail::MomentIn<B, TaylorDual>,
                                         .own_rows = detail::OwnRowsIn<B, Taylor>};

  // Throws if the data of the body are out of range.
  BodyOf(const Label& label, B body) : BodyPart(facts), body_(std::move(body)) {
    static_assert(!detail::PotentialIn<B, double> || (detail::PotentialIn<B, Taylor> && detail::MassIn<B, Taylor>),
                  "potential and mass_matrix must be templates: their rates are needed");
    require_fields(label, body_);
    if constexpr (requires { body_.validate(label); }) body_.validate(label);
  }

  // A part of a rigid whole, whose data may be out of the range of single bodies.
  struct Unchecked {};
  BodyOf(Unchecked, B body) : BodyPart(facts), body_(std::move(body)) {}

  const B& part() const override { return body_; }
  std::shared_ptr<const BodyModel> changed(const Label& label, B body) const override;

  std::string kind() const override { return kind_of<B>(); }
  std::vector<std::string> coordinates() const override { return {body_.coordinates.begin(), body_.coordinates.end()}; }
  Index size() const override { return static_cast<Index>(body_.coordinates.size()); }
  Index find(std::string_view name) const override {
    const auto it = std::find(body_.coordinates.begin(), body_.coordinates.end(), name);
    return it == body_.coordinates.end() ? -1 : static_cast<Index>(it - body_.coordinates.begin());
  }
  std::vector<std::string> units() const override {
    if constexpr (requires { body_.units; })
      return {body_.units.begin(), body_.units.end()};
    else
      return std::vector<std::string>(body_.coordinates.size());
  }
  std::vector<int> groups() const override {
    if constexpr (requires { body_.groups; }) {
      return {body_.groups.begin(), body_.groups.end()};
    } else {
      std::vector<int> each(body_.coordinates.size());
      for (std::size_t i = 0; i < each.size(); ++i) each[i] = static_cast<int>(i);
      return each;
    }
  }
  VectorXd neutral() const override {
    if constexpr (requires { body_.neutral(); })
      return body_.neutral();
    else
      return VectorXd::Zero(size());
  }
  std::shared_ptr<const BodyModel> without_mass(const Label& label) const override {
    if constexpr (requires { body_.without_mass(); })
      return changed(label, body_.without_mass());
    else
      return nullptr;
  }
  std::optional<RigidMass> rigid_mass() const override {
    if constexpr (requires { body_.rigid_mass(); })
      return body_.rigid_mass();
    else
      return {};
  }
  double mass() const override {
    if constexpr (requires { double{body_.mass}; })
      return body_.mass;
    else
      return 0;
  }
  double kinetic(const State& s, Index first) const override {
    if constexpr (size_of<B> == 0) return 0;
    const Q v = in<double>(s.v.data() + first);
    const auto M = body_.mass_matrix(in<double>(s.q.data() + first), s.t).eval();
    return M.rows() == v.size() && M.cols() == v.size() ? 0.5 * v.dot(M * v) : std::nan("");  // of another size
  }
  Massless massless(const State& s, Index first, const MatrixXd& M, const Label& label) const override {
    if constexpr (requires(const Q& q) { body_.massless(q); })
      return body_.massless(in<double>(s.q.data() + first));
    else
      return massless_directions(M, label, coordinates());
  }
  std::string describe(const State& s, Index first, const VectorXd& dq) const override {
    if constexpr (requires(const Q& q) { body_.describe(q, q); })
      return body_.describe(in<double>(s.q.data() + first), Q(dq));
    else
      return BodyPart::describe(s, first, dq);
  }
  std::vector<RowInfo> own_rows() const override {
    if constexpr (requires { B::own_rows; })
      return {B::own_rows.begin(), B::own_rows.end()};
    else
      return {};
  }

  bool has(Ask what, int dimension) const override {
    const auto can = [&]<int D>(std::integral_constant<int, D>) {
      return what == Ask::point ? detail::has_point<B, D, double> : detail::has_direction<B, D, double>;
    };
    return by_dimension(dimension, can);
  }
  bool turns(int dimension) const override {
    const auto can = [&]<int D>(std::integral_constant<int, D>) { return size_of<B> == 0 || turns_in<D>; };
    return by_dimension(dimension, can);
  }
  void locate(Ask what, LocalVector r, const double* q, double* out) const override { locate_in(what, r, q, out); }
  void locate(Ask what, LocalVector r, const Taylor* q, Taylor* out) const override { locate_in(what, r, q, out); }
  void locate(Ask what, LocalVector r, const TaylorDual* q, TaylorDual* out) const override {
    locate_in(what, r, q, out);
  }
  void angular_velocity(int dimension, const double* q, const double* v, double* w) const override {
    turn_in(dimension, q, v, w);
  }
  void angular_velocity(int dimension, const Taylor* q, const Taylor* v, Taylor* w) const override {
    turn_in(dimension, q, v, w);
  }
  void find_local(Ask what, LocalVector world, const double* q, double* out) const override {
    by_dimension(static_cast<int>(world.size()), [&]<int D>(std::integral_constant<int, D>) {
      const Vec<double, D> x = Eigen::Map<const Vec<double, D>>(world.data());
      if (what == Ask::point) {
        if constexpr (requires { requires detail::has_rows<decltype(body_.local_point(in<double>(q), x)), D>; })
          return void(write(body_.local_point(in<double>(q), x), out));
        this->refuse("points that move with it", D);
      } else {
        if constexpr (requires { requires detail::has_rows<decltype(body_.local_direction(in<double>(q), x)), D>; })
          return void(write(body_.local_direction(in<double>(q), x), out));
        this->refuse("directions", D);
      }
    });
  }
  bool linear([[maybe_unused]] LocalVector r, [[maybe_unused]] std::vector<Geometry::Entry>& out) const override {
    if constexpr (requires { body_.shape_at(r, out); }) {
      body_.shape_at(r, out);
      return true;
    }
    return false;
  }

 protected:
  using Q = Coordinates<B, double>;
  B body_;

  template <class T> Coordinates<B, T> in(const T* q) const {
    Coordinates<B, T> out(size());
    for (Index i = 0; i < out.size(); ++i) out[i] = q[i];
    return out;
  }

  MatrixXd mass_at(const double* q, double t) const override { return body_.mass_matrix(in(q), t); }
  VectorXd force_at(const double* q, const double* v, double t) const override { return body_.force(in(q), in(v), t); }
  void mass_at([[maybe_unused]] const Taylor* q, [[maybe_unused]] const Taylor& t,
               [[maybe_unused]] Mat<Taylor, dynamic>& M) const override {
    if constexpr (detail::MassIn<B, Taylor>) M = body_.mass_matrix(in(q), t);
  }
  void force_at([[maybe_unused]] const Taylor* q, [[maybe_unused]] const Taylor* v, [[maybe_unused]] const Taylor& t,
                [[maybe_unused]] Taylor* out) const override {
    if constexpr (detail::ForceIn<B, Taylor>) write(body_.force(in(q), in(v), t), out);
  }
  Taylor potential_at([[maybe_unused]] const Taylor* q, [[maybe_unused]] const Taylor& t) const override {
    if constexpr (detail::PotentialIn<B, Taylor>)
      return Taylor(body_.potential(in(q), t));
    else
      return Taylor(0);
  }
  int moment_at(const double* q, double* S) const override { return moment_in(q, S); }
  int moment_at(const Taylor* q, Taylor* S) const override { return moment_in(q, S); }
  int moment_at(const TaylorDual* q, TaylorDual* S) const override { return moment_in(q, S); }
  void own_phi([[maybe_unused]] const Taylor* q, [[maybe_unused]] Taylor* out) const override {
    if constexpr (detail::OwnRowsIn<B, Taylor>) write(body_.phi(in(q)), out);
  }

  template <class X, class T> static int write(const X& numbers, T* out) {
    const auto& x = numbers.eval();
    for (Index i = 0; i < x.size(); ++i) out[i] = x[i];
    return static_cast<int>(x.size());
  }

 private:
  // An angular velocity is a number in the plane and a vector in space.
  template <int D>
  static constexpr bool turns_in = [] {
    if constexpr (requires(const B& b, const Q& q) { b.angular_velocity(q, q); }) {
      constexpr bool number = std::is_convertible_v<decltype(std::declval<const B&>().angular_velocity(
                                                        std::declval<const Q&>(), std::declval<const Q&>())),
                                                    double>;
      return D == (number ? 2 : 3);
    }
    return false;
  }();

  template <class F> static auto by_dimension(int dimension, const F& f) {
    switch (dimension) {
      case 1:
        return f(std::integral_constant<int, 1>{});
      case 2:
        return f(std::integral_constant<int, 2>{});
      default:
        return f(std::integral_constant<int, 3>{});
    }
  }
  template <int D, class T> void locate_at(Ask what, const double* r, const T* q, T* out) const {
    [[maybe_unused]] const Vec<double, D> place = Eigen::Map<const Vec<double, D>>(r);
    if (what == Ask::point) {
      if constexpr (detail::has_point<B, D, T>) return void(write(body_.point(in(q), place), out));
      this->refuse(detail::has_point<B, D, double> ? "points that are templates on the scalar" : "points", D);
    } else {
      if constexpr (detail::has_direction<B, D, T>) return void(write(body_.direction(in(q), place), out));
      this->refuse(detail::has_direction<B, D, double> ? "directions that are templates on the scalar" : "directions",
                   D);
    }
  }
  template <class T> void locate_in(Ask what, LocalVector r, const T* q, T* out) const {
    by_dimension(static_cast<int>(r.size()),
                 [&]<int D>(std::integral_constant<int, D>) { locate_at<D>(what, r.data(), q, out); });
  }
  template <class T> void turn_in(int dimension, const T* q, const T* v, T* w) const {
    if constexpr (size_of<B> == 0) {
      for (int k = 0; k < (dimension == 2 ? 1 : 3); ++k) w[k] = T(0.0);
    } else {
      if constexpr (turns_in<2>)
        if (dimension == 2) return void(w[0] = T(body_.angular_velocity(in(q), in(v))));
      if constexpr (turns_in<3>)
        if (dimension == 3) return void(write(body_.angular_velocity(in(q), in(v)), w));
      this->refuse("rotation", dimension);
    }
  }
  template <class T> int moment_in([[maybe_unused]] const T* q, [[maybe_unused]] T* S) const {
    if constexpr (detail::MomentIn<B, T>)
      return write(body_.first_moment(in(q)), S);
    else
      return 0;
  }
};

template <Body B> std::shared_ptr<const BodyModel> bind_body(const Label& label, B body);
template <Body B> std::shared_ptr<const BodyModel> BodyOf<B>::changed(const Label& label, B body) const {
  return bind_body<B>(label, std::move(body));
}

// A body that knows its unknowns (core/marker.h).
template <detail::HasUnknowns B> class UnknownsOf final : public BodyOf<B> {
  using U = typename B::Unknowns;
  using Motion = typename U::Motion;
  using Q = Coordinates<B, double>;
  using Y = Vec<double, U::count>;
  template <int D> static constexpr bool marks = requires(const U& u, const Motion& m, const Vec<double, D>& r) {
    requires detail::has_rows<decltype(u.point(m, r).value), D>;
  };
  static constexpr bool welds = std::is_constructible_v<U, const PrincipalMass&>;
  static constexpr bool framed =
      U::count != dynamic && U::count <= Mark::most_unknowns && (marks<1> || marks<2> || marks<3>);

 public:
  UnknownsOf(const Label& label, B body) : BodyOf<B>(label, std::move(body)), unknowns_(this->body_) {}
  explicit UnknownsOf(const PrincipalMass& whole)
      : BodyOf<B>(typename BodyOf<B>::Unchecked{}, B::of(whole)), unknowns_(whole) {}
  const U& unknowns_of_type() const { return unknowns_; }

  Index unknowns() const override {
    if constexpr (U::count == dynamic)
      return this->size();
    else
      return U::count;
  }
  bool meets_own_rows() const override { return true; }
  std::size_t motion_size() const override { return sizeof(Motion); }
  std::size_t motion_align() const override { return alignof(Motion); }
  void* make_motion(void* where) const override { return new (where) Motion(); }
  void destroy_motion(void* motion) const override { static_cast<Motion*>(motion)->~Motion(); }
  Index move(const State& s, Index first, const Vec3<double>& g, const std::string&, void* motion,
             double* f) const override {
    stand(s.q.data() + first, s.v.data() + first, motion);
    const auto y = unknowns_.force(*static_cast<const Motion*>(motion), g);
    for (Index k = 0; k < y.size(); ++k) f[k] = y[k];
    return unknowns_.massless();
  }
  void stand(const double* q, const double* v, void* motion) const override {
    if constexpr (std::is_trivially_destructible_v<Motion>)
      new (motion) Motion(unknowns_.motion(at(q), at(v)));  // in place: copies wait for their numbers
    else
      *static_cast<Motion*>(motion) = unknowns_.motion(at(q), at(v));
  }
  void spread(const void* motion, const double* y, double* dq) const override {
    Eigen::Map<Q>(dq, this->size()) = unknowns_.spread(as(motion), Y(Eigen::Map<const Y>(y, unknowns())));
  }
  void gather([[maybe_unused]] const void* motion, [[maybe_unused]] const double* row,
              [[maybe_unused]] double* row_q) const override {
    if constexpr (framed)
      Eigen::Map<Q>(row_q, this->size()) = unknowns_.gather(as(motion), Y(Eigen::Map<const Y>(row, unknowns())));
  }
  void drift(const void* motion, double* z) const override {
    Eigen::Map<Q>(z, this->size()) = unknowns_.drift(as(motion));
  }
  void accelerate(const void* motion, const double* y, double* a) const override {
    const Motion& m = as(motion);
    if constexpr (requires { unknowns_.accelerate(m, y, a); }) {
      unknowns_.accelerate(m, y, a);
    } else {
      const Q dq = unknowns_.spread(m, Y(Eigen::Map<const Y>(y, unknowns()))), z = unknowns_.drift(m);
      for (Index i = 0; i < this->size(); ++i) a[i] = dq[i] + z[i];  // one by one, as they were written
    }
  }
  void velocities([[maybe_unused]] const void* motion, [[maybe_unused]] double* w) const override {
    if constexpr (U::count != 0) Eigen::Map<Y>(w, unknowns()) = unknowns_.velocities(as(motion));
  }
  std::optional<Momentum> momentum(const void* motion) const override { return unknowns_.momentum(as(motion)); }
  void normalise([[maybe_unused]] double* q, [[maybe_unused]] double* v) const override {
    if constexpr (requires(Q & x) { U::normalise(x, x); }) {
      Q a = Eigen::Map<const Q>(q), b = Eigen::Map<const Q>(v);
      U::normalise(a, b);
      Eigen::Map<Q>{q} = a;
      Eigen::Map<Q>{v} = b;
    }
  }
  std::shared_ptr<const BodyModel> part_of([[maybe_unused]] const PrincipalMass& whole) const override {
    if constexpr (welds)
      return std::make_shared<const UnknownsOf>(whole);
    else
      return nullptr;
  }
  MotionsApart apart([[maybe_unused]] const void* motion, [[maybe_unused]] const BodyModel& of,
                     [[maybe_unused]] const void* other) const override {
    if constexpr (welds)
      return unknowns_.apart(as(motion), as(other), static_cast<const UnknownsOf&>(of).unknowns_);
    else
      return {};
  }
  void follow([[maybe_unused]] const BodyModel& of, [[maybe_unused]] const void* motion, [[maybe_unused]] double* q,
              [[maybe_unused]] double* v) const override {
    if constexpr (welds) {
      Q a = at(q), b = at(v);
      unknowns_.follow(as(motion), static_cast<const UnknownsOf&>(of).unknowns_, a, b);
      Eigen::Map<Q>{q} = a;
      Eigen::Map<Q>{v} = b;
    }
  }
  void references(const void*, double* u) const override {
    const int k = static_cast<int>(unknowns());
    for (int j = k - unknowns_.massless(); j < k; ++j)
      for (int i = 0; i < k; ++i) *u++ = unknowns_.unit(i, j);
  }
  bool references_vary() const override { return false; }

  int frame() const override { return framed ? U::count : -1; }
  void mark(const void* motion, Ask what, LocalVector r, Mark& out) const override {
    switch (r.size()) {
      case 1:
        return mark_in<1>(motion, what, r, out);
      case 2:
        return mark_in<2>(motion, what, r, out);
      default:
        return mark_in<3>(motion, what, r, out);
    }
  }
  void spin(const void* motion, int dimension, double* w, double* jacobian) const override {
    const int d = dimension == 2 ? 1 : 3;
    if constexpr (size_of<B> == 0) {
      std::fill(w, w + d, 0.0);
    } else if constexpr (framed && requires(const Motion& m) { unknowns_.turning(m), unknowns_.spin(m); }) {
      const auto turning = unknowns_.turning(as(motion));
      if (turning.rows() != d) this->refuse("rotation", dimension);
      const auto rate = unknowns_.spin(as(motion));
      for (Index k = 0; k < d; ++k) w[k] = rate[k];
      std::copy(turning.data(), turning.data() + turning.size(), jacobian);
    } else {
      this->refuse("rotation", dimension);
    }
  }
  void coordinate_row(const void* motion, Index i, double* row, double& drift_out) const override {
    const Motion& m = as(motion);
    for (Index k = 0; k < unknowns(); ++k) row[k] = Q(unknowns_.spread(m, Y(Y::Unit(unknowns(), k))))[i];
    drift_out = Q(unknowns_.drift(m))[i];
  }
  void project(const void* motion, const double* force, double* y) const override {
    const Motion& m = as(motion);
    const Q f = at(force);
    if constexpr (requires { unknowns_.project(m, f); })
      Eigen::Map<Y>(y, unknowns()) += unknowns_.project(m, f);
    else
      for (Index k = 0; k < unknowns(); ++k) y[k] += Q(unknowns_.spread(m, Y(Y::Unit(unknowns(), k)))).dot(f);
  }

 private:
  static const Motion& as(const void* motion) { return *static_cast<const Motion*>(motion); }
  Q at(const double* q) const { return Eigen::Map<const Q>(q, this->size()); }
  template <int D> void mark_in(const void* motion, Ask what, LocalVector place, Mark& out) const {
    if constexpr (marks<D>) {
      const Vec<double, D> r = Eigen::Map<const Vec<double, D>>(place.data());
      const auto put = [&](const Marker<D, U::count>& m) __attribute__((always_inline)) {
        for (int k = 0; k < D; ++k)
          out.value[k] = m.value[k], out.velocity[k] = m.velocity[k], out.acceleration[k] = m.acceleration[k];
        for (int k = 0; k < D * U::count; ++k) out.jacobian[k] = m.slopes.data()[k];
      };
      if (what == Ask::point)
        put(unknowns_.point(as(motion), r));
      else
        put(unknowns_.direction(as(motion), r));
    } else {
      this->refuse(what == Ask::point ? "points" : "directions", D);
    }
  }

  U unknowns_;
};

template <Body B> std::shared_ptr<const BodyModel> bind_body(const Label& label, B body) {
  if constexpr (detail::HasUnknowns<B>)
    return std::make_shared<const UnknownsOf<B>>(label, std::move(body));
  else
    return std::make_shared<const BodyOf<B>>(label, std::move(body));
}

}  // namespace mortise
