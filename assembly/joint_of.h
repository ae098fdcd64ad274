#pragma once
// From a joint, a plain struct, to its model.
//
//   A = d phi/dq,  b = -d^2/ds^2 phi(q + s v, t + s)         holonomic rows
//   A = d psi/dv,  b = -d/ds psi(q + s v, v, t + s)          nonholonomic rows
//
// The joint is instantiated for two scalars, RowJet and Taylor; what is done with the numbers is in joint_model.cpp.

#include <array>
#include <concepts>
#include <utility>

#include <mortise/assembly/part_of.h>
#include <mortise/core/axis.h>

namespace mortise {

// A constraint made of formulas of views.
class JointModel : public ConstraintModel {
 public:
  using Interface = ConstraintModel;
  using ConstraintModel::Row;
  using ConstraintModel::RowSlopes;
  using ConstraintModel::turned;
  struct Facts {
    int holonomic = 0, rows = 0;
    bool law = false, law_varies = false;  // nonideal; written as a template
    bool reacts = false;
  };

  Index holonomic() const override { return facts_.holonomic; }
  bool ideal() const override { return !facts_.law; }
  bool reacts() const override { return facts_.reacts; }
  bool differentiable() const override { return !facts_.reacts && (!facts_.law || facts_.law_varies); }

  void evaluate(const State& s, Firsts first, VectorRef value, VectorRef b,
                std::span<Eigen::Map<MatrixXd>> A) const override;
  void evaluate(const State& s, const Places& at, double* A, double* value, double* rate, double* b) const override;
  bool evaluate(const TaylorState& s, Firsts first, TaylorVector& rows) const override;
  RowSlopes slopes(const State& s, Firsts first, const double* lambda) const override;

  void nonideal(const State& s, const Places& at, double* const* f) const override;
  void nonideal(const State& s, Firsts first, VectorRef C) const override;
  bool nonideal(const TaylorState& s, Firsts first, TaylorVector& C) const override;
  std::optional<Slopes> nonideal_slopes(const State& s, Firsts first) const override;
  void react(const State& s, const Places& at, const double* lambda, double* const* f) const override;
  void react(const State& s, Firsts first, const double* lambda, VectorRef C) const override;

 protected:
  explicit JointModel(const Facts& facts) : facts_(facts) {}

  // The formulas; each is called only where there is one.
  virtual BodyModels bodies() const = 0;
  virtual void phi(const detail::Access<RowJet>* a, const RowJet& t, RowJet* out) const = 0;
  virtual void phi(const detail::Access<Taylor>* a, const Taylor& t, Taylor* out) const = 0;
  virtual void psi(const detail::Access<RowJet>* a, const RowJet& t, RowJet* out) const = 0;
  virtual void psi(const detail::Access<Taylor>* a, const Taylor& t, Taylor* out) const = 0;
  virtual void law(detail::Access<double>* a, double t) const = 0;
  virtual void law(detail::Access<Taylor>* a, const Taylor& t) const = 0;
  virtual void reaction_law(detail::Access<double>* a, double t, const double* lambda) const = 0;

  // Rows of a joint that tells nothing of them, and the axis of one that has one.
  static std::vector<Row> numbered(int rows);
  static std::vector<Row> listed(std::span<const RowInfo> rows);
  std::optional<Vec3<double>> world(const Vec3<double>& axis, const State& s, Firsts first, std::size_t body = 0) const;
  std::optional<Turned> turned(const Axis& a, const Axis& b, Aligned aligned, const State& s, Firsts first) const;

 private:
  Facts facts_;
};

// Makes the model of a joint.  Some joints of the library have rows that are compiled for the types of their bodies
// too, where they are used very often (catalogue/typed_joint.h); none is made here.
template <class J> struct TypedJoints {
  static std::shared_ptr<const ConstraintModel> make(const Label&, const J&, BodyModels) { return nullptr; }
};
template <class J, int... D> class JointOf;
template <class J, int... D>
std::shared_ptr<const ConstraintModel> bind_joint(const Label& label, const J& joint, BodyModels bodies) {
  if (auto typed = TypedJoints<J>::make(label, joint, bodies)) return typed;
  return std::make_shared<const JointOf<J, D...>>(label, joint, bodies);
}

template <class J, int... D> class JointOf : public PartOf<JointModel, J, D...> {
  using Base = PartOf<JointModel, J, D...>;
  using typename JointModel::Row;
  template <class T> using Access = detail::Access<T>;

  static constexpr bool has_phi = detail::has_phi<J, RowJet, D...>, has_psi = detail::has_psi<J, RowJet, D...>;
  static constexpr bool has_law = detail::has_nonideal<J, double, D...>;
  static constexpr bool law_varies = detail::has_nonideal<J, Taylor, D...>;
  static constexpr int h = [] {
    if constexpr (has_phi)
      return detail::row_count<std::remove_cvref_t<
          std::invoke_result_t<decltype(detail::call::phi), const J&, const BodyView<D, RowJet>&..., const RowJet&>>>();
    return 0;
  }();
  static constexpr int m = h + [] {
    if constexpr (has_psi)
      return detail::row_count<std::remove_cvref_t<std::invoke_result_t<
          decltype(detail::call::psi), const J&, const VelocityView<D, RowJet>&..., const RowJet&>>>();
    return 0;
  }();
  static constexpr bool has_react = std::is_invocable_v<decltype(detail::call::react), const J&,
                                                        ForceView<D, double>&..., const double&, const Vec<double, m>&>;

 public:
  JointOf(const Label& label, J joint, BodyModels bodies)
      : Base({h, m, has_law, law_varies, has_react}, label, std::move(joint), bodies) {}

  std::shared_ptr<const ConstraintModel> changed(const Label& label, J joint) const override {
    return bind_joint<J, D...>(label, joint, this->bodies_);
  }
  std::shared_ptr<const ConstraintModel> rebound(const Label& label, BodyModels bodies) const override {
    detail::require_same_types(label, this->bodies_, bodies);
    return bind_joint<J, D...>(label, this->part_, bodies);
  }
  std::vector<Row> rows() const override {
    if constexpr (requires { this->part_.rows.size(); }) {
      static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(this->part_.rows)>> == m,
                    "one RowInfo per row of phi and psi");
      return JointModel::listed(this->part_.rows);
    } else {
      return JointModel::numbered(m);
    }
  }
  std::optional<ConstraintModel::WeldedFrames> welded_frames() const override {
    if constexpr (requires { this->part_.frame_a(), this->part_.frame_b(); })
      return ConstraintModel::WeldedFrames{this->part_.frame_a(), this->part_.frame_b()};
    else
      return {};
  }
  std::optional<Vec3<double>> axis([[maybe_unused]] const State& s, [[maybe_unused]] Firsts first) const override {
    if constexpr (requires { requires std::same_as<std::remove_cvref_t<decltype(this->part_.axis_a)>, Axis>; })
      return this->world(this->part_.axis_a.along, s, first);
    else
      return {};
  }
  std::optional<ConstraintModel::Turned> turned(const State& s, Firsts first) const override {
    if constexpr (requires { this->part_.joint; })  // a law was added to it
      return turned_of(this->part_.joint, s, first);
    else
      return turned_of(this->part_, s, first);
  }

 protected:
  BodyModels bodies() const override { return this->bodies_; }
  void phi(const Access<RowJet>* a, const RowJet& t, RowJet* out) const override { phi_in(a, t, out); }
  void phi(const Access<Taylor>* a, const Taylor& t, Taylor* out) const override { phi_in(a, t, out); }
  void psi(const Access<RowJet>* a, const RowJet& t, RowJet* out) const override { psi_in(a, t, out); }
  void psi(const Access<Taylor>* a, const Taylor& t, Taylor* out) const override { psi_in(a, t, out); }
  void law([[maybe_unused]] Access<double>* a, [[maybe_unused]] double t) const override {
    if constexpr (has_law)
      detail::with_force_views<D...>(a, [&](auto&... b) { this->part_.nonideal(b..., std::as_const(t)); });
  }
  void law([[maybe_unused]] Access<Taylor>* a, [[maybe_unused]] const Taylor& t) const override {
    if constexpr (law_varies) detail::with_force_views<D...>(a, [&](auto&... b) { this->part_.nonideal(b..., t); });
  }
  void reaction_law([[maybe_unused]] Access<double>* a, [[maybe_unused]] double t,
                    [[maybe_unused]] const double* lambda) const override {
    if constexpr (has_react) {
      const Vec<double, m> given = Eigen::Map<const Vec<double, m>>(lambda);
      detail::with_force_views<D...>(a, [&](auto&... b) { this->part_.react(b..., std::as_const(t), given); });
    }
  }

 private:
  template <class K>
  std::optional<ConstraintModel::Turned> turned_of([[maybe_unused]] const K& joint, [[maybe_unused]] const State& s,
                                                   [[maybe_unused]] Firsts first) const {
    if constexpr (requires { K::aligned; })
      return JointModel::turned(joint.axis_a, joint.axis_b, K::aligned, s, first);
    else
      return {};
  }
  template <class T>
  void phi_in([[maybe_unused]] const Access<T>* a, [[maybe_unused]] const T& t, [[maybe_unused]] T* out) const {
    if constexpr (has_phi)
      detail::with_views<BodyView, D...>(
          a, [&](const auto&... b) { return detail::write_rows(this->part_.phi(b..., t), out); });
  }
  template <class T>
  void psi_in([[maybe_unused]] const Access<T>* a, [[maybe_unused]] const T& t, [[maybe_unused]] T* out) const {
    if constexpr (has_psi)
      detail::with_views<VelocityView, D...>(
          a, [&](const auto&... b) { return detail::write_rows(this->part_.psi(b..., t), out); });
  }
};

}  // namespace mortise
