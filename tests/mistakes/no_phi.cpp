// SENTENCE: has no phi(bodies..., t)
#include "common.h"
struct Rod {
  double length = 1;
};
int main() {
  Assembly a("a");
  const auto p = a.add("p", PlanarBody{.mass = 1}), q = a.add("q", PlanarBody{.mass = 1});
  a.connect("rod", Rod{}, p, q);  // MISTAKE
}
