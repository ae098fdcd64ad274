#include <mortise/engine/row_rates.h>

#include <map>
#include <memory>
#include <new>
#include <vector>

namespace mortise {
namespace {

// One body as it moves at a state.
class BodyMotion {
 public:
  BodyMotion(const System& system, std::size_t body, const State& s) : info_(system.bodies()[body]) {
    const BodyModel& model = *info_.model;
    const auto align = std::align_val_t(model.motion_align());
    memory_ = {::operator new(model.motion_size(), align), Free{align}};
    motion_ = model.make_motion(memory_.get());
    std::vector<double> force(static_cast<std::size_t>(model.unknowns()), 0);
    (void)model.move(s, info_.first, system.gravity(), info_.name, motion_, force.data());
  }
  BodyMotion(const BodyMotion&) = delete;
  BodyMotion& operator=(const BodyMotion&) = delete;
  ~BodyMotion() { info_.model->destroy_motion(motion_); }
  const void* get() const { return motion_; }

 private:
  struct Free {
    std::align_val_t align;
    void operator()(void* memory) const { ::operator delete(memory, align); }
  };
  const System::BodyInfo& info_;
  std::unique_ptr<void, Free> memory_{nullptr, Free{}};
  void* motion_;
};

}  // namespace

VectorXd row_rates(const System& system, const State& s, const std::set<std::size_t>& constraints) {
  VectorXd out = VectorXd::Zero(system.rows());
  std::map<std::size_t, BodyMotion> moving;
  for (const std::size_t i : constraints) {
    const auto& c = system.constraints()[i];
    std::vector<const void*> motions;
    std::vector<Index> firsts;
    Index unknowns = 0;
    for (const std::size_t k : c.bodies) {
      motions.push_back(moving.try_emplace(k, system, k, s).first->second.get());
      firsts.push_back(system.bodies()[k].first);
      unknowns += system.bodies()[k].model->unknowns();
    }
    VectorXd A(c.rows * unknowns), value(c.rows), b(c.rows);
    c.model->evaluate(s, {firsts.data(), motions.data()}, A.data(), value.data(), out.data() + c.row, b.data());
  }
  return out;
}

}  // namespace mortise
