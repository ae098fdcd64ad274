#include "report.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace bench {
namespace {

// Lines for machines begin with "ratio " or "figure "; those of the table never do.
void line(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

}  // namespace

Options Options::from(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--quick") {
      options.quick = true;
    } else if (argument == "--at-most" && i + 1 < count && std::atoi(arguments[i + 1]) > 1) {
      options.at_most = std::atoi(arguments[++i]);
    } else if (argument.starts_with("-")) {
      fmt::print(stderr, "usage: {} [--quick] [--at-most N] [name...], N > 1\n", arguments[0]);
      std::exit(2);
    } else {
      options.names.push_back(argument);
    }
  }
  return options;
}

Report::Report(Options options) : options_(std::move(options)) {}

bool Report::wants(const std::string& name) const {
  const auto& names = options_.names;
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

std::string Report::name(const std::string& name, int size) const {
  return options_.size(size) == size ? name : fmt::format("{}_at_{}", name, options_.size(size));
}

void Report::ratio(const std::string& name, const Times& times, const std::string& against) {
  const double value = times.ours / times.theirs;
  line(
      fmt::format("  {:<20} {:>12.2f} us {:>12.2f} us {:>10.5f}   {}", name, times.ours, times.theirs, value, against));
  line(fmt::format("ratio {} {:.6g}", name, value));
}
void Report::ratio(const std::string& name, double value, const std::string& text) {
  line(fmt::format("  {:<20} {:>42.5f}   {}", name, value, text));
  line(fmt::format("ratio {} {:.6g}", name, value));
}
void Report::figure(const std::string& name, double value, const std::string& text) {
  line(fmt::format("  {:<20} {:>42.5g}   {}", name, value, text));
  figure(name, value);
}
void Report::figure(const std::string& name, double value) { line(fmt::format("figure {} {:.6g}", name, value)); }

void Report::note(const std::string& name, const std::string& text) {
  line(fmt::format("  {:<20} {:>42}   {}", name, "", text));
}
void Report::fail(const std::string& name, const std::string& text) {
  failed_ = true;
  line(fmt::format("  {:<20} FAILED: {}", name, text));
}

std::string Report::agreement(double difference) {
  const double limit = 1e-8;
  if (difference <= limit) return fmt::format("agree to {:.1e}", difference);
  failed_ = true;
  return fmt::format("FAILED: differ by {:.1e}, limit {:.0e}", difference, limit);
}

}  // namespace bench
