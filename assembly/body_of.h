#pragma once
// From a body, a plain struct, to its model; its own constraint becomes a joint on it alone.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mortise/assembly/joint_of.h>

namespace mortise {

// A body's own constraint phi(q) = 0, seen as a joint on that body alone.
template <Body B> struct OwnConstraint {
  static constexpr auto rows = B::own_rows;
  template <class T> auto phi(const auto& a, const T&) const { return a.body.phi(Coordinates<B, T>(a.q)); }
};

template <Body B> class BodyOf final : public BodyModel, public MadeFrom<B, BodyModel> {
 public:
  explicit BodyOf(B b)
      : modelled_(std::make_shared<const Modelled<B>>(Modelled<B>{std::move(b)})), body_(&modelled_->body) {}

  // Throws if the data of the body are out of range.
  static std::shared_ptr<const BodyOf> make(const Label& label, B body) {
    require_fields(label, body);
    if constexpr (requires { body.validate(label); }) body.validate(label);
    return std::make_shared<const BodyOf>(std::move(body));
  }

  const std::shared_ptr<const Modelled<B>>& modelled() const { return modelled_; }
  std::string kind() const override { return detail::kind_of<B>(); }
  const B& part() const override { return *body_; }
  std::shared_ptr<const BodyModel> changed(const Label& label, B body) const override {
    return make(label, std::move(body));
  }

  std::vector<std::string> coordinates() const override {
    return {body_->coordinates.begin(), body_->coordinates.end()};
  }
  std::vector<std::string> units() const override {
    if constexpr (requires { body_->units; })
      return {body_->units.begin(), body_->units.end()};
    else
      return std::vector<std::string>(body_->coordinates.size());
  }
  std::vector<int> groups() const override {
    if constexpr (requires { body_->groups; }) {
      return {body_->groups.begin(), body_->groups.end()};
    } else {
      std::vector<int> each(body_->coordinates.size());
      for (std::size_t i = 0; i < each.size(); ++i) each[i] = static_cast<int>(i);
      return each;
    }
  }
  VectorXd neutral() const override {
    if constexpr (requires { body_->neutral(); })
      return body_->neutral();
    else
      return VectorXd::Zero(size());
  }
  std::shared_ptr<const ConstraintModel> own_constraint() const override {
    if constexpr (requires(const Q& q) { body_->phi(q); })
      return std::make_shared<const JointOf<OwnConstraint<B>, B>>(OwnConstraint<B>{}, modelled_);
    else
      return nullptr;
  }

  static constexpr bool mass_has_slopes = requires(const B& b, const Coordinates<B, FirstOrder>& x, FirstOrder t) {
    b.mass_matrix(x, t);
  };
  static constexpr bool force_has_slopes = requires(const B& b, const Coordinates<B, FirstOrder>& x, FirstOrder t) {
    b.force(x, x, t);
  };
  bool differentiable() const override { return mass_has_slopes && force_has_slopes; }
  static constexpr bool constant_mass = requires { requires B::constant_mass; };

  MatrixXd mass_matrix(const State& s, Index first) const override {
    return body_->mass_matrix(Q(s.q.segment(first, size())), s.t);
  }
  VectorXd force(const State& s, Index first) const override {
    return body_->force(Q(s.q.segment(first, size())), Q(s.v.segment(first, size())), s.t);
  }
  std::optional<MatrixXd> mass_slopes(const State& s, Index first, const VectorXd& a) const override {
    if constexpr (constant_mass) {
      return MatrixXd::Zero(size(), size());
    } else if constexpr (mass_has_slopes) {
      const auto Ma = [&](const auto& q, const auto&) -> Vec<FirstOrder, dynamic> {
        const Coordinates<B, FirstOrder> x = q;
        const Mat<FirstOrder, dynamic> M = body_->mass_matrix(x, FirstOrder(s.t));
        return M * a.template cast<FirstOrder>();
      };
      return slopes_of(s.q.segment(first, size()), s.v.segment(first, size()), Ma).dq;
    } else {
      return std::nullopt;
    }
  }
  std::optional<Slopes> force_slopes(const State& s, Index first) const override {
    if constexpr (force_has_slopes) {
      const auto f = [&](const auto& q, const auto& v) -> Vec<FirstOrder, dynamic> {
        const Coordinates<B, FirstOrder> x = q, y = v;
        return body_->force(x, y, FirstOrder(s.t));
      };
      return slopes_of(s.q.segment(first, size()), s.v.segment(first, size()), f);
    } else {
      return std::nullopt;
    }
  }

  bool evaluate([[maybe_unused]] const TaylorState& s, [[maybe_unused]] Index first,
                [[maybe_unused]] const Vec3<double>& g, [[maybe_unused]] Mat<Taylor, dynamic>& M,
                [[maybe_unused]] TaylorVector& Q_out) const override {
    if constexpr (mass_has_slopes && force_has_slopes) {
      const Coordinates<B, Taylor> q = s.q.segment(first, size()), v = s.v.segment(first, size());
      if constexpr (constant_mass)
        M = MatrixXd(body_->mass_matrix(Q(Q::Zero(size())), 0.0)).template cast<Taylor>();
      else
        M = body_->mass_matrix(q, s.t);
      const Coordinates<B, Taylor> f = body_->force(q, v, s.t);
      for (Index i = 0; i < size(); ++i) Q_out[first + i] += f[i];
      if constexpr (weighs) {
        if (!g.isZero(0)) {
          const TaylorVector w = weight<Taylor>(q, g);
          for (Index i = 0; i < size(); ++i) Q_out[first + i] += w[i];
        }
      }
      return true;
    } else {
      return false;
    }
  }

  std::optional<Stored> stored(const State& s, Index first) const override {
    if constexpr (requires(const Q& x, double t) { body_->potential(x, t); }) {
      static_assert(
          mass_has_slopes && requires(const Coordinates<B, FirstOrder>& x, FirstOrder t) { body_->potential(x, t); },
          "potential and mass_matrix must be templates: their rates are needed");
      const Q q = s.q.segment(first, size()), v = s.v.segment(first, size());
      Coordinates<B, FirstOrder> x(size());  // at time s along the motion
      for (Index i = 0; i < size(); ++i) x[i] = FirstOrder(q[i], {v[i]});
      const FirstOrder t = FirstOrder::variable(s.t, 0), V = body_->potential(x, t);
      double power = v.dot(Q(body_->force(q, v, s.t)));
      if constexpr (!constant_mass) {
        const Mat<FirstOrder, dynamic> M = body_->mass_matrix(x, t);
        for (Index j = 0; j < size(); ++j)
          for (Index i = 0; i < size(); ++i) power += 0.5 * v[i] * M(i, j).d[0] * v[j];
      }
      return Stored{V.v, V.d[0], power};
    } else {
      return std::nullopt;
    }
  }

  // V = -g . first moment of mass
  static constexpr bool weighs = requires(const B& b, const Coordinates<B, double>& q) { b.first_moment(q); };
  bool has_weight() const override { return weighs; }
  double mass() const override {
    if constexpr (requires { double{body_->mass}; })
      return body_->mass;
    else
      return 0;
  }
  double gravity(const State& s, Index first, const Vec3<double>& g, VectorRef Q_out) const override {
    if constexpr (weighs) {
      const Q q = s.q.segment(first, size());
      Q_out.segment(first, size()) += weight<double>(q, g);
      const auto S = body_->first_moment(q);
      return -g.head(S.size()).dot(S);
    } else {
      return 0;
    }
  }
  MatrixXd gravity_slopes(const State& s, Index first, const Vec3<double>& g) const override {
    if constexpr (weighs) {
      const auto f = [&](const auto& q, const auto&) -> Vec<FirstOrder, dynamic> { return weight<FirstOrder>(q, g); };
      return slopes_of(s.q.segment(first, size()), s.v.segment(first, size()), f).dq;
    } else {
      return MatrixXd::Zero(size(), size());
    }
  }

  Index unknowns() const override { return modelled_->count(); }
  bool meets_own_rows() const override { return detail::HasUnknowns<B>; }
  std::size_t motion_size() const override { return sizeof(Motion); }
  std::size_t motion_align() const override { return alignof(Motion); }
  void* make_motion(void* where) const override { return new (where) Motion(); }
  void destroy_motion(void* motion) const override { static_cast<Motion*>(motion)->~Motion(); }
  Index move(const State& s, Index first, const Vec3<double>& g, [[maybe_unused]] const std::string& name, void* motion,
             double* f) const override {
    const Q q = s.q.segment(first, size()), v = s.v.segment(first, size());
    Motion& m = *static_cast<Motion*>(motion);
    const auto write = [&](const auto& y) {
      for (Index k = 0; k < y.size(); ++k) f[k] = y[k];
    };
    if constexpr (detail::HasUnknowns<B>) {
      if constexpr (std::is_trivially_destructible_v<Motion>)
        new (motion) Motion(modelled_->unknowns.motion(q, v));  // in place: copies wait for their numbers
      else
        m = modelled_->unknowns.motion(q, v);
      write(modelled_->unknowns.force(m, g));
      return modelled_->unknowns.massless();
    } else {
      const Label label{"body", name};
      const MatrixXd M = body_->mass_matrix(q, s.t);
      if (M.rows() != size() || M.cols() != size())
        label.fail<WrongSize>(fmt::format("M is {} x {} at t = {}", M.rows(), M.cols(), s.t),
                              fmt::format("give {0} x {0}, one row per coordinate", size()));
      const Massless split = massless_directions(M, label, coordinates());
      VectorXd force = body_->force(q, v, s.t);
      if (force.size() != size())
        label.fail<WrongSize>(fmt::format("Q has {} entries at t = {}", force.size(), s.t),
                              fmt::format("give {}, one per coordinate", size()));
      if constexpr (weighs) force += weight<double>(q, g);
      m.massless = split.N0.cols();
      m.T.resize(size(), size());
      m.T << split.R, split.N0;
      m.drift.setZero(size());
      if (m.massless > 0) {  // T^-1 = [R'M; rows of the identity at the pivots of N0]
        m.references.setIdentity(size(), m.massless);
        m.references.topRows(split.R.cols()) = (split.R.transpose() * M).cwiseAbs() * split.N0.cwiseAbs();
        m.references.bottomRows(m.massless).setIdentity();
      }
      write(VectorXd(m.T.transpose() * force));
      return m.massless;
    }
  }
  void spread(const void* motion, const double* y, double* dq) const override {
    Eigen::Map<Q>(dq, size()) = modelled_->unknowns.spread(*static_cast<const Motion*>(motion), unknowns_at(y));
  }
  void drift(const void* motion, double* z) const override {
    Eigen::Map<Q>(z, size()) = modelled_->unknowns.drift(*static_cast<const Motion*>(motion));
  }
  void accelerate(const void* motion, const double* y, double* a) const override {
    const Motion& m = *static_cast<const Motion*>(motion);
    if constexpr (requires { modelled_->unknowns.accelerate(m, y, a); }) {
      modelled_->unknowns.accelerate(m, y, a);
    } else {
      const Q dq = modelled_->unknowns.spread(m, unknowns_at(y)), z = modelled_->unknowns.drift(m);
      for (Index i = 0; i < size(); ++i) a[i] = dq[i] + z[i];  // one by one, as they were written
    }
  }
  std::optional<Momentum> momentum([[maybe_unused]] const void* motion) const override {
    if constexpr (detail::HasUnknowns<B>)
      return modelled_->unknowns.momentum(*static_cast<const Motion*>(motion));
    else
      return std::nullopt;
  }
  void normalise([[maybe_unused]] double* q, [[maybe_unused]] double* v) const override {
    if constexpr (requires(Q & x) { UnknownsOf<B>::normalise(x, x); }) {
      Q a = Eigen::Map<const Q>(q), b = Eigen::Map<const Q>(v);
      UnknownsOf<B>::normalise(a, b);
      Eigen::Map<Q>{q} = a;
      Eigen::Map<Q>{v} = b;
    }
  }
  void references([[maybe_unused]] const void* motion, double* u) const override {
    if constexpr (detail::HasUnknowns<B>) {
      const auto& x = modelled_->unknowns;
      const int k = static_cast<int>(modelled_->count());
      for (int j = k - x.massless(); j < k; ++j)
        for (int i = 0; i < k; ++i) *u++ = x.unit(i, j);
    } else {
      const MatrixXd& r = static_cast<const Motion*>(motion)->references;
      std::copy(r.data(), r.data() + r.size(), u);
    }
  }

  bool references_vary() const override { return !detail::HasUnknowns<B>; }

  Massless massless(const State& s, Index first, const MatrixXd& M, const Label& label) const override {
    if constexpr (requires(const Q& q) { body_->massless(q); })
      return body_->massless(Q(s.q.segment(first, size())));
    else
      return massless_directions(M, label, coordinates());
  }
  std::string describe(const State& s, Index first, const VectorXd& dq) const override {
    if constexpr (requires(const Q& q) { body_->describe(q, q); }) {
      return body_->describe(Q(s.q.segment(first, size())), Q(dq));
    } else {
      std::string text;
      for (Index i = 0; i < size(); ++i)
        if (dq[i] != 0)
          text += (text.empty() ? "changes " : ", ") + std::string(body_->coordinates[static_cast<std::size_t>(i)]);
      return text;
    }
  }

 private:
  using Q = Coordinates<B, double>;
  using Motion = typename UnknownsOf<B>::Motion;
  using Y = Vec<double, UnknownsOf<B>::count>;
  Y unknowns_at(const double* y) const { return Eigen::Map<const Y>(y, modelled_->count()); }
  Index size() const { return static_cast<Index>(body_->coordinates.size()); }

  // g . d(first moment)/dq
  template <class T> Vec<T, dynamic> weight(const Coordinates<B, T>& q, const Vec3<double>& g) const {
    using S = Dual<T, 1>;
    Vec<T, dynamic> w(q.size());
    Coordinates<B, S> x(q.size());
    for (Index i = 0; i < q.size(); ++i) x[i] = S(q[i]);
    for (Index i = 0; i < q.size(); ++i) {
      x[i] = S::variable(q[i], 0);
      const auto moment = body_->first_moment(x);
      w[i] = T(0.0);
      for (Index k = 0; k < moment.size(); ++k) w[i] += g[k] * moment[k].d[0];
      x[i] = S(q[i]);
    }
    return w;
  }

  std::shared_ptr<const Modelled<B>> modelled_;
  const B* body_;  // in it
};

}  // namespace mortise
