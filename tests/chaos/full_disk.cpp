// Preloaded into the command: the call number MORTISE_FAIL_AT of those that write fails once, with the errno
// MORTISE_FAIL_WITH; with MORTISE_FAIL_ON all from there on do.
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {

long number(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : 0;
}

bool fails() {
  static std::atomic<long> calls{0};
  static const long at = number("MORTISE_FAIL_AT"), on = number("MORTISE_FAIL_ON"), with = number("MORTISE_FAIL_WITH");
  const long call = ++calls;
  if (at == 0 || !(call == at || (on != 0 && call > at))) return false;
  errno = static_cast<int>(with);
  return true;
}

template <class F> F real(const char* name) { return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name)); }

}  // namespace

extern "C" {
ssize_t write(int fd, const void* data, size_t size) {
  static const auto next = real<ssize_t (*)(int, const void*, size_t)>("write");
  struct stat facts = {};
  const bool file = ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
  if (file && fails()) return size > 1 && errno == ENOSPC ? next(fd, data, size / 2) : -1;  // a part of it, first
  return next(fd, data, size);
}
int fsync(int fd) {
  static const auto next = real<int (*)(int)>("fsync");
  return fails() ? -1 : next(fd);
}
int rename(const char* from, const char* to) noexcept {
  static const auto next = real<int (*)(const char*, const char*)>("rename");
  return fails() ? -1 : next(from, to);
}
}
