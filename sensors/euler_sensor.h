#pragma once
// Euler sensor: how body B is turned against body A in space, by three turns about the axes of B, one after the other.
//
//   R_A' R_B = R_i(first) R_j(second) R_k(third)        sequence "ijk"
//
//   "zyx"   yaw, pitch and roll;  "zxz"   Euler's own: precession, nutation and spin
//
// Six sequences have three different axes, and are singular where the second angle is +-90 deg; six begin and end with
// the same one, and are singular where it is 0 or 180 deg.  There the first and the third axis are one, and only their
// sum or difference is known.  Readings count the turns of all three.

#include <array>
#include <cmath>
#include <string>

#include <mortise/sensors/orientation_sensor.h>

namespace mortise {

struct EulerSensor {
  std::string sequence = "zyx";

  static constexpr int dimension = 3;
  static constexpr Summary summary{"euler_sensor", "orientation of B against A by three angles",
                                   "R_A' R_B = R_i(first) R_j(second) R_k(third)"};
  static constexpr std::tuple fields{
      Field{"sequence", &EulerSensor::sequence, "", "the axes ijk of the turns, such as zyx or zxz"}};
  static constexpr std::array<QuantityInfo, 3> quantities{
      {{"first", "rad", true}, {"second", "rad", true}, {"third", "rad", true}}};

  void validate(const Label& label) const {
    bool ok = sequence.size() == 3;
    for (const char c : sequence) ok = ok && c >= 'x' && c <= 'z';
    label.require(ok && sequence[0] != sequence[1] && sequence[1] != sequence[2], "its sequence is '" + sequence + "'",
                  "give three of x, y and z, no two neighbours alike, such as zyx or zxz");
  }
  template <class T> Vec<T, 3> measure(const auto& a, const auto& b, const T&) const {
    using std::atan2, std::sqrt;
    const Mat<T, 3, 3> R = detail::seen_from<T>(a, b);
    const int i = sequence[0] - 'x', j = sequence[1] - 'x', last = sequence[2] - 'x', k = 3 - i - j;
    const double s = (j - i + 3) % 3 == 1 ? 1 : -1;  // i, j, k is right-handed
    Vec<T, 3> out;
    if (last == i) {
      // R_ii = cos(second), R_ji = sin(first) sin(second), -s R_ki = cos(first) sin(second)
      out[0] = atan2(R(j, i), -s * R(k, i));
      out[1] = atan2(T(sqrt(R(i, j) * R(i, j) + R(i, k) * R(i, k))), R(i, i));
      out[2] = atan2(R(i, j), s * R(i, k));
    } else {
      // R_ik = s sin(second), -s R_jk = sin(first) cos(second), R_kk = cos(first) cos(second)
      out[0] = atan2(-s * R(j, k), R(k, k));
      out[1] = atan2(s * R(i, k), T(sqrt(R(i, i) * R(i, i) + R(i, j) * R(i, j))));
      out[2] = atan2(-s * R(i, j), R(i, i));
    }
    return out;
  }
};

}  // namespace mortise
