// One target for libFuzzer: the one that MORTISE_TARGET names.

#include <cstdio>
#include <cstdlib>

#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const mortise::fuzz::Target* target = [] {
    const char* name = std::getenv("MORTISE_TARGET");
    for (const auto& t : mortise::fuzz::targets())
      if (name && t.name == name) return &t;
    std::fprintf(stderr, "MORTISE_TARGET names none of the targets\n");
    std::exit(2);
  }();
  target->feed({reinterpret_cast<const char*>(data), size});
  return 0;
}
