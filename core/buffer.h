#pragma once
// Buffer: a few numbers on the stack, or many on the heap.

#include <array>
#include <memory>

#include <mortise/core/types.h>

namespace mortise {

template <class T, std::size_t few> class Buffer {
 public:
  explicit Buffer(Index size) : size_(size) {
    if (static_cast<std::size_t>(size) > few) many_ = std::make_unique<T[]>(static_cast<std::size_t>(size));
  }
  Buffer(Index size, const T& value) : Buffer(size) {
    for (Index i = 0; i < size; ++i) data()[i] = value;
  }

  T* data() { return many_ ? many_.get() : few_.data(); }
  const T* data() const { return many_ ? many_.get() : few_.data(); }
  Index size() const { return size_; }
  T& operator[](Index i) { return data()[i]; }
  const T& operator[](Index i) const { return data()[i]; }

 private:
  Index size_;
  std::array<T, few> few_;  // uninitialised
  std::unique_ptr<T[]> many_;
};

}  // namespace mortise
