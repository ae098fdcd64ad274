#include <mortise/core/tolerances.h>
#include <mortise/core/words.h>

namespace mortise {
namespace {

// "-0" and round-off beside larger numbers print as 0.
double clean(double x, double size) { return std::abs(x) <= 1e-9 * size ? 0 : x; }

}  // namespace

std::string point_in_words(const VectorXd& p, double size) {
  std::string out;
  if (p.size()) size = std::max(size, p.cwiseAbs().maxCoeff());
  for (Index i = 0; i < p.size(); ++i) out += fmt::format("{}{:.4g}", i ? ", " : "", clean(p[i], size));
  return "(" + out + ")";
}

std::string direction_in_words(const VectorXd& d) {
  Index k = 0;
  const double largest = d.size() ? d.cwiseAbs().maxCoeff(&k) : 0;
  if (largest == 0) return "nothing";
  const VectorXd e = d / largest;
  if ((e.cwiseAbs().array() > 1e-9).count() == 1) return std::string(e[k] < 0 ? "-" : "") + "xyz"[k];
  return point_in_words(e);
}

std::string joined(const std::vector<std::string>& words, const char* separator) {
  return fmt::format("{}", fmt::join(words, separator));
}
std::string counted(Index n, const std::string& thing) { return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s"); }

std::string small_in_words(double x) { return x < 2e-16 ? "<2e-16" : fmt::format("{:.1e}", x); }

void require_visible_inertia(const Label& label, double J, double mc2) {
  label.require(J >= tolerance::visible_inertia * mc2,
                fmt::format("inertia {:.3g} kg m^2 is lost beside mass |centre|^2 = {:.3g} kg m^2", J, mc2),
                "put the origin at the centre of mass (joints may lie anywhere), or set that inertia to 0");
}

std::string some_of(const std::vector<std::string>& names, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) out += (i ? ", " : "") + names[i];
  return names.size() > most ? out + fmt::format(" and {} more", names.size() - most) : out;
}

}  // namespace mortise
