#pragma once
// A body of any type, as joints, forces and sensors see it in D = 2 or 3 dimensions, so that one instance of a part
// serves all bodies.  It costs a little time per call; pairs of rigid bodies have instances of their own.
//
// Its points and directions are those of the body behind; a body that has none of them refuses by name.

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <mortise/assembly/models.h>
#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/bodies/structure.h>

namespace mortise {

template <int D> struct AnyBody {
  static_assert(D == 2 || D == 3);
  using Turning = std::conditional_t<D == 2, PlanarBody, RigidBody>;

  std::vector<std::string> coordinates;

  static AnyBody view_of(const std::shared_ptr<const BodyModel>& model) {
    AnyBody b;
    b.coordinates = model->coordinates();
    b.model_ = model;
    b.ground_ = dynamic_cast<const MadeFrom<Ground, BodyModel>*>(model.get()) != nullptr;
    b.turning_ = part<Turning>(*model);
    b.particle_ = part<Particle<D>>(*model);
    b.structure_ = part<Structure>(*model);
    return b;
  }

  template <class T> [[gnu::noinline]] Vec<T, D> point(const Vec<T, dynamic>& q, const Vec<double, D>& r) const {
    if (turning_) return turning_->point(Coordinates<Turning, T>(q), r);
    if (particle_) return particle_->point(Coordinates<Particle<D>, T>(q), r);
    if (structure_) return structure_->point(q, r);
    if (!ground_) refuse("points");
    return r.template cast<T>();
  }
  template <class T> [[gnu::noinline]] Vec<T, D> direction(const Vec<T, dynamic>& q, const Vec<double, D>& d) const {
    if (turning_) return turning_->direction(Coordinates<Turning, T>(q), d);
    if (!ground_ && !particle_) refuse("directions");
    return d.template cast<T>();
  }
  template <class T> [[gnu::noinline]] auto angular_velocity(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v) const {
    using W = std::conditional_t<D == 2, T, Vec3<T>>;
    if (turning_) return W(turning_->angular_velocity(Coordinates<Turning, T>(q), Coordinates<Turning, T>(v)));
    if (!ground_) refuse("rotation");
    if constexpr (D == 2)
      return T(0.0);
    else
      return W(W::Zero());
  }
  template <class T> T planar_angle(const Vec<T, dynamic>& q) const {
    if (ground_) return T(0.0);
    return q[require_coordinate(*this, "theta")];
  }
  Vec<double, D> local_point(const VectorXd& q, const Vec<double, D>& p) const {
    if (turning_) return turning_->local_point(Coordinates<Turning, double>(q), p);
    if (particle_) return particle_->local_point(Coordinates<Particle<D>, double>(q), p);
    if (!ground_) refuse("points that move with it");
    return p;
  }
  Vec<double, D> local_direction(const VectorXd& q, const Vec<double, D>& d) const {
    if (turning_) return turning_->local_direction(Coordinates<Turning, double>(q), d);
    if (!ground_ && !particle_) refuse("directions");
    return d;
  }

  // Not asked for: the body itself has these.
  template <class T> Mat<T, dynamic> mass_matrix(const Vec<T, dynamic>&, const T&) const { return {}; }
  template <class T> Vec<T, dynamic> force(const Vec<T, dynamic>&, const Vec<T, dynamic>&, const T&) const {
    return {};
  }

  // The unknowns of the body behind (core/marker.h).
  class Unknowns {
   public:
    static constexpr int count = dynamic;
    struct Motion {};  // stands for the body's own, which only the body can read
    explicit Unknowns(const AnyBody& b) : model_(b.model_.get()) {}

    Index size() const { return model_->unknowns(); }
    VectorXd spread(const Motion& m, const VectorXd& y) const {
      VectorXd dq(model_->neutral().size());
      model_->spread(&m, y.data(), dq.data());
      return dq;
    }
    VectorXd drift(const Motion& m) const {
      VectorXd z(model_->neutral().size());
      model_->drift(&m, z.data());
      return z;
    }

   private:
    const BodyModel* model_;
  };

 private:
  template <class B> static const B* part(const BodyModel& model) {
    const auto* made = dynamic_cast<const MadeFrom<B, BodyModel>*>(&model);
    return made ? &made->part() : nullptr;
  }
  [[noreturn]] void refuse(const char* what) const {
    Label{"body", model_->kind()}.fail<InvalidModel>(
        fmt::format("a body of this kind has no {} in {}", what, D == 2 ? "the plane" : "space"),
        "take a body of another kind");
  }

  std::shared_ptr<const BodyModel> model_;
  bool ground_ = false;
  const Turning* turning_ = nullptr;
  const Particle<D>* particle_ = nullptr;
  const Structure* structure_ = nullptr;
};

}  // namespace mortise
