// SENTENCE: a planar part on a spatial body
#include "common.h"
int main() {
  Assembly a("a");
  const auto ground = a.add("ground", Ground{});
  const auto rod = a.add("rod", RigidBody{.mass = 1});
  a.connect("hinge", Pin{}, ground, rod);  // MISTAKE
}
