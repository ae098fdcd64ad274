#pragma once
// Connected parts of anything numbered from 0: sets that grow together as their members are joined.

#include <cstddef>
#include <vector>

#pragma GCC visibility push(hidden)

namespace mortise {

class Components {
 public:
  explicit Components(std::size_t count);
  void join(std::size_t i, std::size_t j);
  std::size_t representative(std::size_t i);      // the same for all members of a part: its smallest number
  std::vector<std::vector<std::size_t>> parts();  // by their smallest members, members ascending

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace mortise
#pragma GCC visibility pop
