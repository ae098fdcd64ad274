#include <mortise/core/file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include <mortise/core/memory.h>

namespace mortise {
namespace {

namespace fs = std::filesystem;

// Where a chain of symbolic links ends, also where nothing is.
fs::path followed(fs::path path) {
  constexpr int longest = 40;
  std::error_code none;
  for (int i = 0; i < longest && fs::is_symlink(fs::symlink_status(path, none)); ++i) {
    const fs::path to = fs::read_symlink(path, none);
    path = to.is_absolute() ? to : path.parent_path() / to;
  }
  return path;
}

// An open file that is closed at the end.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags, mode_t mode = 0)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  explicit operator bool() const { return fd_ >= 0; }
  int operator*() const { return fd_; }
  bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool write_all(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

// Some file systems have nothing to be flushed.
bool flushed(int fd) { return ::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP; }

// A name that no other thread, process or machine takes.
std::string part_name() {
  static const std::uint64_t own = (std::uint64_t{std::random_device()()} << 32) ^ std::random_device()();
  static std::atomic<unsigned> count{0};
  return fmt::format(".mortise-{:x}-{:016x}-{}.part", ::getpid(), own, count++);
}

}  // namespace

void replace_file(const std::string& path, const std::string& text) {
  std::error_code none;
  const auto there = fs::status(path, none);
  const bool direct = exists(there) && !is_regular_file(there) && !is_directory(there);
  const fs::path target = direct ? fs::path(path) : followed(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const std::string beside = direct ? path : (folder / part_name()).string();
  bool made = false;
  const auto fail = [&](const char* what) {
    const std::string why = std::strerror(errno);
    if (made) ::unlink(beside.c_str());
    Label{"file", path}.fail<FileError>(
        fmt::format("{}: {}", what, why),
        direct ? "what reads it may have ended" : "nothing was changed; check folder, rights and space");
  };
  const bool circle = fs::is_symlink(fs::symlink_status(target, none)) && !direct;
  if (target.filename().empty() || is_directory(there) || circle) {
    errno = circle ? ELOOP : EISDIR;
    fail("cannot be written");
  }
  Descriptor file(beside, direct ? O_WRONLY : O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (!file) fail("cannot be written");
  made = !direct;
  if (is_regular_file(there)) (void)::fchmod(*file, static_cast<mode_t>(there.permissions()) & 07777);
  const bool whole = write_all(*file, text) && (direct || flushed(*file));
  if (!whole || !file.close()) fail("cannot be written as a whole");
  if (direct) return;
  if (::rename(beside.c_str(), target.c_str()) != 0) fail("cannot be put in its place");
  if (const Descriptor names(folder.string(), O_RDONLY | O_DIRECTORY); names) (void)flushed(*names);
}

std::string read_file(const std::string& path, std::size_t most) {
  const Label label{"file", path};
  Descriptor file(path, O_RDONLY | O_NONBLOCK);  // a pipe that nobody writes to does not keep us waiting
  if (!file) label.fail<FileError>(fmt::format("cannot be read: {}", std::strerror(errno)), "check name and rights");
  struct stat facts = {};
  if (::fstat(*file, &facts) != 0 || !S_ISREG(facts.st_mode))
    label.fail<FileError>("this is no plain file", "give one; pipes, devices and folders are not read");
  const auto too_large = [&](std::size_t size) {
    label.fail<FileError>(fmt::format("it has {} bytes or more", size), fmt::format("give one of at most {}", most));
  };
  if (static_cast<std::uint64_t>(facts.st_size) > most) too_large(static_cast<std::size_t>(facts.st_size));
  require_memory(label, "it", static_cast<double>(facts.st_size), "give a smaller one");
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t done = 0;
  for (;;) {
    if (done == text.size()) text.resize(text.size() + 4096);  // it may grow, or tell no size
    const ssize_t n = ::read(*file, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) label.fail<FileError>(fmt::format("cannot be read: {}", std::strerror(errno)), "check the disk");
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
    if (done > most) too_large(done);
  }
  text.resize(done);
  return text;
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat x = {}, y = {};
  const bool there = ::stat(a.c_str(), &x) == 0, also = ::stat(b.c_str(), &y) == 0;
  if (there && also) return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  if (there || also) return false;
  std::error_code none;
  const fs::path p = fs::weakly_canonical(fs::absolute(followed(a), none), none);
  const fs::path q = fs::weakly_canonical(fs::absolute(followed(b), none), none);
  return !p.empty() && p == q;
}

std::uint64_t fingerprint(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

}  // namespace mortise
