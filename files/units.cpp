#include <mortise/files/units.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>

namespace mortise::files {
namespace {

struct Named {
  std::string_view name;
  Unit unit;
};
constexpr double degree = std::numbers::pi / 180;
constexpr std::array units{
    Named{"m", {1, {1, 0, 0}}},
    Named{"mm", {1e-3, {1, 0, 0}}},
    Named{"cm", {1e-2, {1, 0, 0}}},
    Named{"um", {1e-6, {1, 0, 0}}},
    Named{"km", {1e3, {1, 0, 0}}},
    Named{"in", {0.0254, {1, 0, 0}}},
    Named{"ft", {0.3048, {1, 0, 0}}},
    Named{"kg", {1, {0, 1, 0}}},
    Named{"g", {1e-3, {0, 1, 0}}},
    Named{"mg", {1e-6, {0, 1, 0}}},
    Named{"t", {1e3, {0, 1, 0}}},
    Named{"lb", {0.45359237, {0, 1, 0}}},
    Named{"s", {1, {0, 0, 1}}},
    Named{"ms", {1e-3, {0, 0, 1}}},
    Named{"us", {1e-6, {0, 0, 1}}},
    Named{"min", {60, {0, 0, 1}}},
    Named{"h", {3600, {0, 0, 1}}},
    Named{"rad", {1, {0, 0, 0}}},
    Named{"mrad", {1e-3, {0, 0, 0}}},
    Named{"deg", {degree, {0, 0, 0}}},
    Named{"rev", {360 * degree, {0, 0, 0}}},
    Named{"N", {1, {1, 1, -2}}},
    Named{"mN", {1e-3, {1, 1, -2}}},
    Named{"kN", {1e3, {1, 1, -2}}},
    Named{"MN", {1e6, {1, 1, -2}}},
    Named{"J", {1, {2, 1, -2}}},
    Named{"kJ", {1e3, {2, 1, -2}}},
    Named{"W", {1, {2, 1, -3}}},
    Named{"kW", {1e3, {2, 1, -3}}},
    Named{"Pa", {1, {-1, 1, -2}}},
    Named{"kPa", {1e3, {-1, 1, -2}}},
    Named{"MPa", {1e6, {-1, 1, -2}}},
    Named{"GPa", {1e9, {-1, 1, -2}}},
    Named{"Hz", {1, {0, 0, -1}}},
    Named{"rpm", {6 * degree, {0, 0, -1}}},
    Named{"l", {1e-3, {3, 0, 0}}},
    Named{"percent", {0.01, {0, 0, 0}}},
};

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::vector<std::string> unit_names() {
  std::vector<std::string> names;
  for (const Named& u : units) names.emplace_back(u.name);
  return names;
}

std::optional<Unit> parse_unit(std::string_view text) {
  Unit out;
  bool any = false, divided = false;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ' || text[i] == '*') {
      ++i;
    } else if (text[i] == '/') {
      divided = true;
      ++i;
    } else if (text[i] == '1' && (i + 1 == text.size() || !letter(text[i + 1])) && !divided) {
      any = true;
      ++i;
    } else if (letter(text[i])) {
      const std::size_t begin = i;
      while (i < text.size() && letter(text[i])) ++i;
      const std::string_view name = text.substr(begin, i - begin);
      const auto it = std::find_if(units.begin(), units.end(), [&](const Named& u) { return u.name == name; });
      if (it == units.end()) return std::nullopt;
      int power = 1;
      if (i < text.size() && text[i] == '^') {
        const bool negative = ++i < text.size() && text[i] == '-';
        if (negative) ++i;
        if (i >= text.size() || !digit(text[i]) || (i + 1 < text.size() && digit(text[i + 1]))) return std::nullopt;
        power = (text[i++] - '0') * (negative ? -1 : 1);
      }
      if (divided) power = -power;
      out.factor *= std::pow(it->unit.factor, power);
      for (std::size_t k = 0; k < 3; ++k) out.dimension[k] += power * it->unit.dimension[k];
      any = true;
    } else {
      return std::nullopt;
    }
  }
  if (!any) return std::nullopt;
  return out;
}

bool fits(const Unit& x, std::string_view field_unit) {
  if (field_unit.empty()) return x.dimension == std::array<int, 3>{};
  while (!field_unit.empty()) {
    const std::size_t comma = std::min(field_unit.find(", "), field_unit.find(" or "));
    const auto unit = parse_unit(field_unit.substr(0, comma));
    if (unit && unit->dimension == x.dimension) return true;
    if (comma == std::string_view::npos) break;
    field_unit.remove_prefix(comma + (field_unit[comma] == ',' ? 2 : 4));
  }
  return false;
}

}  // namespace mortise::files
