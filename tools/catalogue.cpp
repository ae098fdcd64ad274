// Prints docs/CATALOGUE.md: every body, joint, force and sensor of the library with its rows or coordinates, equation
// and fields.  The list of parts is made from the folders when the project is configured.

#include <cstdio>
#include <string>

#include <fmt/format.h>

#include <mortise/assembly/catalogue.h>
#include <mortise/core/parts.h>
#include <mortise/joints/friction.h>

#include "catalogue_parts.h"

namespace {

using namespace mortise;

std::string number(double x) { return fmt::format("{:g}", x); }

// The default of a field, as it stands in a part made without arguments.
std::string shown(double x) { return number(x); }
std::string shown(int x) { return number(x); }
std::string shown(bool x) { return x ? "true" : "false"; }
std::string shown(const std::string& x) { return x.empty() ? "none" : x; }
template <class D> std::string shown(const Eigen::MatrixBase<D>& x) {
  if (x.size() == 0) return "none";
  if (x.isZero(0)) return "0";
  std::string out;
  for (Index i = 0; i < x.size(); ++i) out += (i ? ", " : "") + number(x.derived().coeff(i));
  return "(" + out + ")";
}
std::string shown(const Axis& x) { return shown(x.along); }
std::string shown(const PlanarAxis& x) { return shown(x.along); }
template <class V> std::string shown(const std::vector<V>& x) { return x.empty() ? "none" : "given"; }
// Functions and lists have no short default.
template <class V>
requires(!std::is_base_of_v<Eigen::MatrixBase<V>, V>) std::string shown(const V&) { return "to be given"; }

std::string range(Range r) {
  switch (r) {
    case Range::positive:
      return "> 0";
    case Range::not_negative:
      return ">= 0";
    case Range::nonzero:
      return "not 0";
    default:
      return "";
  }
}

template <class P> void line(std::string& text) {
  const P part{};
  std::string names, tells;
  const auto add = [&](std::string_view name) { names += fmt::format("{}{}", names.empty() ? "" : ", ", name); };
  if constexpr (requires { part.coordinates; }) {
    for (const auto& c : part.coordinates) add(c);
    if (names.empty()) names = "as given";
  } else if constexpr (requires { P::rows; }) {
    for (const RowInfo& r : P::rows) add(r.name);
    names = fmt::format("{}: {}", P::rows.size(), names);
  }
  if constexpr (requires { P::quantities; })
    for (const QuantityInfo& x : P::quantities) {
      const std::string name(x.name.empty() ? "its value" : x.name);
      tells += fmt::format("{}{}", tells.empty() ? "" : ", ", name);
      if (!x.unit.empty()) tells += fmt::format(" [{}]", x.unit);
    }
  text += fmt::format("\n### {}\n{}. `{}`", P::summary.name, P::summary.meaning, P::summary.equation);
  if (!names.empty())
    text += fmt::format(
        "  \n{} {}", requires { part.coordinates; } ? "Coordinates" : "Rows", names);
  if (!tells.empty()) text += "  \nTells " + tells;
  if constexpr (Rubs<P>) text += "  \nFriction: yes";
  text += "\n";
  if constexpr (std::tuple_size_v<std::remove_cvref_t<decltype(P::fields)>> == 0) return;
  text += "\n| field | unit | range | default | |\n|---|---|---|---|---|\n";
  std::apply(
      [&](const auto&... f) {
        ((text += fmt::format("| `{}` | {} | {} | {} | {} |\n", f.name, f.unit, range(f.range), shown(part.*(f.member)),
                              f.meaning)),
         ...);
      },
      P::fields);
}

// Parts that take a functor of bodies are compiled where they are used, all others into the library.
template <class P> inline constexpr bool takes_functor = false;
template <template <class...> class P, class... X>
inline constexpr bool takes_functor<P<X...>> = (std::is_same_v<X, catalogue::Given> || ...);
template <class F> inline constexpr bool takes_functor<AppliedForce<3, F>> = true;
template <class... P> constexpr bool joints_listed(catalogue::List<P...>) {
  return ((takes_functor<P> || detail::library_joint<P>)&&...);
}
template <class... P> constexpr bool forces_listed(catalogue::List<P...>) {
  return ((takes_functor<P> || detail::library_force<P>)&&...);
}
template <class... P> constexpr bool sensors_listed(catalogue::List<P...>) {
  return ((takes_functor<P> || detail::library_sensor<P>)&&...);
}
template <class... P> constexpr bool bodies_listed(catalogue::List<P...>) {
  return ((takes_functor<P> || detail::library_body<P>)&&...);
}
static_assert(joints_listed(catalogue::Joints{}) && forces_listed(catalogue::Forces{}) &&
                  sensors_listed(catalogue::Sensors{}) && bodies_listed(catalogue::Bodies{}),
              "list every part in assembly/catalogue.h, and name its instance in catalogue/");

template <class... P> void section(std::string& text, const char* title, catalogue::List<P...>) {
  text += fmt::format("\n## {}\n", title);
  (line<P>(text), ...);
}

}  // namespace

int main() {
  std::string text =
      "# Bodies, joints, forces and sensors\n\n"
      "Made by `mortise_catalogue` from the fields that each part tells beside its definition; a test compares the "
      "two.\n"
      "Where `D` is 2 or 3 the part lives in the plane or in space. Axes may have any length > 0: they are "
      "normalised.\n"
      "A field without a range takes any finite number. Signs of reactions and singular poses stand in the headers.\n"
      "Friction: yes, where `Coulomb` and `Viscous` (joints/friction.h) take the joint; its header says which force "
      "presses and what slides.\n";
  section(text, "Bodies", catalogue::Bodies{});
  section(text, "Joints", catalogue::Joints{});
  section(text, "Forces", catalogue::Forces{});
  section(text, "Sensors", catalogue::Sensors{});
  std::fputs(text.c_str(), stdout);
}
