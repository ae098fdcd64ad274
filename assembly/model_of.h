#pragma once
// From a plain struct to its model: the only place where functors meet dual numbers.
//
//   A = d phi/dq,  b = -d^2/ds^2 phi(q + s v, t + s)         holonomic rows
//   A = d psi/dv,  b = -d/ds psi(q + s v, v, t + s)          nonholonomic rows

#include <array>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <mortise/assembly/models.h>
#include <mortise/core/parts.h>

namespace mortise {

// Seeds jet_width coordinates of x at a time: f(first, seeded x) with x[first + i] carrying the i-th derivative.
template <class F> void for_each_chunk(const VectorXd& x, const F& f) {
  Vec<FirstOrder, dynamic> seeded = x.cast<FirstOrder>();
  for (Index first = 0; first < x.size(); first += jet_width) {
    const Index end = std::min<Index>(first + jet_width, x.size());
    for (Index k = first; k < end; ++k) seeded[k] = FirstOrder::variable(x[k], k - first);
    f(first, end - first, seeded);
    for (Index k = first; k < end; ++k) seeded[k] = FirstOrder(x[k]);
  }
}

// d f(q, v)/dq and d f(q, v)/dv for a vector function f of the stacked coordinates and velocities.
template <class F> Slopes slopes_of(const VectorXd& q, const VectorXd& v, const F& f) {
  Slopes s{MatrixXd(q.size(), q.size()), MatrixXd(q.size(), q.size())};
  const auto columns = [](MatrixXd& J, Index first, Index n, const auto& y) {
    for (Index i = 0; i < y.size(); ++i)
      for (Index k = 0; k < n; ++k) J(i, first + k) = y[i].d[static_cast<std::size_t>(k)];
  };
  const Vec<FirstOrder, dynamic> q0 = q.cast<FirstOrder>(), v0 = v.cast<FirstOrder>();
  for_each_chunk(q, [&](Index first, Index n, const auto& x) { columns(s.dq, first, n, f(x, v0)); });
  for_each_chunk(v, [&](Index first, Index n, const auto& x) { columns(s.dv, first, n, f(q0, x)); });
  return s;
}

// -- bodies -----------------------------------------------------------------------------------------------------------

template <Body B> class BodyOf;

// A body's own constraint phi(q) = 0, seen as a joint on that body alone.
template <Body B> struct OwnConstraint {
  static constexpr auto rows = B::own_rows;
  template <class T> auto phi(const Placed<B, T>& a, const T&) const { return a.body.phi(a.q); }
};

template <Body B> class BodyOf final : public BodyModel {
 public:
  explicit BodyOf(B b) : body_(std::make_shared<const B>(std::move(b))) {}

  const std::shared_ptr<const B>& body() const { return body_; }

  std::vector<std::string> coordinates() const override {
    return {body_->coordinates.begin(), body_->coordinates.end()};
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
  std::shared_ptr<const ConstraintModel> own_constraint() const override;

  static constexpr bool mass_has_slopes = requires(const B& b, const Coordinates<B, FirstOrder>& x, FirstOrder t) {
    b.mass_matrix(x, t);
  };
  static constexpr bool force_has_slopes = requires(const B& b, const Coordinates<B, FirstOrder>& x, FirstOrder t) {
    b.force(x, x, t);
  };
  bool differentiable() const override { return mass_has_slopes && force_has_slopes; }

  MatrixXd mass_matrix(const State& s, Index first) const override {
    return body_->mass_matrix(Q(s.q.segment(first, size())), s.t);
  }
  VectorXd force(const State& s, Index first) const override {
    return body_->force(Q(s.q.segment(first, size())), Q(s.v.segment(first, size())), s.t);
  }
  std::optional<MatrixXd> mass_slopes(const State& s, Index first, const VectorXd& a) const override {
    if constexpr (mass_has_slopes) {
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

  // V = -g . first moment of mass
  static constexpr bool weighs = requires(const B& b, const Coordinates<B, double>& q) { b.first_moment(q); };
  bool has_weight() const override { return weighs; }
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

  std::shared_ptr<const B> body_;
};

// -- the bodies a joint or a force acts on ----------------------------------------------------------------------------

template <Body... B> class Attached {
 public:
  static constexpr std::size_t count = sizeof...(B);

  explicit Attached(std::shared_ptr<const B>... body) : bodies_(std::move(body)...) {
    std::size_t i = 0;
    const auto place = [&](const auto& b) {
      offset_[i] = total_;
      size_[i] = static_cast<Index>(b->coordinates.size());
      total_ += size_[i++];
    };
    std::apply([&](const auto&... b) { (place(b), ...); }, bodies_);
  }

  Index total() const { return total_; }
  Index size(std::size_t i) const { return size_[i]; }
  Index offset(std::size_t i) const { return offset_[i]; }

  // The coordinates of all bodies, one after the other.
  VectorXd stacked(const VectorXd& x, Firsts first) const {
    VectorXd y(total_);
    for (std::size_t i = 0; i < count; ++i) y.segment(offset_[i], size_[i]) = x.segment(first[i], size_[i]);
    return y;
  }
  void add(const VectorXd& stacked, Firsts first, VectorRef x) const {
    for (std::size_t i = 0; i < count; ++i) x.segment(first[i], size_[i]) += stacked.segment(offset_[i], size_[i]);
  }

  template <class T> auto placed(const Vec<T, dynamic>& q) const {
    return make([&]<class P>(const P& b, std::size_t i) { return Placed<P, T>{b, part<P, T>(q, i)}; });
  }
  template <class T> auto moving(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v) const {
    return make([&]<class P>(const P& b, std::size_t i) {
      return Moving<P, T>{{b, part<P, T>(q, i)}, part<P, T>(v, i)};
    });
  }
  // f acts on the bodies; what it applied, stacked.
  template <class T, class F>
  Vec<T, dynamic> acted(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v, const F& f) const {
    auto views = make([&]<class P>(const P& b, std::size_t i) {
      Acted<P, T> view{{{b, part<P, T>(q, i)}, part<P, T>(v, i)}, part<P, T>(q, i)};
      view.Q.setZero();
      return view;
    });
    std::apply(f, views);
    Vec<T, dynamic> Q(total_);
    std::size_t i = 0;
    const auto gather = [&](const auto& view) { Q.segment(offset_[i], size_[i]) = view.Q, ++i; };
    std::apply([&](const auto&... view) { (gather(view), ...); }, views);
    return Q;
  }

 private:
  template <class P, class T> Coordinates<P, T> part(const Vec<T, dynamic>& x, std::size_t i) const {
    return x.segment(offset_[i], size_[i]);
  }
  template <class F> auto make(const F& f) const {
    return [&]<std::size_t... i>(std::index_sequence<i...>) { return std::tuple{f(*std::get<i>(bodies_), i)...}; }
    (std::index_sequence_for<B...>{});
  }

  std::tuple<std::shared_ptr<const B>...> bodies_;
  std::array<Index, count> size_{}, offset_{};
  Index total_ = 0;
};

// -- joints -----------------------------------------------------------------------------------------------------------

namespace detail {

// Number of rows a functor returns: an Eigen vector of fixed size, or one scalar.
template <class R> constexpr int row_count() {
  if constexpr (std::is_base_of_v<Eigen::EigenBase<R>, R>) {
    static_assert(std::is_base_of_v<Eigen::PlainObjectBase<R>, R>,
                  "phi or psi returns an Eigen expression, which refers to dead temporaries: return a Vec<T, rows>");
    static_assert(R::RowsAtCompileTime != dynamic && R::ColsAtCompileTime == 1,
                  "phi or psi must return a Vec<T, rows>");
    return R::RowsAtCompileTime;
  } else {
    return 1;
  }
}
const auto& row(const auto& rows, [[maybe_unused]] int i) {
  if constexpr (requires { rows[i]; })
    return rows[i];
  else
    return rows;
}

template <class J, class T, class... B>
concept HasPhi = requires(const J& j, const Placed<B, T>&... b, const T& t) {
  j.phi(b..., t);
};
template <class J, class T, class... B>
concept HasPsi = requires(const J& j, const Moving<B, T>&... b, const T& t) {
  j.psi(b..., t);
};
template <class J, class T, class... B>
concept HasNonideal = requires(const J& j, Acted<B, T>&... b, const T& t) {
  j.nonideal(b..., t);
};
template <class F, class T, class... B>
concept HasAct = requires(const F& f, Acted<B, T>&... b, const T& t) {
  f.act(b..., t);
};
template <class F, class T, class... B>
concept HasPotential = requires(const F& f, const Placed<B, T>&... b, const T& t) {
  f.potential(b..., t);
};

}  // namespace detail

template <class J, Body... B> class JointOf final : public ConstraintModel {
  static constexpr bool has_phi = detail::HasPhi<J, double, B...>, has_psi = detail::HasPsi<J, double, B...>;
  static_assert(has_phi || has_psi,
                "this joint has no phi(bodies..., t) and no psi(bodies..., t) for these body types");
  static_assert(!has_phi || detail::HasPhi<J, FirstOrder, B...>, "phi must be a template: its derivatives are needed");
  static_assert(!has_psi || detail::HasPsi<J, FirstOrder, B...>, "psi must be a template: its derivatives are needed");

  static constexpr int phi_rows() {
    if constexpr (has_phi)
      return detail::row_count<decltype(std::declval<const J&>().phi(std::declval<const Placed<B, double>&>()...,
                                                                     0.0))>();
    else
      return 0;
  }
  static constexpr int psi_rows() {
    if constexpr (has_psi)
      return detail::row_count<decltype(std::declval<const J&>().psi(std::declval<const Moving<B, double>&>()...,
                                                                     0.0))>();
    else
      return 0;
  }
  static constexpr int h = phi_rows(), m = h + psi_rows();

 public:
  JointOf(J joint, std::shared_ptr<const B>... body) : joint_(std::move(joint)), bodies_(std::move(body)...) {}

  Index holonomic() const override { return h; }
  std::vector<Row> rows() const override {
    std::vector<Row> out;
    if constexpr (requires { joint_.rows.size(); }) {
      static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(joint_.rows)>> == m,
                    "one RowInfo per row of phi and psi");
      for (const RowInfo& r : joint_.rows)
        out.push_back({std::string(r.name), std::string(r.removes), std::string(r.reaction)});
    } else {
      for (int i = 1; i <= m; ++i) out.push_back({fmt::format("{}", i), "", "lambda"});
    }
    return out;
  }

  void evaluate(const State& s, Firsts first, VectorRef value, VectorRef b,
                std::span<Eigen::Map<MatrixXd>> A) const override {
    const VectorXd q = bodies_.stacked(s.q, first), v = bodies_.stacked(s.v, first);
    if constexpr (has_phi) {
      for_each_chunk(q, [&](Index k0, Index n, const auto& x) {
        const auto f = call_phi(bodies_.template placed<FirstOrder>(x), FirstOrder(s.t));
        write(f, 0, h, k0, n, value, A);
      });
      Vec<SecondOrder, dynamic> x(q.size());
      for (Index k = 0; k < q.size(); ++k) x[k] = along(q[k], v[k]);
      const auto f = call_phi(bodies_.template placed<SecondOrder>(x), along(s.t, 1));
      for (int i = 0; i < h; ++i) b[i] = -detail::row(f, i).d[0].d[0];
    }
    if constexpr (has_psi) {
      const Vec<FirstOrder, dynamic> q0 = q.cast<FirstOrder>();
      for_each_chunk(v, [&](Index k0, Index n, const auto& y) {
        const auto f = call_psi(bodies_.template moving<FirstOrder>(q0, y), FirstOrder(s.t));
        write(f, h, m - h, k0, n, value, A);
      });
      using S = Dual<double, 1>;
      Vec<S, dynamic> x(q.size()), y = v.cast<S>();
      for (Index k = 0; k < q.size(); ++k) x[k] = S(q[k], {v[k]});
      const auto f = call_psi(bodies_.template moving<S>(x, y), S::variable(s.t, 0));
      for (int i = h; i < m; ++i) b[i] = -detail::row(f, i - h).d[0];
    }
  }

  bool ideal() const override { return !detail::HasNonideal<J, double, B...>; }
  bool differentiable() const override { return ideal() || detail::HasNonideal<J, FirstOrder, B...>; }
  void nonideal(const State& s, Firsts first, VectorRef C) const override {
    if constexpr (detail::HasNonideal<J, double, B...>)
      bodies_.add(law<double>(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first), s.t), first, C);
  }
  std::optional<Slopes> nonideal_slopes(const State& s, Firsts first) const override {
    if constexpr (detail::HasNonideal<J, FirstOrder, B...>) {
      return slopes_of(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first),
                       [&](const auto& q, const auto& v) { return law<FirstOrder>(q, v, FirstOrder(s.t)); });
    } else {
      return std::nullopt;
    }
  }

 private:
  template <class T> auto call_phi(const auto& views, const T& t) const {
    return std::apply([&](const auto&... view) { return joint_.phi(view..., t); }, views);
  }
  template <class T> auto call_psi(const auto& views, const T& t) const {
    return std::apply([&](const auto&... view) { return joint_.psi(view..., t); }, views);
  }
  template <class T> Vec<T, dynamic> law(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v, const T& t) const {
    return bodies_.template acted<T>(q, v, [&](auto&... view) { joint_.nonideal(view..., t); });
  }

  // Rows first_row... of value and of columns k0 ... k0 + n - 1 of A, which are spread over the bodies' blocks.
  void write(const auto& f, int first_row, int count, Index k0, Index n, VectorRef value,
             std::span<Eigen::Map<MatrixXd>> A) const {
    for (int i = 0; i < count; ++i) {
      const FirstOrder& r = detail::row(f, i);
      value[first_row + i] = r.v;
      for (std::size_t body = 0; body < A.size(); ++body)
        for (Index c = 0; c < bodies_.size(body); ++c)
          if (const Index k = bodies_.offset(body) + c - k0; k >= 0 && k < n)
            A[body](first_row + i, c) = r.d[static_cast<std::size_t>(k)];
    }
  }

  J joint_;
  Attached<B...> bodies_;
};

template <Body B> std::shared_ptr<const ConstraintModel> BodyOf<B>::own_constraint() const {
  if constexpr (requires(const Q& q) { body_->phi(q); })
    return std::make_shared<const JointOf<OwnConstraint<B>, B>>(OwnConstraint<B>{}, body_);
  else
    return nullptr;
}

// -- forces -----------------------------------------------------------------------------------------------------------

template <class F, Body... B> class ForceOf final : public ForceModel {
  static constexpr bool has_act = detail::HasAct<F, double, B...>;
  static constexpr bool has_potential = detail::HasPotential<F, double, B...>;
  static_assert(has_act != has_potential,
                "this force needs either act(bodies..., t) or potential(bodies..., t) for these body types");
  static_assert(!has_potential || detail::HasPotential<F, FirstOrder, B...>,
                "potential must be a template: its derivatives are the force");

 public:
  ForceOf(F force, std::shared_ptr<const B>... body) : force_(std::move(force)), bodies_(std::move(body)...) {}

  bool differentiable() const override { return has_potential || detail::HasAct<F, FirstOrder, B...>; }
  void act(const State& s, Firsts first, VectorRef Q) const override {
    bodies_.add(total<double>(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first), s.t), first, Q);
  }
  std::optional<Slopes> slopes(const State& s, Firsts first) const override {
    if constexpr (has_potential || detail::HasAct<F, FirstOrder, B...>) {
      return slopes_of(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first),
                       [&](const auto& q, const auto& v) { return total<FirstOrder>(q, v, FirstOrder(s.t)); });
    } else {
      return std::nullopt;
    }
  }
  std::optional<double> potential(const State& s, Firsts first) const override {
    if constexpr (has_potential)
      return call<double>(bodies_.stacked(s.q, first), s.t);
    else
      return std::nullopt;
  }

 private:
  template <class T> T call(const Vec<T, dynamic>& q, const T& t) const {
    return std::apply([&](const auto&... view) { return T(force_.potential(view..., t)); },
                      bodies_.template placed<T>(q));
  }
  template <class T> Vec<T, dynamic> total(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v, const T& t) const {
    if constexpr (has_act) {
      return bodies_.template acted<T>(q, v, [&](auto&... view) { force_.act(view..., t); });
    } else {  // Q = -dV/dq
      using S = Dual<T, 1>;
      Vec<S, dynamic> x = q.template cast<S>();
      Vec<T, dynamic> Q(q.size());
      for (Index i = 0; i < q.size(); ++i) {
        x[i] = S::variable(q[i], 0);
        Q[i] = -call<S>(x, S(t)).d[0];
        x[i] = S(q[i]);
      }
      return Q;
    }
  }

  F force_;
  Attached<B...> bodies_;
};

}  // namespace mortise
