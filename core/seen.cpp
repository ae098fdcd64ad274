#include <mortise/core/seen.h>

#include <algorithm>

namespace mortise::detail {

Taylor* Seen::find(const Access<Taylor>& a, What what, LocalVector r, std::size_t numbers, bool& known) {
  constexpr Index most = 8;  // coordinates: a place has (n + 1)^2 entries
  const Index n = a.body->size();
  if (n == 0 || n > most) return nullptr;  // the coordinates of a body without any are those of the next
  Index in_time = -1, in_direction = -1;
  for (Index k = 0; k < n; ++k) {
    const Taylor& x = a.q[k];
    if (x.d2 != 0 || x.slope1 != 0 || x.slope2 != 0) return nullptr;
    if (x.d1 != 0) {
      if (in_time >= 0 || x.d1 != 1) return nullptr;
      in_time = k;
    }
    if (x.slope != 0) {
      if (in_direction >= 0 || x.slope != 1) return nullptr;
      in_direction = k;
    }
  }
  std::array<double, 3> at{};
  std::copy(r.begin(), r.end(), at.begin());
  auto place = std::find_if(places_.begin(), places_.end(), [&](const Place& p) {
    return p.q == a.q && p.what == what && p.numbers == numbers && p.r == at;
  });
  if (place == places_.end()) {
    const auto entries = static_cast<std::size_t>((n + 1) * (n + 1));
    places_.push_back({a.q, what, at, numbers, std::vector<Taylor>(entries * numbers), std::vector<char>(entries)});
    place = places_.end() - 1;
  }
  const auto entry = static_cast<std::size_t>((in_time + 1) * (n + 1) + in_direction + 1);
  known = place->known[entry];
  place->known[entry] = true;
  return place->values.data() + entry * numbers;
}

void Seen::look(const Access<Taylor>& a, Ask what, LocalVector r, Taylor* out) {
  bool known = false;
  Taylor* kept = find(a, what == Ask::point ? What::point : What::direction, r, r.size(), known);
  if (!kept) return a.body->locate(what, r, a.q, out);
  if (!known) a.body->locate(what, r, a.q, kept);
  std::copy(kept, kept + r.size(), out);
}

// Q_i += f . d point / d q_i
void Seen::push(const Access<Taylor>& a, LocalVector r, const Taylor* f) {
  const auto n = static_cast<std::size_t>(a.body->size()), d = r.size();
  std::vector<Geometry::Entry> entries;
  bool known = false;
  Taylor* J = a.body->linear(r, entries) ? nullptr : find(a, What::jacobian, r, n * d, known);
  if (!J) return a.body->push(r, a.q, f, a.Q);
  if (!known) {
    std::array<TaylorDual, 8> x;
    TaylorDual p[3];
    for (std::size_t i = 0; i < n; ++i) x[i] = TaylorDual(a.q[i]);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = TaylorDual(a.q[i], {Taylor(1)});
      a.body->locate(Ask::point, r, x.data(), p);
      for (std::size_t k = 0; k < d; ++k) J[i * d + k] = p[k].d[0];
      x[i] = TaylorDual(a.q[i]);
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < d; ++k) a.Q[i] += J[i * d + k] * f[k];
}

}  // namespace mortise::detail
