#pragma once
// From a body, a plain struct, to its model; its own constraint becomes a joint on it alone.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mortise/assembly/joint_of.h>

namespace mortise {

// A body's own constraint phi(q) = 0, seen as a joint on that body alone.
template <Body B> struct OwnConstraint {
  static constexpr auto rows = B::own_rows;
  template <class T> auto phi(const Placed<B, T>& a, const T&) const { return a.body.phi(a.q); }
};

template <Body B> class BodyOf final : public BodyModel {
 public:
  explicit BodyOf(B b) : body_(std::make_shared<const B>(std::move(b))) {}

  const std::shared_ptr<const B>& body() const { return body_; }

  std::vector<std::string> coordinates() const override {
    return {body_->coordinates.begin(), body_->coordinates.end()};
  }
  std::vector<int> groups() const override {
    if constexpr (requires { body_->groups; }) {
      return {body_->groups.begin(), body_->groups.end()};
    } else {
      std::vector<int> each(body_->coordinates.size());
      for (std::size_t i = 0; i < each.size(); ++i) each[i] = static_cast<int>(i);
      return each;
    }
  }
  VectorXd neutral() const override {
    if constexpr (requires { body_->neutral(); })
      return body_->neutral();
    else
      return VectorXd::Zero(size());
  }
  std::shared_ptr<const ConstraintModel> own_constraint() const override {
    if constexpr (requires(const Q& q) { body_->phi(q); })
      return std::make_shared<const JointOf<OwnConstraint<B>, B>>(OwnConstraint<B>{}, body_);
    else
      return nullptr;
  }

  static constexpr bool mass_has_slopes = requires(const B& b, const Coordinates<B, FirstOrder>& x, FirstOrder t) {
    b.mass_matrix(x, t);
  };
  static constexpr bool force_has_slopes = requires(const B& b, const Coordinates<B, FirstOrder>& x, FirstOrder t) {
    b.force(x, x, t);
  };
  bool differentiable() const override { return mass_has_slopes && force_has_slopes; }

  MatrixXd mass_matrix(const State& s, Index first) const override {
    return body_->mass_matrix(Q(s.q.segment(first, size())), s.t);
  }
  VectorXd force(const State& s, Index first) const override {
    return body_->force(Q(s.q.segment(first, size())), Q(s.v.segment(first, size())), s.t);
  }
  std::optional<MatrixXd> mass_slopes(const State& s, Index first, const VectorXd& a) const override {
    if constexpr (mass_has_slopes) {
      const auto Ma = [&](const auto& q, const auto&) -> Vec<FirstOrder, dynamic> {
        const Coordinates<B, FirstOrder> x = q;
        const Mat<FirstOrder, dynamic> M = body_->mass_matrix(x, FirstOrder(s.t));
        return M * a.template cast<FirstOrder>();
      };
      return slopes_of(s.q.segment(first, size()), s.v.segment(first, size()), Ma).dq;
    } else {
      return std::nullopt;
    }
  }
  std::optional<Slopes> force_slopes(const State& s, Index first) const override {
    if constexpr (force_has_slopes) {
      const auto f = [&](const auto& q, const auto& v) -> Vec<FirstOrder, dynamic> {
        const Coordinates<B, FirstOrder> x = q, y = v;
        return body_->force(x, y, FirstOrder(s.t));
      };
      return slopes_of(s.q.segment(first, size()), s.v.segment(first, size()), f);
    } else {
      return std::nullopt;
    }
  }

  // V = -g . first moment of mass
  static constexpr bool weighs = requires(const B& b, const Coordinates<B, double>& q) { b.first_moment(q); };
  bool has_weight() const override { return weighs; }
  double gravity(const State& s, Index first, const Vec3<double>& g, VectorRef Q_out) const override {
    if constexpr (weighs) {
      const Q q = s.q.segment(first, size());
      Q_out.segment(first, size()) += weight<double>(q, g);
      const auto S = body_->first_moment(q);
      return -g.head(S.size()).dot(S);
    } else {
      return 0;
    }
  }
  MatrixXd gravity_slopes(const State& s, Index first, const Vec3<double>& g) const override {
    if constexpr (weighs) {
      const auto f = [&](const auto& q, const auto&) -> Vec<FirstOrder, dynamic> { return weight<FirstOrder>(q, g); };
      return slopes_of(s.q.segment(first, size()), s.v.segment(first, size()), f).dq;
    } else {
      return MatrixXd::Zero(size(), size());
    }
  }

  Massless massless(const State& s, Index first, const MatrixXd& M, const Label& label) const override {
    if constexpr (requires(const Q& q) { body_->massless(q); })
      return body_->massless(Q(s.q.segment(first, size())));
    else
      return massless_directions(M, label, coordinates());
  }
  std::string describe(const State& s, Index first, const VectorXd& dq) const override {
    if constexpr (requires(const Q& q) { body_->describe(q, q); }) {
      return body_->describe(Q(s.q.segment(first, size())), Q(dq));
    } else {
      std::string text;
      for (Index i = 0; i < size(); ++i)
        if (dq[i] != 0)
          text += (text.empty() ? "changes " : ", ") + std::string(body_->coordinates[static_cast<std::size_t>(i)]);
      return text;
    }
  }

 private:
  using Q = Coordinates<B, double>;
  Index size() const { return static_cast<Index>(body_->coordinates.size()); }

  // g . d(first moment)/dq
  template <class T> Vec<T, dynamic> weight(const Coordinates<B, T>& q, const Vec3<double>& g) const {
    using S = Dual<T, 1>;
    Vec<T, dynamic> w(q.size());
    Coordinates<B, S> x(q.size());
    for (Index i = 0; i < q.size(); ++i) x[i] = S(q[i]);
    for (Index i = 0; i < q.size(); ++i) {
      x[i] = S::variable(q[i], 0);
      const auto moment = body_->first_moment(x);
      w[i] = T(0.0);
      for (Index k = 0; k < moment.size(); ++k) w[i] += g[k] * moment[k].d[0];
      x[i] = S(q[i]);
    }
    return w;
  }

  std::shared_ptr<const B> body_;
};

}  // namespace mortise
