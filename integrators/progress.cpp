#include <mortise/integrators/progress.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include <unistd.h>

#include <fmt/format.h>

namespace mortise {

std::string progress_line(double t0, double t, double end, double seconds) {
  const double done = end > t0 ? std::clamp((t - t0) / (end - t0), 0.0, 1.0) : 1;
  std::string left = "?";
  if (done > 0) {
    const double rest = std::ceil(std::min(seconds * (1 - done) / done, 1e9));
    const auto s = static_cast<long long>(rest);
    left = s < 60     ? fmt::format("{} s", s)
           : s < 3600 ? fmt::format("{} min {} s", s / 60, s % 60)
                      : fmt::format("{} h {} min", s / 3600, s / 60 % 60);
  }
  return fmt::format("{:4.0f} %   t = {:.4g} of {:.4g} s   {} left", std::floor(100 * done), t, end, left);
}

std::function<bool(double, double)> terminal_progress() {
  using Clock = std::chrono::steady_clock;
  struct Line {
    Clock::time_point begin, shown;
    double t0 = 0;
    bool begun = false, visible = false;
  };
  const auto line = std::make_shared<Line>();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  return [line, terminal](double t, double end) {
    if (!terminal) return true;
    const auto now = Clock::now();
    if (!line->begun) *line = {now, now + std::chrono::milliseconds(800), t, true, false};
    if (t >= end) {
      if (line->visible) std::fputs("\r\033[K", stderr);
      line->begun = false;
    } else if (now - line->shown > std::chrono::milliseconds(200)) {
      const double seconds = std::chrono::duration<double>(now - line->begin).count();
      std::fputs(("\r\033[K" + progress_line(line->t0, t, end, seconds)).c_str(), stderr);
      line->shown = now;
      line->visible = true;
    }
    return true;
  };
}

}  // namespace mortise
