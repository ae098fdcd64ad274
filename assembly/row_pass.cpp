#include <mortise/assembly/row_pass.h>

#include <algorithm>

#include <mortise/core/row_inputs.h>

namespace mortise {

using detail::Access;
using detail::RowInputs;

Motions::Motions(BodyModels bodies, const State& s, Firsts first)
    : bodies_(bodies), motion_(static_cast<Index>(bodies.size()), nullptr) {
  const auto aligned = [](std::size_t x, std::size_t to) { return (x + to - 1) / to * to; };
  std::size_t bytes = 0;
  for (const auto& b : bodies)
    if (b->frame() >= 0) bytes = aligned(bytes, b->motion_align()) + b->motion_size();
  std::byte* base = few_.data();
  if (bytes > few_.size()) {
    many_ = std::make_unique<std::byte[]>(bytes);
    base = many_.get();
  }
  bytes = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const BodyModel& b = *bodies[i];
    if (b.frame() < 0) continue;
    bytes = aligned(bytes, b.motion_align());
    void* m = b.make_motion(base + bytes);
    b.stand(s.q.data() + first[i], s.v.data() + first[i], m);
    motion_[static_cast<Index>(i)] = m;
    bytes += b.motion_size();
  }
}

Motions::~Motions() {
  for (std::size_t i = 0; i < bodies_.size(); ++i)
    if (const void* m = motion_[static_cast<Index>(i)]) bodies_[i]->destroy_motion(const_cast<void*>(m));
}

Index columns(const BodyModel& body, const void* motion) { return motion ? body.unknowns() : body.size(); }

void row_pass(BodyModels bodies, const State& s, const Places& at, bool of_velocities, int rows, RowFormula f,
              const RowTarget& out) {
  const auto count = static_cast<Index>(bodies.size());
  Buffer<Access<RowJet>, few_bodies> views(count);
  Buffer<Index, few_bodies> column(count), coordinate(count);  // where a body's part of a row starts
  Index K = 0, n = 0;                                          // columns; coordinates of bodies without a frame
  int frames = 0;
  for (Index i = 0; i < count; ++i) {
    const BodyModel& b = *bodies[static_cast<std::size_t>(i)];
    const int frame = b.frame();
    views[i] = {
        &b,    s.q.data() + at.first[i], s.v.data() + at.first[i], at.motion[i], nullptr, static_cast<std::size_t>(i),
        frames};
    column[i] = K, coordinate[i] = n;
    K += columns(b, at.motion[i]);
    if (frame >= 0)
      frames += frame;
    else
      n += b.size();
  }
  RowInputs inputs(of_velocities, frames);
  for (Index i = 0; i < count; ++i) views[i].inputs = &inputs;

  Buffer<RowJet, 6> jets(rows);
  Buffer<double, 32> by_coordinates(rows * n, 0.0);
  int window = 0;
  do {
    inputs.start(window);
    f(views.data(), jets.data());
    for (Index i = 0; i < rows; ++i) {
      const RowJet& r = jets[i];
      if (window == 0) {
        out.value[i] = r.v;
        if (out.rate) out.rate[i] = r.rate();
        if (out.acceleration) out.acceleration[i] = r.acceleration();
      }
      for (Index k = 0; k < count; ++k) {
        const int frame = views[k].body->frame(), first = views[k].first - window;
        for (int j = std::max(0, -first); j < frame && first + j < row_inputs; ++j)
          out.A[i * K + column[k] + j] = r.slope(static_cast<std::size_t>(first + j));
      }
      for (const auto& x : inputs.asked()) {
        const Index size = views[static_cast<Index>(x.body)].body->size();
        double* row = by_coordinates.data() + i * n + coordinate[static_cast<Index>(x.body)];
        for (int c = 0; c < x.count; ++c) {
          const int input = x.first + c - window;
          if (input < 0 || input >= row_inputs) continue;
          const double slope = r.slope(static_cast<std::size_t>(input));
          if (x.coordinate >= 0) {
            row[x.coordinate] += slope;
          } else {
            const double* jacobian = inputs.jacobian(x) + c * size;
            for (Index j = 0; j < size; ++j) row[j] += slope * jacobian[j];
          }
        }
      }
    }
    window += row_inputs;
  } while (window < inputs.total());

  for (Index k = 0; k < count; ++k) {
    const BodyModel& b = *bodies[static_cast<std::size_t>(k)];
    if (b.frame() >= 0) continue;
    for (Index i = 0; i < rows; ++i) {
      const double* row = by_coordinates.data() + i * n + coordinate[k];
      double* to = out.A + i * K + column[k];
      if (at.motion[k]) {
        std::fill(to, to + b.unknowns(), 0.0);
        b.project(at.motion[k], row, to);
      } else {
        std::copy(row, row + b.size(), to);
      }
    }
  }
}

void row_pass(BodyModels bodies, const State& s, Firsts first, bool of_velocities, int rows, RowFormula f,
              FunctionRef<double&(std::size_t, int, Index)> A, double* value, double* b) {
  const Motions motions(bodies, s, first);
  const Places at = motions.places(first);
  Index K = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) K += columns(*bodies[i], at.motion[i]);
  Buffer<double, 72> Y(rows * K);
  Buffer<double, 6> rate(rows), acceleration(rows);
  row_pass(bodies, s, at, of_velocities, rows, f, {Y.data(), value, rate.data(), acceleration.data()});
  for (int i = 0; i < rows; ++i) b[i] = -(of_velocities ? rate[i] : acceleration[i]);
  // y = S (q'' - z):  A = Y S,  b + A z
  Index column = 0;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const BodyModel& body = *bodies[k];
    const Index n = body.size();
    Buffer<double, 16> row(n), z(n, 0.0);
    if (body.frame() >= 0) body.drift(at.motion[k], z.data());
    for (int i = 0; i < rows; ++i) {
      const double* y = Y.data() + i * K + column;
      if (body.frame() >= 0)
        body.gather(at.motion[k], y, row.data());
      else
        std::copy(y, y + n, row.data());
      for (Index j = 0; j < n; ++j) {
        A(k, i, j) = row[j];
        b[i] += row[j] * z[j];
      }
    }
    column += columns(body, at.motion[k]);
  }
}

void force_pass(BodyModels bodies, const State& s, const Places& at, ForceFormula f, double* const* out) {
  const auto count = static_cast<Index>(bodies.size());
  Index n = 0;
  for (const auto& b : bodies) n += b->size();
  Buffer<double, 32> Q(n, 0.0);
  Buffer<Access<double>, few_bodies> views(count);
  n = 0;
  for (Index i = 0; i < count; ++i) {
    const BodyModel& b = *bodies[static_cast<std::size_t>(i)];
    views[i] = {&b,
                s.q.data() + at.first[i],
                s.v.data() + at.first[i],
                Q.data() + n,
                b.frame() >= 0 ? at.motion[i] : nullptr,
                out[i]};
    n += b.size();
  }
  f(views.data());
  n = 0;
  for (Index i = 0; i < count; ++i) {
    const BodyModel& b = *bodies[static_cast<std::size_t>(i)];
    const double* on_q = Q.data() + n;
    if (std::any_of(on_q, on_q + b.size(), [](double x) { return x != 0; })) b.project(at.motion[i], on_q, out[i]);
    n += b.size();
  }
}

void force_pass(BodyModels bodies, const State& s, Firsts first, ForceFormula f, VectorRef Q) {
  const Motions motions(bodies, s, first);
  const Places at = motions.places(first);
  const auto count = static_cast<Index>(bodies.size());
  Buffer<double, 24> y(Mark::most_unknowns * count, 0.0);
  Buffer<Access<double>, few_bodies> views(count);
  for (Index i = 0; i < count; ++i)
    views[i] = {bodies[static_cast<std::size_t>(i)].get(),
                s.q.data() + at.first[i],
                s.v.data() + at.first[i],
                Q.data() + at.first[i],
                at.motion[i],
                y.data() + Mark::most_unknowns * i};
  f(views.data());
  for (Index i = 0; i < count; ++i) {
    const BodyModel& b = *bodies[static_cast<std::size_t>(i)];
    if (b.frame() < 0) continue;
    Buffer<double, 16> row(b.size());
    b.gather(at.motion[i], y.data() + Mark::most_unknowns * i, row.data());
    for (Index k = 0; k < b.size(); ++k) Q[at.first[i] + k] += row[k];
  }
}

namespace {

Index total_size(BodyModels bodies) {
  Index n = 0;
  for (const auto& b : bodies) n += b->size();
  return n;
}

}  // namespace

TaylorBodies::TaylorBodies(BodyModels bodies, const State& s, Firsts first)
    : q_(total_size(bodies)), v_(q_.size()), Q_(q_.size(), Taylor(0)), access_(static_cast<Index>(bodies.size())) {
  Index n = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    access_[static_cast<Index>(i)] = {bodies[i].get(), q_.data() + n, v_.data() + n, Q_.data() + n};
    for (Index k = 0; k < bodies[i]->size(); ++k, ++n) q_[n] = s.q[first[i] + k], v_[n] = s.v[first[i] + k];
  }
}

TaylorBodies::TaylorBodies(BodyModels bodies, const State& s, Firsts first, const VectorXd& a)
    : TaylorBodies(bodies, s, first) {
  Index n = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (Index k = 0; k < bodies[i]->size(); ++k, ++n) {
      q_[n].d1 = v_[n].v;
      q_[n].d2 = v_[n].d1 = a[first[i] + k];
    }
}

void for_each_pair(Index n, FunctionRef<Taylor&(Index)> x, FunctionRef<void()> evaluate,
                   FunctionRef<void(Index, double Taylor::*)> take) {
  for (Index i = 0; i < n; i += 2) {
    const bool two = i + 1 < n;
    x(i).d1 = 1;
    if (two) x(i + 1).slope = 1;
    evaluate();
    take(i, &Taylor::d1);
    if (two) take(i + 1, &Taylor::slope);
    x(i).d1 = 0;
    if (two) x(i + 1).slope = 0;
  }
}

Buffer<Access<Taylor>, few_bodies> taylor_views(BodyModels bodies, const TaylorState& s, Firsts first,
                                                TaylorVector* Q) {
  Buffer<Access<Taylor>, few_bodies> a(static_cast<Index>(bodies.size()));
  for (std::size_t i = 0; i < bodies.size(); ++i)
    a[static_cast<Index>(i)] = {bodies[i].get(), s.q.data() + first[i], s.v.data() + first[i],
                                Q ? Q->data() + first[i] : nullptr};
  return a;
}

Slopes force_slopes(BodyModels bodies, const State& s, Firsts first,
                    FunctionRef<void(Access<Taylor>*, const Taylor&)> f) {
  TaylorBodies x(bodies, s, first);
  x.remember();
  const Index n = x.size();
  const Taylor t(s.t);
  Slopes out{MatrixXd(n, n), MatrixXd(n, n)};
  const auto evaluate = [&] {
    x.clear_forces();
    f(x.access(), t);
  };
  const auto columns_of = [&](MatrixXd& J) {
    return [&](Index k, double Taylor::*d) {
      for (Index i = 0; i < n; ++i) J(i, k) = x.Q(i).*d;
    };
  };
  for_each_pair(
      n, [&](Index i) -> Taylor& { return x.q(i); }, evaluate, columns_of(out.dq));
  for_each_pair(
      n, [&](Index i) -> Taylor& { return x.v(i); }, evaluate, columns_of(out.dv));
  return out;
}

}  // namespace mortise
