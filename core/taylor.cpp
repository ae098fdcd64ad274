#include <mortise/core/taylor.h>

namespace mortise {
namespace {

// c x, where c = 0 stands for a term that is not there: x may be infinite then.
double term(double c, double x) { return c == 0 ? 0 : c * x; }

Taylor times(const Taylor& a, double c) {
  Taylor r;
  r.v = c * a.v, r.d1 = c * a.d1, r.d2 = c * a.d2;
  r.slope = c * a.slope, r.slope1 = c * a.slope1, r.slope2 = c * a.slope2;
  return r;
}

}  // namespace

Taylor Taylor::chain(const Taylor& a, double f, double f1, double f2, double f3) {
  Taylor r;
  r.v = f;
  r.d1 = f1 * a.d1;
  r.d2 = f2 * a.d1 * a.d1 + f1 * a.d2;
  // f'(a(s)) times the slope
  const double g1 = f2 * a.d1, g2 = f3 * a.d1 * a.d1 + f2 * a.d2;
  r.slope = f1 * a.slope;
  r.slope1 = f1 * a.slope1 + g1 * a.slope;
  r.slope2 = f1 * a.slope2 + 2 * g1 * a.slope1 + g2 * a.slope;
  return r;
}

Taylor operator+(const Taylor& a, const Taylor& b) {
  Taylor r;
  r.v = a.v + b.v, r.d1 = a.d1 + b.d1, r.d2 = a.d2 + b.d2;
  r.slope = a.slope + b.slope, r.slope1 = a.slope1 + b.slope1, r.slope2 = a.slope2 + b.slope2;
  return r;
}
Taylor operator-(const Taylor& a, const Taylor& b) {
  Taylor r;
  r.v = a.v - b.v, r.d1 = a.d1 - b.d1, r.d2 = a.d2 - b.d2;
  r.slope = a.slope - b.slope, r.slope1 = a.slope1 - b.slope1, r.slope2 = a.slope2 - b.slope2;
  return r;
}
Taylor operator-(const Taylor& a) { return times(a, -1); }

Taylor operator*(const Taylor& a, const Taylor& b) {
  Taylor r;
  r.v = a.v * b.v;
  r.d1 = a.d1 * b.v + a.v * b.d1;
  r.d2 = a.d2 * b.v + 2 * a.d1 * b.d1 + a.v * b.d2;
  r.slope = a.slope * b.v + a.v * b.slope;
  r.slope1 = a.slope1 * b.v + a.slope * b.d1 + a.d1 * b.slope + a.v * b.slope1;
  r.slope2 =
      a.slope2 * b.v + 2 * a.slope1 * b.d1 + a.slope * b.d2 + a.d2 * b.slope + 2 * a.d1 * b.slope1 + a.v * b.slope2;
  return r;
}
// From r b = a, order by order.
Taylor operator/(const Taylor& a, const Taylor& b) {
  Taylor r;
  r.v = a.v / b.v;
  r.d1 = (a.d1 - r.v * b.d1) / b.v;
  r.d2 = (a.d2 - 2 * r.d1 * b.d1 - r.v * b.d2) / b.v;
  r.slope = (a.slope - r.v * b.slope) / b.v;
  r.slope1 = (a.slope1 - r.slope * b.d1 - r.d1 * b.slope - r.v * b.slope1) / b.v;
  r.slope2 =
      (a.slope2 - 2 * r.slope1 * b.d1 - r.slope * b.d2 - r.d2 * b.slope - 2 * r.d1 * b.slope1 - r.v * b.slope2) / b.v;
  return r;
}

Taylor sin(const Taylor& a) {
  const double s = std::sin(a.v), c = std::cos(a.v);
  return Taylor::chain(a, s, c, -s, -c);
}
Taylor cos(const Taylor& a) {
  const double s = std::sin(a.v), c = std::cos(a.v);
  return Taylor::chain(a, c, -s, -c, s);
}
Taylor tan(const Taylor& a) {
  const double t = std::tan(a.v), f1 = 1 + t * t;
  return Taylor::chain(a, t, f1, 2 * t * f1, (2 + 6 * t * t) * f1);
}
Taylor asin(const Taylor& a) {
  const double w = 1 / (1 - a.v * a.v), f1 = std::sqrt(w);
  return Taylor::chain(a, std::asin(a.v), f1, a.v * w * f1, (1 + 2 * a.v * a.v) * w * w * f1);
}
Taylor acos(const Taylor& a) {
  const double w = 1 / (1 - a.v * a.v), f1 = -std::sqrt(w);
  return Taylor::chain(a, std::acos(a.v), f1, a.v * w * f1, (1 + 2 * a.v * a.v) * w * w * f1);
}
Taylor atan(const Taylor& a) {
  const double f1 = 1 / (1 + a.v * a.v);
  return Taylor::chain(a, std::atan(a.v), f1, -2 * a.v * f1 * f1, (6 * a.v * a.v - 2) * f1 * f1 * f1);
}
// The angle from the direction (x.v, y.v), whose tangent is 0 at the point of evaluation.
Taylor atan2(const Taylor& y, const Taylor& x) {
  const double l = std::hypot(x.v, y.v), c = x.v / l, s = y.v / l;
  Taylor r = atan((times(y, c) - times(x, s)) / (times(x, c) + times(y, s)));
  r.v = std::atan2(y.v, x.v);
  return r;
}
Taylor sqrt(const Taylor& a) {
  const double f = std::sqrt(a.v), f1 = 0.5 / f, f2 = -0.5 * f1 / a.v;
  return Taylor::chain(a, f, f1, f2, -1.5 * f2 / a.v);
}
Taylor exp(const Taylor& a) {
  const double e = std::exp(a.v);
  return Taylor::chain(a, e, e, e, e);
}
Taylor log(const Taylor& a) {
  const double f1 = 1 / a.v;
  return Taylor::chain(a, std::log(a.v), f1, -f1 * f1, 2 * f1 * f1 * f1);
}
Taylor sinh(const Taylor& a) {
  const double s = std::sinh(a.v), c = std::cosh(a.v);
  return Taylor::chain(a, s, c, s, c);
}
Taylor cosh(const Taylor& a) {
  const double s = std::sinh(a.v), c = std::cosh(a.v);
  return Taylor::chain(a, c, s, c, s);
}
Taylor tanh(const Taylor& a) {
  const double t = std::tanh(a.v), f1 = 1 - t * t;
  return Taylor::chain(a, t, f1, -2 * t * f1, (6 * t * t - 2) * f1);
}
Taylor pow(const Taylor& a, double p) {
  return Taylor::chain(a, std::pow(a.v, p), term(p, std::pow(a.v, p - 1)), term(p * (p - 1), std::pow(a.v, p - 2)),
                       term(p * (p - 1) * (p - 2), std::pow(a.v, p - 3)));
}
Taylor pow(const Taylor& a, const Taylor& p) { return exp(p * log(a)); }

}  // namespace mortise
