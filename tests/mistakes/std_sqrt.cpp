// SENTENCE: sqrt
#include "common.h"
int main() {
  Assembly a("a");
  const auto p = a.add("p", PlanarBody{.mass = 1});
  a.connect("guide", Holonomic{[](const auto& b, const auto&) { return std::sqrt(b.coordinate("x")); }}, p);  // MISTAKE
}
