// SENTENCE: must be a template on the scalar
#include "common.h"
struct Rod {
  double phi(const BodyView<2, double>& a, double) const { return a.coordinate("x"); }
};
int main() {
  Assembly a("a");
  const auto p = a.add("p", PlanarBody{.mass = 1});
  a.connect("rod", Rod{}, p);  // MISTAKE
}
