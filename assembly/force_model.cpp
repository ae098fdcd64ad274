#include <mortise/assembly/force_of.h>

namespace mortise {

using detail::Access;

void ForcePart::act(const State& s, Firsts first, VectorRef Q) const {
  if (facts_.act)
    force_pass(
        bodies(), s, first, [&](Access<double>* a) { act_on(a, s.t); }, Q);
  if (!facts_.potential) return;
  // Q = -dV/dq
  double V, unused;
  Index n = 0;
  for (const auto& b : bodies()) n += b->size();
  Buffer<double, 32> dV(n);
  Buffer<Index, few_bodies> offset(static_cast<Index>(bodies().size()));
  n = 0;
  for (std::size_t i = 0; i < bodies().size(); ++i) offset[static_cast<Index>(i)] = n, n += bodies()[i]->size();
  row_pass(
      bodies(), s, first, false, 1, [&](const Access<RowJet>* a, RowJet* out) { out[0] = energy(a, RowJet(s.t)); },
      [&](std::size_t body, int, Index j) -> double& { return dV[offset[static_cast<Index>(body)] + j]; }, &V, &unused);
  for (std::size_t i = 0; i < bodies().size(); ++i)
    for (Index j = 0; j < bodies()[i]->size(); ++j) Q[first[i] + j] -= dV[offset[static_cast<Index>(i)] + j];
}

StoredEnergy ForcePart::act(const State& s, const Places& at, double* const* f) const {
  StoredEnergy V;
  if (facts_.act)
    force_pass(
        bodies(), s, at, [&](Access<double>* a) { act_on(a, s.t); }, f);
  if (!facts_.potential) return V;
  // T'Q = -dV/dy
  Index K = 0;
  for (const auto& b : bodies()) K += b->unknowns();
  Buffer<double, 24> dV(K);
  const RowJet t = RowJet::time(s.t);
  row_pass(bodies(), s, at, false, 1, [&](const Access<RowJet>* a, RowJet* out) { out[0] = energy(a, t); },
           {dV.data(), &V.value, &V.rate, nullptr});
  K = 0;
  for (std::size_t i = 0; i < bodies().size(); ++i)
    for (Index k = 0; k < bodies()[i]->unknowns(); ++k) f[i][k] -= dV[K++];
  return V;
}

bool ForcePart::act(const TaylorState& s, Firsts first, TaylorVector& Q) const {
  if (!differentiable()) return false;
  if (facts_.act) {
    auto a = taylor_views(bodies(), s, first, &Q);
    act_on(a.data(), s.t);
  }
  if (facts_.potential) {
    Index n = 0;
    for (const auto& b : bodies()) n += b->size();
    Buffer<TaylorDual, 16> x(n);
    Buffer<Index, 16> where(n);
    Buffer<Access<TaylorDual>, few_bodies> a(static_cast<Index>(bodies().size()));
    n = 0;
    for (std::size_t i = 0; i < bodies().size(); ++i) {
      a[static_cast<Index>(i)] = {bodies()[i].get(), x.data() + n, nullptr, nullptr};
      for (Index k = 0; k < bodies()[i]->size(); ++k, ++n) {
        where[n] = first[i] + k;
        x[n] = TaylorDual(s.q[where[n]]);
      }
    }
    for (Index i = 0; i < n; ++i) {
      x[i] = TaylorDual(s.q[where[i]], {Taylor(1)});
      Q[where[i]] -= energy(a.data(), TaylorDual(s.t)).d[0];
      x[i] = TaylorDual(s.q[where[i]]);
    }
  }
  return true;
}

std::optional<Slopes> ForcePart::slopes(const State& s, Firsts first) const {
  if (!differentiable()) return std::nullopt;
  Slopes out;
  TaylorBodies x(bodies(), s, first);
  x.remember();
  const Index n = x.size();
  if (facts_.act)
    out = force_slopes(bodies(), s, first, [&](Access<Taylor>* a, const Taylor& t) { act_on(a, t); });
  else
    out = {MatrixXd::Zero(n, n), MatrixXd::Zero(n, n)};
  if (facts_.potential)  // the Hessian of V
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        x.q(i).d1 = x.q(j).slope = 1;
        const double second = energy(x.access(), Taylor(s.t)).slope1;
        out.dq(i, j) -= second;
        if (j != i) out.dq(j, i) -= second;
        x.q(i).d1 = x.q(j).slope = 0;
      }
  return out;
}

std::optional<double> ForcePart::potential(const State& s, Firsts first) const {
  if (!facts_.potential) return std::nullopt;
  TaylorBodies x(bodies(), s, first);
  return energy(x.access(), Taylor(s.t)).v;
}

double ForcePart::potential_rate(const State& s, Firsts first) const {
  if (!facts_.potential) return 0;
  TaylorBodies x(bodies(), s, first);
  for (Index i = 0; i < x.size(); ++i) x.q(i).d1 = x.v(i).v;
  return energy(x.access(), Taylor(s.t, 1, 0)).d1;
}

}  // namespace mortise
