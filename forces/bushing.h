#pragma once
// Bushing: six springs and dampers between a frame on body A and a frame on body B, by 6 x 6 matrices.
//
//   x = (d, turn),   d = R_A'(p_B - p_A),   turn = 1/2 sum_k a_k x b_k  in the frame of A,   V = 1/2 x'K x
//   y = (R_A'(v_B - v_A - w_A x (p_B - p_A)), R_A'(w_B - w_A)),   damping wrench -C y on B,   input = -y'C y
//
// a_k and b_k are the axes of the two frames.  turn is sin(angle) times the axis of the relative rotation: made for
// small rotations, where it is the rotation vector; beyond a quarter turn the restoring torque falls again.  The force
// is -dV/dq exactly, also for large rotations.  K is symmetric; C is not negative: y'C y >= 0.
// The two frames lie parallel to their bodies' unless turned by axes_a, axes_b (columns: the frame's axes in the body).

#include <mortise/core/rotation.h>
#include <mortise/forces/turning.h>

namespace mortise {

struct Bushing {
  Vec3<double> on_a{0, 0, 0};
  Vec3<double> on_b{0, 0, 0};
  Mat<double, 6> stiffness = Mat<double, 6>::Zero();
  Mat<double, 6> damping = Mat<double, 6>::Zero();
  Mat<double, 3> axes_a = Mat<double, 3>::Identity();
  Mat<double, 3> axes_b = Mat<double, 3>::Identity();

  static constexpr Summary summary{"bushing", "six springs and dampers between two frames",
                                   "wrench on B = -stiffness x - damping x', x = (displacement, small rotation)"};
  static constexpr std::tuple fields{
      Field{"on_a", &Bushing::on_a, "m", "origin of the frame on A"},
      Field{"on_b", &Bushing::on_b, "m", "origin of the frame on B"},
      Field{"stiffness", &Bushing::stiffness, "N/m, N m/rad", "6 x 6, symmetric, positive semi-definite"},
      Field{"damping", &Bushing::damping, "N s/m, N m s/rad", "6 x 6, x'C x >= 0"},
      Field{"axes_a", &Bushing::axes_a, "", "axes of the frame on A, in columns"},
      Field{"axes_b", &Bushing::axes_b, "", "axes of the frame on B, in columns"}};

  template <class T> T potential(const auto& a, const auto& b, const T&) const {
    const Mat<T, 3> A = frame<T>(a, axes_a), B = frame<T>(b, axes_b);
    Vec3<T> turn = Vec3<T>::Zero();
    for (int k = 0; k < 3; ++k) turn += cross<T>(A.col(k), B.col(k));
    Vec<T, 6> x;
    x << A.transpose() * (b.point(on_b) - a.point(on_a)), 0.5 * (A.transpose() * turn);
    return 0.5 * x.dot(stiffness.template cast<T>() * x);
  }
  template <class T> void act(auto& a, auto& b, const T&) const {
    if ((damping.array() == 0).all()) return;
    const Mat<T, 3> A = frame<T>(a, axes_a);
    const Vec3<T> arm = b.point(on_b) - a.point(on_a);
    const Vec3<T> w_a = a.angular_velocity(), w_b = b.angular_velocity();
    Vec<T, 6> y;
    y << A.transpose() * (b.point_velocity(on_b) - a.point_velocity(on_a) - cross<T>(w_a, arm)),
        A.transpose() * (w_b - w_a);
    const Vec<T, 6> wrench = -(damping.template cast<T>() * y);
    const Vec3<T> f = A * wrench.template head<3>(), m = A * wrench.template tail<3>();
    b.apply_force(on_b, f);
    b.apply_torque(m);
    a.apply_force(on_a, Vec3<T>(-f));
    a.apply_torque(Vec3<T>(-m - cross<T>(arm, f)));
  }
  void validate(const Label& label) const;

 private:
  template <class T> static Mat<T, 3> frame(const auto& view, const Mat<double, 3>& axes) {
    Mat<T, 3> R;
    for (int k = 0; k < 3; ++k) R.col(k) = view.direction(Vec3<double>(axes.col(k)));
    return R;
  }
};

}  // namespace mortise
