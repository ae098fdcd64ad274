// SENTENCE: connects another number of bodies
#include "common.h"
int main() {
  Assembly a("a");
  const auto p = a.add("p", PlanarBody{.mass = 1}), q = a.add("q", PlanarBody{.mass = 1}),
             r = a.add("r", PlanarBody{.mass = 1});
  a.connect("hinge", Pin{}, p, q, r);  // MISTAKE
}
