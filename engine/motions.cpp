#include <mortise/engine/motions.h>

#include <algorithm>
#include <cstdint>

namespace mortise::engine {

BodyMotions::BodyMotions(const System& system) {
  std::size_t bytes = 0, align = 1;
  std::vector<std::size_t> where;
  for (const auto& b : system.bodies()) {
    const std::size_t a = b.model->motion_align();
    align = std::max(align, a);
    bytes = (bytes + a - 1) / a * a;
    where.push_back(bytes);
    bytes += b.model->motion_size();
    models_.push_back(b.model);
  }
  memory_.resize(bytes + align);
  auto base = reinterpret_cast<std::uintptr_t>(memory_.data());
  base = (base + align - 1) / align * align;
  for (std::size_t i = 0; i < where.size(); ++i)
    motion_.push_back(models_[i]->make_motion(reinterpret_cast<void*>(base + where[i])));
}

BodyMotions::~BodyMotions() {
  for (std::size_t i = 0; i < motion_.size(); ++i) models_[i]->destroy_motion(motion_[i]);
}

}  // namespace mortise::engine
