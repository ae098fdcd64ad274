#pragma once
// The bodies a joint or a force acts on, stacked, and the views it gets of them.

#include <array>
#include <memory>
#include <tuple>
#include <utility>

#include <mortise/assembly/models.h>
#include <mortise/assembly/unknowns.h>

namespace mortise {

template <Body... B> class Attached {
 public:
  static constexpr std::size_t count = sizeof...(B);

  explicit Attached(std::shared_ptr<const Modelled<B>>... body) : bodies_(std::move(body)...) {
    std::size_t i = 0;
    const auto place = [&](const auto& b) {
      offset_[i] = total_;
      size_[i] = static_cast<Index>(b->body.coordinates.size());
      total_ += size_[i++];
    };
    std::apply([&](const auto&... b) { (place(b), ...); }, bodies_);
  }

  const auto& models() const { return bodies_; }
  Index total() const { return total_; }
  Index size(std::size_t i) const { return size_[i]; }
  Index offset(std::size_t i) const { return offset_[i]; }

  // The coordinates of all bodies, one after the other.
  static constexpr int coordinate_count =
      ((size_of<B> == dynamic) || ...) ? dynamic : ((size_of<B> == dynamic ? 0 : size_of<B>)+... + 0);
  template <class T> using Stacked = Vec<T, coordinate_count>;
  Stacked<double> stacked(const VectorXd& x, Firsts first) const {
    Stacked<double> y(total_);
    for (std::size_t i = 0; i < count; ++i) y.segment(offset_[i], size_[i]) = x.segment(first[i], size_[i]);
    return y;
  }
  TaylorVector stacked(const TaylorVector& x, Firsts first) const {
    TaylorVector y(total_);
    for (std::size_t i = 0; i < count; ++i)
      for (Index k = 0; k < size_[i]; ++k) y[offset_[i] + k] = x[first[i] + k];
    return y;
  }
  void add(const TaylorVector& stacked, Firsts first, TaylorVector& x) const {
    for (std::size_t i = 0; i < count; ++i)
      for (Index k = 0; k < size_[i]; ++k) x[first[i] + k] += stacked[offset_[i] + k];
  }
  void add(const VectorXd& stacked, Firsts first, VectorRef x) const {
    for (std::size_t i = 0; i < count; ++i) x.segment(first[i], size_[i]) += stacked.segment(offset_[i], size_[i]);
  }

  template <class T> auto placed(const auto& q) const {
    return make([&]<class P>(const P& b, std::size_t i) { return Placed<P, T>{b, part<P, T>(q, i)}; });
  }
  template <class T> auto moving(const auto& q, const auto& v) const {
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

  // The same views in the unknowns of the bodies (core/marked.h).
  // static_unknowns: all sizes are known and few enough to be seeded in one pass.
  static constexpr int unknown_count = ((UnknownsOf<B>::count == dynamic ? 1000 : UnknownsOf<B>::count) + ... + 0);
  static constexpr bool static_unknowns = unknown_count <= 24;

  static constexpr int first_unknown(std::size_t body) {
    constexpr std::array<int, sizeof...(B)> sizes{UnknownsOf<B>::count...};
    int first = 0;
    for (std::size_t i = 0; i < body; ++i) first += sizes[i];
    return first;
  }
  template <std::size_t i, class T>
  using MarkedAt = Marked<std::tuple_element_t<i, std::tuple<B...>>,
                          UnknownsOf<std::tuple_element_t<i, std::tuple<B...>>>, T, first_unknown(i)>;
  template <class T> auto marked(const State& s, const Places& at) const {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return std::tuple{Marked<B, UnknownsOf<B>, T, first_unknown(i)>{
          std::get<i>(bodies_)->body,
          {std::get<i>(bodies_)->unknowns, motion<B>(at, i), s.q.data() + at.first[i], s.v.data() + at.first[i]}}...};
    }
    (std::index_sequence_for<B...>{});
  }
  // f acts on the bodies; what it applied is added to one vector per body.
  template <class F> void acted(const State& s, const Places& at, double* const* out, const F& f) const {
    auto views = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return std::tuple{MarkedActed<B, UnknownsOf<B>>{
          {{std::get<i>(bodies_)->body, s.q.segment(at.first[i], size_[i])}, s.v.segment(at.first[i], size_[i])},
          std::get<i>(bodies_)->unknowns,
          motion<B>(at, i),
          Coordinates<B, double>::Zero(size_[i]),
          Vec<double, UnknownsOf<B>::count>::Zero(std::get<i>(bodies_)->count())}...};
    }
    (std::index_sequence_for<B...>{});
    std::apply(f, views);
    std::size_t i = 0;
    const auto add = [&](const auto& view) {
      const auto y = view.total();
      for (Index k = 0; k < y.size(); ++k) out[i][k] += y[k];
      ++i;
    };
    std::apply([&](const auto&... view) { (add(view), ...); }, views);
  }
  // Adds T'Q of forces on the stacked coordinates.
  void push(const Places& at, const VectorXd& Q, double* const* out) const {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto one = [&]<class P>(const Modelled<P>& b, std::size_t j) {
        using Y = Vec<double, UnknownsOf<P>::count>;
        for (Index k = 0; k < b.count(); ++k)
          out[j][k] += b.unknowns.spread(motion<P>(at, j), Y::Unit(b.count(), k)).dot(Q.segment(offset_[j], size_[j]));
      };
      (one(*std::get<i>(bodies_), i), ...);
    }
    (std::index_sequence_for<B...>{});
  }
  // dq/dy of all bodies side by side, for those that are seeded at their coordinates; and z.
  Index unknowns() const {
    return std::apply([](const auto&... b) { return (b->count() + ... + 0); }, bodies_);
  }
  void spread(const Places& at, auto& T, auto& z) const {
    T.setZero(total_, unknowns());
    z.resize(total_);
    Index column = 0;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto one = [&]<class P>(const Modelled<P>& b, std::size_t j) {
        const auto& m = motion<P>(at, j);
        using Y = Vec<double, UnknownsOf<P>::count>;
        for (Index k = 0; k < b.count(); ++k, ++column) {  // by entries: gcc 12 warns of blocks of one number
          const Coordinates<P, double> dq = b.unknowns.spread(m, Y::Unit(b.count(), k));
          for (Index row = 0; row < dq.size(); ++row) T(offset_[j] + row, column) = dq[row];
        }
        z.segment(offset_[j], size_[j]) = b.unknowns.drift(m);
      };
      (one(*std::get<i>(bodies_), i), ...);
    }
    (std::index_sequence_for<B...>{});
  }

 private:
  template <class P, class T> Coordinates<P, T> part(const auto& x, std::size_t i) const {
    return x.segment(offset_[i], size_[i]);
  }
  template <class F> auto make(const F& f) const {
    return [&]<std::size_t... i>(std::index_sequence<i...>) { return std::tuple{f(std::get<i>(bodies_)->body, i)...}; }
    (std::index_sequence_for<B...>{});
  }
  template <class P> static const typename UnknownsOf<P>::Motion& motion(const Places& at, std::size_t i) {
    return *static_cast<const typename UnknownsOf<P>::Motion*>(at.motion[i]);
  }

  std::tuple<std::shared_ptr<const Modelled<B>>...> bodies_;
  std::array<Index, count> size_{}, offset_{};
  Index total_ = 0;
};

}  // namespace mortise
