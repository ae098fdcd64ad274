#pragma once
// Formulas of model files in the places where a part takes a functor.

#include <mortise/bodies/lagrangian.h>
#include <mortise/files/scope.h>

namespace mortise::files {

// R expressions of the arguments that the part calls it with; R = 0 returns a number instead of a vector.
template <int R> struct Formula {
  static constexpr int count = R == 0 ? 1 : R;
  std::vector<Expression> rows;
  std::vector<Variable> variables;

  template <class... X> auto operator()(const X&... x) const {
    using T = Scalar<std::tuple_element_t<sizeof...(X) - 1, std::tuple<X...>>>;
    std::vector<T> values(variables.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      int argument = 0;
      ((argument++ == variables[i].argument ? void(values[i] = fetch<T>(x, variables[i])) : void()), ...);
    }
    if constexpr (R == 0) {
      return rows.empty() ? T(0.0) : rows[0](values);
    } else {
      Vec<T, R> out;
      for (int k = 0; k < R; ++k) out[k] = rows[static_cast<std::size_t>(k)](values);
      return out;
    }
  }
  std::vector<double> breakpoints(double from, double to) const { return switches(rows, variables, from, to); }

 private:
  template <class T, class X> static T fetch(const X& x, const Variable& v) {
    if constexpr (requires { x.speed(v.coordinate); }) {
      return v.rate ? T(x.speed(v.coordinate)) : T(x.coordinate(v.coordinate));
    } else if constexpr (requires { x.coordinate(v.coordinate); }) {
      return T(x.coordinate(v.coordinate));
    } else if constexpr (requires { x[0]; }) {
      return T(x[v.component]);
    } else {
      return T(x);
    }
  }
};

// T and V of a body in its own coordinates: "theta", "theta'", t.
struct EnergyFormula {
  Formula<0> kinetic, potential;

  template <class S> Energies<S> operator()(const Vec<S, dynamic>& q, const Vec<S, dynamic>& v, const S& t) const {
    return {kinetic(q, v, t), potential(q, v, t)};
  }
};

// Forces on the coordinates of a body, in these.
struct ForceFormula {
  std::vector<Expression> rows;  // none: no force
  std::vector<Variable> variables;

  template <class S> Vec<S, dynamic> operator()(const Vec<S, dynamic>& q, const Vec<S, dynamic>& v, const S& t) const {
    Vec<S, dynamic> Q = Vec<S, dynamic>::Zero(q.size());
    std::vector<S> values(variables.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Variable& x = variables[i];
      values[i] = x.argument == 0 ? q[x.component] : x.argument == 1 ? v[x.component] : t;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) Q[static_cast<Index>(i)] = rows[i](values);
    return Q;
  }
};

}  // namespace mortise::files
