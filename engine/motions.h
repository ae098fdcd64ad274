#pragma once
// The motions of all bodies of a System at one state, in one piece of memory (BodyModel::make_motion).

#include <vector>

#include <mortise/assembly/system.h>

#pragma GCC visibility push(hidden)
namespace mortise::engine {

class BodyMotions {
 public:
  explicit BodyMotions(const System& system);
  BodyMotions(const BodyMotions&) = delete;
  BodyMotions& operator=(const BodyMotions&) = delete;
  ~BodyMotions();

  void* operator[](std::size_t body) const { return motion_[body]; }
  const std::vector<void*>& all() const { return motion_; }

 private:
  std::vector<std::shared_ptr<const BodyModel>>
      models_;  // they destroy what they have made, whatever becomes of the system
  std::vector<unsigned char> memory_;
  std::vector<void*> motion_;
};

}  // namespace mortise::engine
#pragma GCC visibility pop
