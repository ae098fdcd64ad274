#include <mortise/core/components.h>

#include <algorithm>
#include <numeric>

namespace mortise {

Components::Components(std::size_t count) : parent_(count) {
  std::iota(parent_.begin(), parent_.end(), std::size_t{0});
}

std::size_t Components::representative(std::size_t i) {
  while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
  return i;
}

void Components::join(std::size_t i, std::size_t j) {
  const std::size_t a = representative(i), b = representative(j);
  parent_[std::max(a, b)] = std::min(a, b);
}

std::vector<std::vector<std::size_t>> Components::parts() {
  std::vector<std::vector<std::size_t>> out;
  std::vector<std::size_t> number(parent_.size());
  for (std::size_t i = 0; i < parent_.size(); ++i) {
    const std::size_t first = representative(i);
    if (first == i) number[i] = out.size(), out.emplace_back();
    out[number[first]].push_back(i);
  }
  return out;
}

}  // namespace mortise
