#pragma once
// Lagrangian: any number of named coordinates whose equations of motion follow from T(q, v, t) and V(q, t).
//
//   M = d2T/dv2,   Q = dT/dq - dV/dq - d2T/dvdq v - d2T/dvdt            so that M q'' = Q  is Lagrange's equation
//
//   Lagrangian{.coordinates = {"theta"}, .energies = [=](const auto& q, const auto& v, const auto& t) {
//                using std::cos;
//                return Energies{0.5 * m * L * L * v[0] * v[0], -m * g * L * cos(q[0])};
//              }}
//
// energies is one functor for T and V, written as a template (a generic lambda): it is called with nested dual numbers
// and differentiated exactly, twice for M and Q and a third time for their slopes.  V must not depend on v.
// T is at most quadratic in v: M must not depend on v.  T may have terms linear in v (gyroscopic), terms without v, and
// depend on time; M may be singular.  Cost: n (n + 1) / 2 calls of the functor for M and 2 n for Q.
//
// Energy: kinetic is 1/2 v'M v, potential is V - T(q, 0, t); their sum is kept where T and V do not depend on time
// (Jacobi's integral).  Gravity of the assembly does not act here: it knows no positions; put weights into V.
// Catalogue: Lagrangian<Given>

#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <mortise/core/dual.h>
#include <mortise/core/fields.h>

namespace mortise {

// What the functor returns.
template <class S> struct Energies {
  S T;  // kinetic [J]
  S V;  // potential [J]
};
template <class A, class B> Energies(A, B) -> Energies<std::common_type_t<A, B>>;

template <class F> struct Lagrangian {
  std::vector<std::string> coordinates;
  F energies;

  static constexpr Summary summary{"lagrangian", "coordinates with a kinetic and a potential energy",
                                   "d/dt dT/dv - dT/dq + dV/dq = 0"};
  static constexpr std::tuple fields{
      Field{"coordinates", &Lagrangian::coordinates, "", "their names"},
      Field{"energies", &Lagrangian::energies, "J", "(q, v, t) -> Energies{T, V}, a template on the scalar"}};

  template <class S> Mat<S, dynamic> mass_matrix(const Vec<S, dynamic>& q, const S& t) const {
    using D = Dual<S, 1>;
    using DD = Dual<D, 1>;
    const Vec<DD, dynamic> x = raised<DD, D>(q);
    const DD time{D(t)};
    // v = e_i a + e_j b at a = b = 0: T is quadratic, so M does not depend on v.
    Vec<DD, dynamic> v = Vec<DD, dynamic>::Zero(q.size());
    Mat<S, dynamic> M(q.size(), q.size());
    for (Index i = 0; i < q.size(); ++i)
      for (Index j = 0; j <= i; ++j) {
        v[i] = DD(D(0.0), {D(1.0)});
        v[j] = i == j ? DD(D::variable(S(0.0), 0), {D(1.0)}) : DD(D::variable(S(0.0), 0));
        M(i, j) = M(j, i) = DD(energies(x, v, time).T).d[0].d[0];
        v[i] = v[j] = DD(0.0);
      }
    return M;
  }
  template <class S> Vec<S, dynamic> force(const Vec<S, dynamic>& q, const Vec<S, dynamic>& v, const S& t) const {
    using D = Dual<S, 1>;
    using DD = Dual<D, 1>;
    Vec<S, dynamic> Q(q.size());
    Vec<D, dynamic> x = raised<D>(q);
    const Vec<D, dynamic> u = raised<D>(v);
    for (Index i = 0; i < q.size(); ++i) {
      x[i] = D::variable(q[i], 0);
      const auto e = energies(x, u, D(t));
      Q[i] = (D(e.T) - D(e.V)).d[0];
      x[i] = D(q[i]);
    }
    // d/ds dT/dv_i (q + s v, v, t + s)
    Vec<DD, dynamic> along_q(q.size()), along_v = raised<DD, D>(v);
    for (Index k = 0; k < q.size(); ++k) along_q[k] = DD(D(q[k], {v[k]}));
    const DD along_t(D::variable(t, 0));
    for (Index i = 0; i < q.size(); ++i) {
      along_v[i] = DD(D(v[i]), {D(1.0)});
      Q[i] -= DD(energies(along_q, along_v, along_t).T).d[0].d[0];
      along_v[i] = DD(D(v[i]));
    }
    return Q;
  }
  template <class S> S potential(const Vec<S, dynamic>& q, const S& t) const {
    const auto e = energies(q, Vec<S, dynamic>(Vec<S, dynamic>::Zero(q.size())), t);
    return S(e.V) - S(e.T);
  }

  void validate(const Label& label) const {
    using S = SecondOrder;
    static_assert(std::is_invocable_v<const F&, const Vec<S, dynamic>&, const Vec<S, dynamic>&, const S&>,
                  "energies(q, v, t) must be a template on the scalar (a generic lambda)");
    label.require(!coordinates.empty(), "it has no coordinates", "name at least one");
  }

 private:
  // Constants of a dual type, level by level.
  template <class... Levels, class S> static auto raised(const Vec<S, dynamic>& x) {
    using Top = std::tuple_element_t<0, std::tuple<Levels...>>;
    Vec<Top, dynamic> out(x.size());
    for (Index i = 0; i < x.size(); ++i) {
      if constexpr (sizeof...(Levels) == 2)
        out[i] = Top(std::tuple_element_t<1, std::tuple<Levels...>>(x[i]));
      else
        out[i] = Top(x[i]);
    }
    return out;
  }
};

}  // namespace mortise
