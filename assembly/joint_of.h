#pragma once
// From a joint, a plain struct, to its model: rows and slopes by dual numbers.
//
//   A = d phi/dq,  b = -d^2/ds^2 phi(q + s v, t + s)         holonomic rows
//   A = d psi/dv,  b = -d/ds psi(q + s v, v, t + s)          nonholonomic rows

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

#include <mortise/assembly/part_on.h>
#include <mortise/assembly/seeding.h>
#include <mortise/core/axis.h>

namespace mortise {

namespace detail {

template <class J, class T, class... B>
concept HasPhi = requires(const J& j, const Placed<B, T>&... b, const T& t) {
  j.phi(b..., t);
};
template <class J, class T, class... B>
concept HasPsi = requires(const J& j, const Moving<B, T>&... b, const T& t) {
  j.psi(b..., t);
};
template <class J, class... B>
concept HasMarkedNonideal = requires(const J& j, MarkedActed<B, UnknownsOf<B>>&... b, double t) {
  j.nonideal(b..., t);
};
// phi takes the views of core/marked.h: it does, unless it names the type of its views.
template <class J, class T, class A, class I> inline constexpr bool has_marked_phi = false;
template <class J, class T, class A, std::size_t... i>
inline constexpr bool has_marked_phi<J, T, A, std::index_sequence<i...>> =
    requires(const J& j, const typename A::template MarkedAt<i, T>&... view, const T& t) {
  j.phi(view..., t);
};

template <class J, int M, class... B>
concept HasReact = requires(const J& j, Acted<B, double>&... b, const Vec<double, M>& lambda) {
  j.react(b..., 0.0, lambda);
};

template <class J, class T, class... B>
concept HasNonideal = requires(const J& j, Acted<B, T>&... b, const T& t) {
  j.nonideal(b..., t);
};

}  // namespace detail

template <class J, Body... B> class JointOf final : public PartOn<JointOf<J, B...>, ConstraintModel, J, B...> {
  using Base = PartOn<JointOf, ConstraintModel, J, B...>;
  using Base::bodies_, Base::part_;
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
  // phi in one pass over the unknowns; else a few of them at a time through the coordinates.
  static constexpr bool at_markers() {
    if constexpr (has_phi && Attached<B...>::static_unknowns)
      return detail::has_marked_phi<J, Jet<Attached<B...>::unknown_count>, Attached<B...>,
                                    std::index_sequence_for<B...>>;
    else
      return false;
  }

 public:
  using Base::Base;
  using typename ConstraintModel::Row;

  Index holonomic() const override { return h; }
  std::vector<Row> rows() const override {
    std::vector<Row> out;
    if constexpr (requires { part_.rows.size(); }) {
      static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(part_.rows)>> == m,
                    "one RowInfo per row of phi and psi");
      for (const RowInfo& r : part_.rows)
        out.push_back({std::string(r.name), std::string(r.removes), std::string(r.reaction), std::string(r.unit)});
    } else {
      for (int i = 1; i <= m; ++i) out.push_back({fmt::format("{}", i), "", "lambda", ""});
    }
    return out;
  }

  std::optional<Vec3<double>> axis(const State& s, Firsts first) const override {
    if constexpr (requires {
                    requires std::same_as<std::remove_cvref_t<decltype(part_.axis_a)>, Axis>;
                    requires requires(const std::tuple_element_t<0, std::tuple<B...>>& body,
                                      const Coordinates<std::tuple_element_t<0, std::tuple<B...>>, double>& q) {
                      body.direction(q, part_.axis_a.along);
                    };
                  })
      return std::get<0>(bodies_.template placed<double>(bodies_.stacked(s.q, first))).direction(part_.axis_a.along);
    else
      return {};
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

  void evaluate(const State& s, const Places& at, double* A, double* value, double* rate, double* b) const override {
    if constexpr (at_markers()) {
      constexpr int K = Attached<B...>::unknown_count;
      using T = Jet<K>;
      const auto f = call_phi(bodies_.template marked<T>(s, at), T::time(s.t));
      for (int i = 0; i < h; ++i) {
        const T& r = detail::row(f, i);
        value[i] = r.v;
        rate[i] = r.rate();
        b[i] = -r.acceleration();
        for (int k = 0; k < K; ++k) A[i * K + k] = r.slope(static_cast<std::size_t>(k));
      }
    }
    if constexpr (has_psi || !at_markers()) evaluate_by_coordinates(s, at, A, value, rate, b);
  }
  void nonideal(const State& s, const Places& at, double* const* f) const override {
    if constexpr (detail::HasMarkedNonideal<J, B...>) {
      bodies_.acted(s, at, f, [&](auto&... view) { part_.nonideal(view..., s.t); });
    } else if constexpr (detail::HasNonideal<J, double, B...>) {
      const Firsts first(at.first, sizeof...(B));
      bodies_.push(at, law<double>(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first), s.t), f);
    }
  }

  bool evaluate([[maybe_unused]] const TaylorState& s, [[maybe_unused]] Firsts first,
                [[maybe_unused]] TaylorVector& rows) const override {
    if constexpr ((!has_phi || detail::HasPhi<J, Taylor, B...>)&&(!has_psi || detail::HasPsi<J, Taylor, B...>)) {
      const TaylorVector q = bodies_.stacked(s.q, first);
      if constexpr (has_phi) {
        const auto f = call_phi(bodies_.template placed<Taylor>(q), s.t);
        for (int i = 0; i < h; ++i) rows[i] = detail::row(f, i);
      }
      if constexpr (has_psi) {
        const auto f = call_psi(bodies_.template moving<Taylor>(q, bodies_.stacked(s.v, first)), s.t);
        for (int i = h; i < m; ++i) rows[i] = detail::row(f, i - h);
      }
      return true;
    } else {
      return false;
    }
  }

  bool reacts() const override { return detail::HasReact<J, m, B...>; }
  void react(const State& s, const Places& at, const double* lambda, double* const* f) const override {
    if constexpr (detail::HasReact<J, m, B...>)
      bodies_.acted(s, at, f, [&](auto&... view) { part_.react(view..., s.t, reaction(lambda)); });
  }
  void react(const State& s, Firsts first, const double* lambda, VectorRef C) const override {
    if constexpr (detail::HasReact<J, m, B...>) {
      const Vec<double, dynamic> q = bodies_.stacked(s.q, first), v = bodies_.stacked(s.v, first);
      bodies_.add(
          bodies_.template acted<double>(q, v, [&](auto&... view) { part_.react(view..., s.t, reaction(lambda)); }),
          first, C);
    }
  }

  // d(A'lambda)/dq is the Hessian of lambda . phi, and the mixed one of lambda . psi: a pair of directions at a time.
  typename ConstraintModel::RowSlopes slopes(const State& s, Firsts first, const double* lambda) const override {
    const VectorXd q = bodies_.stacked(s.q, first), v = bodies_.stacked(s.v, first);
    const Index n = q.size();
    typename ConstraintModel::RowSlopes out{MatrixXd::Zero(n, n), MatrixXd::Zero(n, n), MatrixXd::Zero(m, n)};
    const auto values = [&](const auto& f, int first_row, int count, Index k0, Index width) {
      for (int i = 0; i < count; ++i)
        for (Index k = 0; k < width; ++k)
          out.value_dq(first_row + i, k0 + k) = detail::row(f, i).d[static_cast<std::size_t>(k)];
    };
    const auto weighed = [&](const auto& f, int first_row, int count) {
      double sum = 0;
      for (int i = 0; i < count; ++i) sum += lambda[first_row + i] * detail::row(f, i).d[0].d[0];
      return sum;
    };
    // x along i first and j second
    const auto seed = [](const VectorXd& x, Index i, Index j) {
      Vec<SecondOrder, dynamic> y(x.size());
      for (Index k = 0; k < x.size(); ++k) y[k] = {{x[k], {k == i ? 1.0 : 0.0}}, {Dual<double, 1>(k == j ? 1.0 : 0.0)}};
      return y;
    };
    const auto loaded = [&](int first_row, int end) {
      return std::any_of(lambda + first_row, lambda + end, [](double x) { return x != 0; });
    };
    if constexpr (has_phi) {
      for_each_chunk(q, [&](Index k0, Index width, const auto& x) {
        values(call_phi(bodies_.template placed<FirstOrder>(x), FirstOrder(s.t)), 0, h, k0, width);
      });
      for (Index i = 0; loaded(0, h) && i < n; ++i)
        for (Index j = 0; j <= i; ++j)
          out.force_dq(i, j) = out.force_dq(j, i) =
              weighed(call_phi(bodies_.template placed<SecondOrder>(seed(q, i, j)), SecondOrder(s.t)), 0, h);
    }
    if constexpr (has_psi) {
      const Vec<FirstOrder, dynamic> v0 = v.cast<FirstOrder>();
      for_each_chunk(q, [&](Index k0, Index width, const auto& x) {
        values(call_psi(bodies_.template moving<FirstOrder>(x, v0), FirstOrder(s.t)), h, m - h, k0, width);
      });
      const auto second = [&](const Vec<SecondOrder, dynamic>& x, const Vec<SecondOrder, dynamic>& y) {
        return weighed(call_psi(bodies_.template moving<SecondOrder>(x, y), SecondOrder(s.t)), h, m - h);
      };
      for (Index i = 0; loaded(h, m) && i < n; ++i)
        for (Index j = 0; j < n; ++j) {
          out.force_dq(i, j) += second(seed(q, -1, j), seed(v, i, -1));
          if (j <= i) out.force_dv(i, j) = out.force_dv(j, i) = second(seed(q, -1, -1), seed(v, i, j));
        }
    }
    return out;
  }

  bool ideal() const override { return !detail::HasNonideal<J, double, B...>; }
  bool differentiable() const override { return !reacts() && (ideal() || detail::HasNonideal<J, FirstOrder, B...>); }
  void nonideal(const State& s, Firsts first, VectorRef C) const override {
    if constexpr (detail::HasNonideal<J, double, B...>)
      bodies_.add(law<double>(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first), s.t), first, C);
  }
  bool nonideal([[maybe_unused]] const TaylorState& s, [[maybe_unused]] Firsts first,
                [[maybe_unused]] TaylorVector& C) const override {
    if constexpr (detail::HasNonideal<J, Taylor, B...>) {
      bodies_.add(law<Taylor>(bodies_.stacked(s.q, first), bodies_.stacked(s.v, first), s.t), first, C);
      return true;
    } else {
      return ideal();
    }
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
  static Vec<double, m> reaction(const double* lambda) { return Eigen::Map<const Vec<double, m>>(lambda); }
  template <class T> auto call_phi(const auto& views, const T& t) const {
    return std::apply([&](const auto&... view) { return part_.phi(view..., t); }, views);
  }
  template <class T> auto call_psi(const auto& views, const T& t) const {
    return std::apply([&](const auto&... view) { return part_.psi(view..., t); }, views);
  }
  template <class T> Vec<T, dynamic> law(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v, const T& t) const {
    return bodies_.template acted<T>(q, v, [&](auto&... view) { part_.nonideal(view..., t); });
  }

  // Seeds coordinates and velocities as functions of the unknowns, a few at a time:  dq = T y,  q'' = z.
  void evaluate_by_coordinates(const State& s, const Places& at, double* A, double* value, double* rate,
                               double* b) const {
    const Firsts first(at.first, sizeof...(B));
    using Bodies = Attached<B...>;
    constexpr int N = Bodies::coordinate_count, columns = Bodies::static_unknowns ? Bodies::unknown_count : dynamic;
    const Vec<double, N> q = bodies_.stacked(s.q, first), v = bodies_.stacked(s.v, first);
    Mat<double, N, columns> T;
    Vec<double, N> z;
    bodies_.spread(at, T, z);
    const auto seeded = [&](const Vec<double, N>& x, Index k0, Index n) {
      Vec<FirstOrder, N> out(x.size());
      for (Index i = 0; i < x.size(); ++i) {
        std::array<double, jet_width> d{};
        for (Index k = 0; k < n; ++k) d[static_cast<std::size_t>(k)] = T(i, k0 + k);
        out[i] = {x[i], d};
      }
      return out;
    };
    const Index K = T.cols();
    const auto each_chunk = [&](int first_row, int count, const auto& f) {
      for (Index k0 = 0; k0 == 0 || k0 < K; k0 += jet_width) {
        const Index n = std::min<Index>(jet_width, K - k0);
        const auto rows = f(k0, n);
        for (int i = 0; i < count; ++i) {
          const FirstOrder& r = detail::row(rows, i);
          value[first_row + i] = r.v;
          for (Index k = 0; k < n; ++k) A[(first_row + i) * K + k0 + k] = r.d[static_cast<std::size_t>(k)];
        }
      }
    };
    if constexpr (has_phi && !at_markers()) {
      each_chunk(0, h, [&](Index k0, Index n) {
        return call_phi(bodies_.template placed<FirstOrder>(seeded(q, k0, n)), FirstOrder(s.t));
      });
      Vec<SecondOrder, N> x(q.size());
      for (Index k = 0; k < q.size(); ++k) x[k] = {{q[k], {v[k]}}, {Dual<double, 1>(v[k], {z[k]})}};
      const auto f = call_phi(bodies_.template placed<SecondOrder>(x), along(s.t, 1));
      for (int i = 0; i < h; ++i) {
        rate[i] = detail::row(f, i).d[0].v;
        b[i] = -detail::row(f, i).d[0].d[0];
      }
    }
    if constexpr (has_psi) {
      const Vec<FirstOrder, N> q0 = q.template cast<FirstOrder>();
      each_chunk(h, m - h, [&](Index k0, Index n) {
        return call_psi(bodies_.template moving<FirstOrder>(q0, seeded(v, k0, n)), FirstOrder(s.t));
      });
      using S = Dual<double, 1>;
      Vec<S, N> x(q.size()), y(q.size());
      for (Index k = 0; k < q.size(); ++k) x[k] = {q[k], {v[k]}}, y[k] = {v[k], {z[k]}};
      const auto f = call_psi(bodies_.template moving<S>(x, y), S::variable(s.t, 0));
      for (int i = h; i < m; ++i) {
        rate[i] = value[i];
        b[i] = -detail::row(f, i - h).d[0];
      }
    }
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
};

}  // namespace mortise
