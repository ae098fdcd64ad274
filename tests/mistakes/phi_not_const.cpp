// SENTENCE: is not const
#include "common.h"
struct Rod {
  template <class T> Vec<T, 1> phi(const auto& a, const auto& b, const T&) {
    return Vec<T, 1>((a.point(Vec2<double>(0, 0)) - b.point(Vec2<double>(0, 0))).norm());
  }
};
int main() {
  Assembly a("a");
  const auto p = a.add("p", PlanarBody{.mass = 1}), q = a.add("q", PlanarBody{.mass = 1});
  a.connect("rod", Rod{}, p, q);  // MISTAKE
}
