#pragma once
// What [run] may record, by the names that a file has for it.

#include <array>
#include <utility>

#include <mortise/solve/readings.h>

namespace mortise::files {

inline constexpr std::array<std::pair<const char*, bool ReadingOptions::*>, 7> recordable{{
    {"coordinates", &ReadingOptions::coordinates},
    {"sensors", &ReadingOptions::sensors},
    {"joints", &ReadingOptions::joints},
    {"reactions", &ReadingOptions::reactions},
    {"forces", &ReadingOptions::forces},
    {"energy", &ReadingOptions::energy},
    {"momentum", &ReadingOptions::momentum},
}};

}  // namespace mortise::files
