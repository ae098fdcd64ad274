#pragma once
// A rigid body at a place, outside of any assembly, as joints see it.

#include <mortise/assembly/catalogue.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/core/view.h>

struct StandingData {
  std::shared_ptr<const mortise::BodyModel> model;
  mortise::VectorXd q;
  mortise::detail::Access<double> access{model.get(), q.data(), nullptr, nullptr};
};
struct StandingBody : private StandingData, mortise::BodyView<3, double> {
  StandingBody(const mortise::RigidBody& body, const mortise::VectorXd& place)
      : StandingData{mortise::library_body<mortise::RigidBody>({"body", "standing"}, body), place},
        mortise::BodyView<3, double>(access) {}
  const mortise::BodyView<3, double>& view() const { return *this; }
};
