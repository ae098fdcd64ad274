#pragma once
// CoordinateSpring: a linear spring and damper on a sum of named coordinates of any number of bodies.
//
//   s = sum_k factor_k q_k - rest,   force on q_k = -factor_k (k s + c s'),   V = k/2 s^2,   input = -c s'^2
//
//   CoordinateSpring{.terms = {{0, "x", 1}, {1, "x", -1}}, .stiffness = 100}      between x of two bodies
//   CoordinateSpring{.terms = {{0, "theta", 1}}, .stiffness = 5, .rest = 0.2}     holds theta near 0.2
//
// Units follow those of the sum: N/m for lengths, N m/rad for angles.

#include <string>
#include <tuple>
#include <vector>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct CoordinateSpring {
  struct Term {
    std::size_t body;        // position among the bodies it acts on, from 0
    std::string coordinate;  // its name in that body
    double factor;
  };
  std::vector<Term> terms = {};
  double stiffness = 0;
  double damping = 0;
  double rest = 0;

  static constexpr Summary summary{"coordinate_spring", "a spring and damper on a sum of coordinates",
                                   "force on q = -factor (stiffness s + damping s'), s = sum factor q - rest"};
  static constexpr std::tuple fields{
      Field{"terms", &CoordinateSpring::terms, "", "body (counted from 0), coordinate and factor of each term"},
      Field{"stiffness", &CoordinateSpring::stiffness, "N/m or N m/rad", "0 is allowed", Range::not_negative},
      Field{"damping", &CoordinateSpring::damping, "N s/m or N m s/rad", "0 is allowed", Range::not_negative},
      Field{"rest", &CoordinateSpring::rest, "m or rad", "value of the sum without force"}};

  // The arguments are bodies..., t.
  template <class... X> auto potential(const X&... bodies_and_t) const {
    using T = Last<X...>;
    T s(-rest);
    for_each_term(std::tie(bodies_and_t...),
                  [&](const Term& term, const auto& body) { s += term.factor * body.coordinate(term.coordinate); });
    return T(0.5 * stiffness * s * s);
  }
  template <class... X> void act(X&... bodies_and_t) const {
    using T = Last<X...>;
    if (damping == 0) return;
    T rate(0.0);
    const auto arguments = std::tie(bodies_and_t...);
    for_each_term(arguments,
                  [&](const Term& term, const auto& body) { rate += term.factor * body.speed(term.coordinate); });
    for_each_term(arguments, [&](const Term& term, auto& body) {
      body.apply_to(term.coordinate, T(-damping * term.factor * rate));
    });
  }
  void validate(const Label& label, const auto&... bodies) const {
    label.require(!terms.empty(), "it has no terms", "name at least one coordinate");
    for (const Term& term : terms) {
      label.require(term.body < sizeof...(bodies),
                    fmt::format("a term names body {} of {}", term.body, sizeof...(bodies)),
                    "bodies are counted from 0");
      label.require(std::isfinite(term.factor), fmt::format("the factor of '{}' is {}", term.coordinate, term.factor),
                    "give finite numbers");
    }
  }

 private:
  template <class... X> using Last = std::remove_cvref_t<std::tuple_element_t<sizeof...(X) - 1, std::tuple<X...>>>;

  template <class... X, class F> void for_each_term(const std::tuple<X&...>& arguments, const F& f) const {
    for (const Term& term : terms) [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((i == term.body ? f(term, std::get<i>(arguments)) : void()), ...);
      }
    (std::make_index_sequence<sizeof...(X) - 1>{});
  }
};

}  // namespace mortise
