#pragma once
// From a sensor, a plain struct, to its model: what it measures, with its rates by dual numbers.

#include <mortise/assembly/part_on.h>

namespace mortise {

template <class S, Body... B> class SensorOf final : public PartOn<SensorOf<S, B...>, SensorModel, S, B...> {
  static_assert(
      detail::HasMeasure<S, SecondOrder, B...> || detail::HasMeasureMotion<S, Dual<double, 1>, B...>,
      "this sensor needs measure(bodies..., t) or measure_motion(bodies..., t), a template on the scalar, for "
      "these body types");

 public:
  using PartOn<SensorOf, SensorModel, S, B...>::PartOn;
};

}  // namespace mortise
