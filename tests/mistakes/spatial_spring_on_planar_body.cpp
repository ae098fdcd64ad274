// SENTENCE: a planar part on a spatial body, or the other way round
#include "common.h"
int main() {
  Assembly a("a");
  const auto p = a.add("p", Particle<2>{.mass = 1}), q = a.add("q", Particle<2>{.mass = 1});
  a.apply("spring", Spring<3>{.stiffness = 1}, p, q);  // MISTAKE
}
