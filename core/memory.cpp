#include <mortise/core/memory.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace mortise {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Of a file that holds one number; infinite if it holds none, such as "max".
double number_in(const char* path) {
  std::ifstream in(path);
  double x = 0;
  return in >> x ? x : infinite;
}

// "MemAvailable:   23456 kB"
double of_machine() {
  std::ifstream in("/proc/meminfo");
  std::string key, unit;
  for (double x = 0; in >> key >> x; std::getline(in, unit))
    if (key == "MemAvailable:") return 1024 * x;
  return infinite;
}

double of_limit() {
  rlimit most = {};
  if (getrlimit(RLIMIT_AS, &most) != 0 || most.rlim_cur == RLIM_INFINITY) return infinite;
  const double pages = number_in("/proc/self/statm");
  const double used = pages < infinite ? pages * static_cast<double>(sysconf(_SC_PAGESIZE)) : 0;
  return std::max(0.0, static_cast<double>(most.rlim_cur) - used);
}

double of_group() {
  const double most = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  return most < infinite && used < infinite ? std::max(0.0, most - used) : infinite;
}

}  // namespace

std::string memory_text(double bytes) {
  constexpr double kilo = 1e3;
  const char* unit = "B";
  for (const char* larger : {"kB", "MB", "GB", "TB"})
    if (bytes >= kilo) bytes /= kilo, unit = larger;
  return fmt::format("{:.3g} {}", bytes, unit);
}

double free_memory() { return std::min({of_machine(), of_limit(), of_group()}); }

void require_memory(const Label& label, const std::string& what, double bytes, const std::string& remedy) {
  constexpr double little = 64e6;
  if (bytes < little) return;
  const double left = free_memory();
  if (bytes > left)
    label.fail<TooLarge>(
        fmt::format("{} needs {} of memory, and {} are left", what, memory_text(bytes), memory_text(left)), remedy);
}

}  // namespace mortise
