#pragma once
// Units of measure in texts:  "12 mm", "30 deg", "5 kg m^2", "3 N s/m".

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mortise::files {

struct Unit {
  double factor = 1;               // to SI
  std::array<int, 3> dimension{};  // powers of m, kg, s; angles have none
  bool operator==(const Unit& other) const = default;
};

// Products of units and their whole powers, the ones after a / divided:  N s/m, kg m^2, 1/s.  None if it is no unit.
std::optional<Unit> parse_unit(std::string_view text);
// Whether x has the dimension of one of the units told by a field: "N/m or N m/rad", "N/m, N m/rad".  A field that
// tells no unit ("") takes pure numbers and angles.
bool fits(const Unit& x, std::string_view field_unit);
std::vector<std::string> unit_names();

}  // namespace mortise::files
