#pragma once
// Joints that are used very often: their rows compiled for the types of the bodies, too.
//
// The unknowns of the bodies stand in one jet of just their number, and no call is made for a point: measured, a fifth
// less for the rows of a joint than by views.  Everything else is that of JointOf.

#include <mortise/assembly/body_of.h>
#include <mortise/assembly/joint_of.h>

namespace mortise {

// A body seen through its unknowns, for phi.
template <class B, class T, int First> struct TypedView {
  const typename B::Unknowns& unknowns;
  const typename B::Unknowns::Motion& motion;

  [[gnu::always_inline]] auto point(const auto& r) const {
    return detail::Seed<T, First>::of(unknowns.point(motion, r));
  }
  [[gnu::always_inline]] auto direction(const auto& d) const {
    return detail::Seed<T, First>::of(unknowns.direction(motion, d));
  }
};

template <class J, class A, class B>
class TypedJoint final : public JointOf<J, part_dimension<J>(), part_dimension<J>()> {
  using Base = JointOf<J, part_dimension<J>(), part_dimension<J>()>;
  using UnknownsA = typename A::Unknowns;
  using UnknownsB = typename B::Unknowns;
  static constexpr int K = UnknownsA::count + UnknownsB::count;

 public:
  TypedJoint(const Label& label, const J& joint, BodyModels bodies, const UnknownsOf<A>& a, const UnknownsOf<B>& b)
      : Base(label, joint, bodies), a_(&a.unknowns_of_type()), b_(&b.unknowns_of_type()) {}

  using Base::evaluate;
  void evaluate(const State& s, const Places& at, double* A_out, double* value, double* rate,
                double* b) const override {
    using T = Jet<K>;
    const auto rows = this->part_.phi(
        TypedView<A, T, 0>{*a_, *static_cast<const typename UnknownsA::Motion*>(at.motion[0])},
        TypedView<B, T, UnknownsA::count>{*b_, *static_cast<const typename UnknownsB::Motion*>(at.motion[1])},
        T::time(s.t));
    for (int i = 0; i < detail::row_count<std::remove_cvref_t<decltype(rows)>>(); ++i) {
      const T& r = detail::row(rows, i);
      value[i] = r.v;
      rate[i] = r.rate();
      b[i] = -r.acceleration();
      for (int k = 0; k < K; ++k) A_out[i * K + k] = r.slope(static_cast<std::size_t>(k));
    }
  }

 private:
  const UnknownsA* a_;  // of the bodies that the base holds
  const UnknownsB* b_;
};

// The model of joint J on bodies of types A and B, if they are of these types.
template <class J, class A, class B>
std::shared_ptr<const ConstraintModel> typed_pair(const Label& label, const J& joint, BodyModels bodies) {
  if (bodies.size() != 2) return nullptr;
  const auto* a = dynamic_cast<const UnknownsOf<A>*>(bodies[0].get());
  const auto* b = dynamic_cast<const UnknownsOf<B>*>(bodies[1].get());
  if (!a || !b) return nullptr;
  return std::make_shared<const TypedJoint<J, A, B>>(label, joint, bodies, *a, *b);
}
template <class J, class G, class X> struct TypedOnGroundAnd {
  static std::shared_ptr<const ConstraintModel> make(const Label& label, const J& joint, BodyModels bodies) {
    if (auto model = typed_pair<J, X, X>(label, joint, bodies)) return model;
    return typed_pair<J, G, X>(label, joint, bodies);
  }
};

}  // namespace mortise
