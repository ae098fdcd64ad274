#include <mortise/core/view.h>

#include <algorithm>
#include <cstring>

#include <mortise/core/buffer.h>
#include <mortise/core/row_inputs.h>
#include <mortise/core/seen.h>

namespace mortise::detail {
namespace {

constexpr std::size_t few = 16;  // coordinates that need no memory from the heap

// ---- rows

// A jet of given rates, whose derivatives along inputs are set one by one.
struct Lanes {
  double x[4 * RowJet::width] = {};

  Lanes(double rate, double acceleration) {
    x[row_inputs] = rate;
    x[row_inputs + 1] = acceleration;
  }
  void set(int input, double slope) {
    if (input >= 0 && input < row_inputs) x[input] = slope;
  }
  void write(double value, RowJet& out) const {
    static_assert(sizeof(out.d) == sizeof(x));
    std::memcpy(out.d, x, sizeof(x));
    out.v = value;
  }
};

// One component of a frame's mark; its derivatives stand in a column each.
void write_marked(const Access<RowJet>& a, int frame, int d, int c, double value, double rate, double acceleration,
                  const double* jacobian, RowJet& out) {
  Lanes lanes(rate, acceleration);
  const int first = a.first - a.inputs->window();
  if (jacobian) {
    if (first >= 0 && first + frame <= row_inputs)
      for (int j = 0; j < frame; ++j) lanes.x[first + j] = jacobian[j * d + c];
    else
      for (int j = 0; j < frame; ++j) lanes.set(first + j, jacobian[j * d + c]);
  }
  lanes.write(value, out);
}

// New inputs for the components of what was asked of a body without a frame.
void write_asked(const Access<RowJet>& a, int input, double value, double rate, double acceleration, RowJet& out) {
  Lanes lanes(rate, acceleration);
  lanes.set(input - a.inputs->window(), 1);
  lanes.write(value, out);
}

}  // namespace

void look(const Access<RowJet>& a, Ask what, LocalVector r, RowJet* out) {
  const int frame = a.body->frame(), d = static_cast<int>(r.size());
  const bool rates_only = a.inputs->of_velocities();
  Mark m;
  if (frame >= 0) {
    a.body->mark(a.motion, what, r, m);
    for (int c = 0; c < d; ++c)
      write_marked(a, frame, d, c, m.value[c], m.velocity[c], rates_only ? 0 : m.acceleration[c],
                   rates_only ? nullptr : m.jacobian, out[c]);
  } else if (rates_only) {
    a.body->locate(what, r, a.q, m.value);
    a.body->velocity(what, r, a.q, a.v, m.velocity);
    for (int c = 0; c < d; ++c) Lanes(m.velocity[c], 0).write(m.value[c], out[c]);
  } else {
    const int first = a.inputs->total();
    a.body->differentiate(what, r, a.q, a.v, m, a.inputs->ask(a.index, d, a.body->size()));
    for (int c = 0; c < d; ++c) write_asked(a, first + c, m.value[c], m.velocity[c], m.acceleration[c], out[c]);
  }
}

RowJet coordinate(const Access<RowJet>& a, Index i) {
  RowJet out;
  const int frame = a.body->frame();
  if (a.inputs->of_velocities()) {
    Lanes(a.v[i], 0).write(a.q[i], out);
  } else if (frame >= 0) {
    double row[Mark::most_unknowns], drift = 0;
    a.body->coordinate_row(a.motion, i, row, drift);
    write_marked(a, frame, 1, 0, a.q[i], a.v[i], drift, row, out);
  } else {
    write_asked(a, a.inputs->total(), a.q[i], a.v[i], 0, out);
    a.inputs->ask_coordinate(a.index, i);
  }
  return out;
}

void look_velocity(const Access<RowJet>& a, LocalVector r, RowJet* out) {
  const int frame = a.body->frame(), d = static_cast<int>(r.size());
  Mark m;
  if (frame >= 0) {
    a.body->mark(a.motion, Ask::point, r, m);
    for (int c = 0; c < d; ++c) write_marked(a, frame, d, c, m.velocity[c], m.acceleration[c], 0, m.jacobian, out[c]);
  } else {
    const int first = a.inputs->total();
    a.body->differentiate(Ask::point, r, a.q, a.v, m, a.inputs->ask(a.index, d, a.body->size()));
    for (int c = 0; c < d; ++c) write_asked(a, first + c, m.velocity[c], m.acceleration[c], 0, out[c]);
  }
}

void look_spin(const Access<RowJet>& a, int dimension, RowJet* out) {
  const int frame = a.body->frame(), d = dimension == 2 ? 1 : 3;
  double w[3], rate[3] = {}, jacobian[3 * Mark::most_unknowns];
  if (frame >= 0) {
    a.body->spin(a.motion, dimension, w, jacobian);
    for (int c = 0; c < d; ++c) write_marked(a, frame, d, c, w[c], 0, 0, jacobian, out[c]);
  } else {
    const int first = a.inputs->total();
    a.body->differentiate_spin(dimension, a.q, a.v, w, rate, a.inputs->ask(a.index, d, a.body->size()));
    for (int c = 0; c < d; ++c) write_asked(a, first + c, w[c], rate[c], 0, out[c]);
  }
}

RowJet speed(const Access<RowJet>& a, Index i) {
  RowJet out;
  if (const int frame = a.body->frame(); frame >= 0) {
    double row[Mark::most_unknowns], drift = 0;
    a.body->coordinate_row(a.motion, i, row, drift);
    write_marked(a, frame, 1, 0, a.v[i], drift, 0, row, out);
  } else {
    write_asked(a, a.inputs->total(), a.v[i], 0, 0, out);
    a.inputs->ask_coordinate(a.index, i);
  }
  return out;
}

// ---- numbers

void look(const Access<double>& a, Ask what, LocalVector r, double* out) {
  if (!a.motion) return a.body->locate(what, r, a.q, out);
  Mark m;
  a.body->mark(a.motion, what, r, m);
  std::copy(m.value, m.value + r.size(), out);
}
void look_velocity(const Access<double>& a, LocalVector r, double* out) {
  if (!a.motion) return a.body->velocity(Ask::point, r, a.q, a.v, out);
  Mark m;
  a.body->mark(a.motion, Ask::point, r, m);
  std::copy(m.velocity, m.velocity + r.size(), out);
}
void look_spin(const Access<double>& a, int dimension, double* out) {
  if (!a.motion) return a.body->angular_velocity(dimension, a.q, a.v, out);
  double jacobian[3 * Mark::most_unknowns];
  a.body->spin(a.motion, dimension, out, jacobian);
}
void push(const Access<double>& a, LocalVector r, const double* f) {
  if (!a.motion) return a.body->push(r, a.q, f, a.Q);
  Mark m;
  a.body->mark(a.motion, Ask::point, r, m);
  const int d = static_cast<int>(r.size());
  for (int j = 0; j < a.body->frame(); ++j)
    for (int c = 0; c < d; ++c) a.y[j] += m.jacobian[j * d + c] * f[c];
}
void twist(const Access<double>& a, int dimension, const double* torque) {
  if (!a.motion) return a.body->twist(dimension, a.q, torque, a.Q);
  double w[3], jacobian[3 * Mark::most_unknowns];
  a.body->spin(a.motion, dimension, w, jacobian);
  const int d = dimension == 2 ? 1 : 3;
  for (int j = 0; j < a.body->frame(); ++j)
    for (int c = 0; c < d; ++c) a.y[j] += jacobian[j * d + c] * torque[c];
}
double coordinate(const Access<double>& a, Index i) { return a.q[i]; }
double speed(const Access<double>& a, Index i) { return a.v[i]; }

// ---- numbers that vary with the coordinates

void look(const Access<Taylor>& a, Ask what, LocalVector r, Taylor* out) {
  if (a.seen)
    a.seen->look(a, what, r, out);
  else
    a.body->locate(what, r, a.q, out);
}
void look(const Access<TaylorDual>& a, Ask what, LocalVector r, TaylorDual* out) { a.body->locate(what, r, a.q, out); }
Taylor coordinate(const Access<Taylor>& a, Index i) { return a.q[i]; }
TaylorDual coordinate(const Access<TaylorDual>& a, Index i) { return a.q[i]; }
Taylor speed(const Access<Taylor>& a, Index i) { return a.v[i]; }
TaylorDual speed(const Access<TaylorDual>& a, Index i) { return a.v[i]; }
void look_velocity(const Access<Taylor>& a, LocalVector r, Taylor* out) {
  a.body->velocity(Ask::point, r, a.q, a.v, out);
}
void look_spin(const Access<Taylor>& a, int dimension, Taylor* out) {
  a.body->angular_velocity(dimension, a.q, a.v, out);
}
void push(const Access<Taylor>& a, LocalVector r, const Taylor* f) {
  if (a.seen)
    a.seen->push(a, r, f);
  else
    a.body->push(r, a.q, f, a.Q);
}
void twist(const Access<Taylor>& a, int dimension, const Taylor* torque) { a.body->twist(dimension, a.q, torque, a.Q); }

namespace {

// Velocities are linear in v: what varies with v is the same function of the variation.
template <class F> void by_velocity(const Access<TaylorDual>& a, int d, const F& f, TaylorDual* out) {
  const Index n = a.body->size();
  Buffer<Taylor, few> q(n), v(n), dv(n);
  for (Index i = 0; i < n; ++i) q[i] = a.q[i].v, v[i] = a.v[i].v, dv[i] = a.v[i].d[0];
  Taylor value[3], slope[3];
  f(q.data(), v.data(), value);
  f(q.data(), dv.data(), slope);
  for (int k = 0; k < d; ++k) out[k] = TaylorDual(value[k], {slope[k]});
}

}  // namespace

void look_velocity(const Access<TaylorDual>& a, LocalVector r, TaylorDual* out) {
  by_velocity(
      a, static_cast<int>(r.size()),
      [&](const Taylor* q, const Taylor* v, Taylor* u) { a.body->velocity(Ask::point, r, q, v, u); }, out);
}
void look_spin(const Access<TaylorDual>& a, int dimension, TaylorDual* out) {
  by_velocity(
      a, dimension == 2 ? 1 : 3,
      [&](const Taylor* q, const Taylor* v, Taylor* w) { a.body->angular_velocity(dimension, q, v, w); }, out);
}

}  // namespace mortise::detail
