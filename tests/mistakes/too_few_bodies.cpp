// SENTENCE: connects another number of bodies
#include "common.h"
int main() {
  Assembly a("a");
  const auto rod = a.add("rod", PlanarBody{.mass = 1});
  a.connect("hinge", Pin{}, rod);  // MISTAKE
}
