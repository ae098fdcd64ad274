#pragma once
// Coupling: an affine relation between named coordinates of any number of bodies, moving with time if asked to.
//
//   phi = sum_k factor_k q_k + constant + rate t        1 row
//
//   Coupling{.terms = {{0, "y", 1}, {1, "theta", -R}}}   connects y of the first body with theta of the second: y = R
//   theta

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include <mortise/core/fields.h>
#include <mortise/core/parts.h>

namespace mortise {

struct Coupling {
  struct Term {
    std::size_t body;        // position among the bodies connected, from 0
    std::string coordinate;  // its name in that body
    double factor;
  };
  std::vector<Term> terms;
  double constant = 0;
  double rate = 0;

  static constexpr Summary summary{"coupling", "a linear relation between coordinates",
                                   "sum factor q + constant + rate t = 0"};
  static constexpr std::tuple fields{
      Field{"terms", &Coupling::terms, "", "body (counted from 0), coordinate and factor of each term"},
      Field{"constant", &Coupling::constant, "", "in the unit of the sum"},
      Field{"rate", &Coupling::rate, "1/s", "by which the constant grows"}};
  static constexpr std::array<RowInfo, 1> rows{{{"sum", "a combination of its coordinates", "force", ""}}};

  // The arguments are bodies..., t.
  template <class... X> auto phi(const X&... bodies_and_t) const {
    const auto arguments = std::tie(bodies_and_t...);
    using T = std::remove_cvref_t<std::tuple_element_t<sizeof...(X) - 1, std::tuple<X...>>>;
    T sum = constant + rate * std::get<sizeof...(X) - 1>(arguments);
    for (const Term& term : terms) [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((i == term.body ? void(sum += term.factor * std::get<i>(arguments).coordinate(term.coordinate)) : void()),
         ...);
      }
    (std::make_index_sequence<sizeof...(X) - 1>{});
    return Vec<T, 1>(sum);
  }
  void validate(const Label& label, const auto&... bodies) const {
    label.require(!terms.empty(), "it has no terms", "name at least one coordinate");
    for (const Term& term : terms) {
      label.require(term.body < sizeof...(bodies),
                    fmt::format("a term names body {} of {}", term.body, sizeof...(bodies)),
                    "bodies are counted from 0");
      label.require(std::isfinite(term.factor), fmt::format("the factor of '{}' is {}", term.coordinate, term.factor),
                    "give finite numbers");
      std::size_t i = 0;
      const auto known = [&](const auto& b) { return i++ != term.body || b.find(term.coordinate) >= 0; };
      label.require((known(bodies) && ...), fmt::format("body {} has no coordinate '{}'", term.body, term.coordinate),
                    "check the name against the body's coordinates");
    }
  }
};

}  // namespace mortise
