// SENTENCE: a nested assembly where a body belongs
#include "common.h"
int main() {
  Assembly arm("arm"), a("a");
  arm.add("rod", PlanarBody{.mass = 1});
  const auto left = a.add("left", arm);
  const auto rod = a.add("rod", PlanarBody{.mass = 1});
  a.connect("hinge", Pin{}, left, rod);  // MISTAKE
}
