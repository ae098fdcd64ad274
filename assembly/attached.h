#pragma once
// The bodies a joint or a force acts on, stacked, and the views it gets of them.

#include <array>
#include <memory>
#include <tuple>
#include <utility>

#include <mortise/assembly/models.h>
#include <mortise/core/parts.h>

namespace mortise {

template <Body... B> class Attached {
 public:
  static constexpr std::size_t count = sizeof...(B);

  explicit Attached(std::shared_ptr<const B>... body) : bodies_(std::move(body)...) {
    std::size_t i = 0;
    const auto place = [&](const auto& b) {
      offset_[i] = total_;
      size_[i] = static_cast<Index>(b->coordinates.size());
      total_ += size_[i++];
    };
    std::apply([&](const auto&... b) { (place(b), ...); }, bodies_);
  }

  Index total() const { return total_; }
  Index size(std::size_t i) const { return size_[i]; }
  Index offset(std::size_t i) const { return offset_[i]; }

  // The coordinates of all bodies, one after the other.
  VectorXd stacked(const VectorXd& x, Firsts first) const {
    VectorXd y(total_);
    for (std::size_t i = 0; i < count; ++i) y.segment(offset_[i], size_[i]) = x.segment(first[i], size_[i]);
    return y;
  }
  void add(const VectorXd& stacked, Firsts first, VectorRef x) const {
    for (std::size_t i = 0; i < count; ++i) x.segment(first[i], size_[i]) += stacked.segment(offset_[i], size_[i]);
  }

  template <class T> auto placed(const Vec<T, dynamic>& q) const {
    return make([&]<class P>(const P& b, std::size_t i) { return Placed<P, T>{b, part<P, T>(q, i)}; });
  }
  template <class T> auto moving(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v) const {
    return make([&]<class P>(const P& b, std::size_t i) {
      return Moving<P, T>{{b, part<P, T>(q, i)}, part<P, T>(v, i)};
    });
  }
  // f acts on the bodies; what it applied, stacked.
  template <class T, class F>
  Vec<T, dynamic> acted(const Vec<T, dynamic>& q, const Vec<T, dynamic>& v, const F& f) const {
    auto views = make([&]<class P>(const P& b, std::size_t i) {
      Acted<P, T> view{{{b, part<P, T>(q, i)}, part<P, T>(v, i)}, part<P, T>(q, i)};
      view.Q.setZero();
      return view;
    });
    std::apply(f, views);
    Vec<T, dynamic> Q(total_);
    std::size_t i = 0;
    const auto gather = [&](const auto& view) { Q.segment(offset_[i], size_[i]) = view.Q, ++i; };
    std::apply([&](const auto&... view) { (gather(view), ...); }, views);
    return Q;
  }

 private:
  template <class P, class T> Coordinates<P, T> part(const Vec<T, dynamic>& x, std::size_t i) const {
    return x.segment(offset_[i], size_[i]);
  }
  template <class F> auto make(const F& f) const {
    return [&]<std::size_t... i>(std::index_sequence<i...>) { return std::tuple{f(*std::get<i>(bodies_), i)...}; }
    (std::index_sequence_for<B...>{});
  }

  std::tuple<std::shared_ptr<const B>...> bodies_;
  std::array<Index, count> size_{}, offset_{};
  Index total_ = 0;
};

}  // namespace mortise
