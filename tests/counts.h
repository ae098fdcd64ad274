#pragma once
// How many cases of its kind a random test tries.

#include <cstdlib>

// So many, and MORTISE_LONG=10 in the environment times ten (`scripts/test --long`); few under the address sanitizer,
// which takes about ten times as long.
inline unsigned many([[maybe_unused]] unsigned count, [[maybe_unused]] unsigned few) {
#ifdef __SANITIZE_ADDRESS__
  return few;
#else
  const char* factor = std::getenv("MORTISE_LONG");
  const long times = factor ? std::strtol(factor, nullptr, 10) : 1;
  return times > 1 ? count * static_cast<unsigned>(times) : count;
#endif
}
