// SENTENCE: a planar part on a spatial body, or the other way round
#include "common.h"
int main() {
  Assembly a("a");
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", PlanarBody{.mass = 1});
  a.connect("hinge", Revolute{}, ground, rod);  // MISTAKE
}
