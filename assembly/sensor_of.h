#pragma once
// From a sensor, a plain struct, to its model: what it measures, with its rates.

#include <utility>

#include <mortise/assembly/part_of.h>

namespace mortise {

class SensorPart : public SensorModel {
 public:
  using Interface = SensorModel;
  struct Facts {};

 protected:
  explicit SensorPart(const Facts&) {}
};

template <class S, int... D> class SensorOf;
template <class S, int... D>
std::shared_ptr<const SensorModel> bind_sensor(const Label& label, const S& sensor, BodyModels bodies) {
  return std::make_shared<const SensorOf<S, D...>>(label, sensor, bodies);
}

template <class S, int... D> class SensorOf final : public PartOf<SensorPart, S, D...> {
 public:
  SensorOf(const Label& label, S sensor, BodyModels bodies)
      : PartOf<SensorPart, S, D...>({}, label, std::move(sensor), bodies) {}

  std::shared_ptr<const SensorModel> changed(const Label& label, S sensor) const override {
    return bind_sensor<S, D...>(label, sensor, this->bodies_);
  }
  std::shared_ptr<const SensorModel> rebound(const Label& label, BodyModels bodies) const override {
    detail::require_same_types(label, this->bodies_, bodies);
    return bind_sensor<S, D...>(label, this->part_, bodies);
  }
};

}  // namespace mortise
