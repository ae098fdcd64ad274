#include <mortise/core/fields.h>

#include <cmath>

namespace mortise::detail {

void require_field(const Label& label, std::string_view name, std::string_view unit, Range range, double x) {
  const auto fact = [&](std::string_view says) {
    return fmt::format("{} = {} {}{}{}", name, x, unit, unit.empty() ? "" : " ", says);
  };
  if (range == Range::any) return;
  label.require(std::isfinite(x), fact("is not finite"), "give a finite number");
  label.require(range != Range::not_negative || x >= 0, fact("is negative"), "give a number >= 0 (0 is allowed)");
  label.require(range != Range::positive || x > 0, fact("is not positive"), "give a finite number > 0");
  label.require(range != Range::nonzero || x != 0, fact("is zero"), "give a number other than 0");
}
void require_field(const Label& label, std::string_view name, std::string_view unit, Range range, int x) {
  require_field(label, name, unit, range, static_cast<double>(x));
}

namespace {

void require_direction(const Label& label, std::string_view name, const VectorXd& along) {
  label.require(along.allFinite(), fmt::format("{} is not finite", name), "give finite numbers");
  label.require(along.norm() > 0.5, fmt::format("{} has length 0", name), "give a direction; any length > 0 will do");
}

}  // namespace

void require_field(const Label& label, std::string_view name, std::string_view, Range, const Axis& x) {
  require_direction(label, name, x.along);
  label.require(x.across_1.norm() > 0.5, fmt::format("the second direction of {} has no part across the first", name),
                "give two directions that are not parallel");
}
void require_field(const Label& label, std::string_view name, std::string_view, Range, const PlanarAxis& x) {
  require_direction(label, name, x.along);
}

void require_entries(const Label& label, std::string_view name, std::string_view unit, Range range, const double* x,
                     Index rows, Index columns) {
  const auto part = [&](Index i, Index j) {
    return columns == 1 ? fmt::format("{}[{}]", name, i) : fmt::format("{}({}, {})", name, i, j);
  };
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < rows; ++i)
      if (const double y = x[i + rows * j]; !std::isfinite(y) || range != Range::finite)
        require_field(label, part(i, j), unit, range, y);
}

}  // namespace mortise::detail
