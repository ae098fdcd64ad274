#pragma once
// Our side of a comparison, behind a plain interface: a peer's program is compiled with other flags.

#include <memory>
#include <vector>

#include "mechanisms.h"

namespace bench {

class [[gnu::visibility("default")]] MortiseSide {
 public:
  explicit MortiseSide(const Chain& chain);
  explicit MortiseSide(const FourBar& four_bar);
  ~MortiseSide();

  void solve();                               // what is timed: from the state to q''
  std::vector<double> accelerations() const;  // of the last solve, see build.h

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace bench
