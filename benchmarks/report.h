#pragma once
// What the programs share: their options, the timing, the table and the lines for machines.

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace bench {

struct Options {
  bool quick = false;
  int at_most = 0;                 // no mechanism is larger; 0: no limit
  std::vector<std::string> names;  // only these; empty: all

  static Options from(int count, char** arguments);  // prints what is wrong and exits

  double seconds() const { return quick ? 2 : 10; }  // of one comparison
  int size(int n) const { return at_most > 0 ? std::min(n, at_most) : n; }
};

// Best times of one call [us].
struct Times {
  double ours = 1e300, theirs = 1e300;
};

// The two take turns, so that what disturbs the machine hits both.  A turn is a few calls, the first of which finds
// the caches as the other side left them.
template <class Ours, class Theirs> Times race(const Options& options, Ours&& ours, Theirs&& theirs) {
  using Clock = std::chrono::steady_clock;
  const auto turn = [](auto& side, double& best) {
    double spent = 0;
    for (int calls = 0; spent < 2e3 || (calls < 3 && spent < 5e4); ++calls) {
      const auto start = Clock::now();
      side();
      const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
      best = std::min(best, us);
      spent += us;
    }
    return spent;
  };
  Times best;
  double spent = 0;
  for (int turns = 0; turns < 5 || spent < 1e6 * options.seconds(); ++turns)
    spent += turn(ours, best.ours) + turn(theirs, best.theirs);
  return best;
}

class Report {
 public:
  explicit Report(Options options);

  const Options& options() const { return options_; }
  // Is it asked for?  Then its name, which shows where the size was cut down: chain_1000_at_10.
  bool wants(const std::string& name) const;
  std::string name(const std::string& name, int size) const;

  // Ours over theirs, a line of the table and one for machines.
  void ratio(const std::string& name, const Times& times, const std::string& against);
  void ratio(const std::string& name, double value, const std::string& text);
  void figure(const std::string& name, double value, const std::string& text);
  void figure(const std::string& name, double value);  // for machines alone

  // The largest relative difference between two sides that are both exact, in words.  One beyond 1e-8, far more than
  // round-off and far less than an error in a model, makes the program fail.
  std::string agreement(double difference);

  void note(const std::string& name, const std::string& text);  // a line of the table alone
  void fail(const std::string& name, const std::string& text);

  int exit_code() const { return failed_ ? 1 : 0; }

 private:
  Options options_;
  bool failed_ = false;
};

}  // namespace bench
