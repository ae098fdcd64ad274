#include "targets.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace mortise::fuzz {

const std::vector<Target>& targets() {
  static const std::vector<Target> all{
      {"model", 20000, feed_model},         {"parts", 400, feed_parts},  {"calls", 200, feed_calls},
      {"expression", 400, feed_expression}, {"table", 4000, feed_table}, {"checkpoint", 4000, feed_checkpoint},
      {"matrix", 2000, feed_matrix},
  };
  return all;
}

void fault(const std::string& what) {
  std::fprintf(stderr, "fault: %s\n", what.c_str());
  std::abort();
}

double Choices::number() {
  static constexpr double plain[] = {0, 1, -1, 2, 0.5, -0.5, 3, 0.1, 10, 0.25, -2, 1.5, 1e-3, 100, 0, 1};
  static constexpr double odd[] = {1e-9,
                                   1e9,
                                   -1e9,
                                   1e-300,
                                   1e300,
                                   -1e300,
                                   5e-324,
                                   -0.0,
                                   1e-16,
                                   1e16,
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN(),
                                   2147483648.0,
                                   -9223372036854775808.0,
                                   1e-6};
  constexpr unsigned mostly = 240, any = 252;
  const unsigned kind = byte();
  if (kind < mostly) return one_of(plain);
  if (kind < any) return one_of(odd);
  unsigned char bits[sizeof(double)];
  for (unsigned char& b : bits) b = static_cast<unsigned char>(byte());
  double x = 0;
  std::memcpy(&x, bits, sizeof x);
  return x;
}

}  // namespace mortise::fuzz
