// Two sensors disagree: whom to believe?  [UKH97, Eq. 37-38]
//
//     (o) 2 kg, free in the plane, pushed by (3, 1) N
//      two accelerometers on it measure x'':  1.40 +- 0.1 m/s^2  and  1.60 +- 0.2 m/s^2
//
// As constraints the two rows contradict each other, and every exact form refuses.  Weighted least squares takes
// weights 1/sigma^2 as the measure of trust; y'' is measured by nobody and stays Q/m. Expected: x'' = (1.40/0.1^2
// + 1.60/0.2^2) / (1/0.1^2 + 1/0.2^2) = 1.44,  y'' = 0.5.

#include <fmt/format.h>

#include <mortise/core/fundamental.h>

int main() {
  using namespace mortise;
  Equations e;
  e.M = 2 * MatrixXd::Identity(2, 2);
  e.Q = Vec2<double>(3, 1);
  e.A = (MatrixXd(2, 2) << 1, 0, 1, 0).finished();
  e.b = Vec2<double>(1.40, 1.60);

  try {
    udwadia_kalaba(e);
    return 1;  // never: no acceleration satisfies both rows
  } catch (const NoMotion& error) {
    fmt::print("udwadia_kalaba refuses: {}\n\n", error.what());
  }

  fmt::print("{:>8} {:>8} {:>10} {:>10} {:>10} {:>14} {:>14}\n", "sigma 1", "sigma 2", "x''", "y''", "Qc_x",
             "sensor 1 off", "sensor 2 off");
  for (const double sigma : {0.001, 0.1, 0.3, 10.0}) {
    const MatrixXd W = Vec2<double>(1 / (sigma * sigma), 1 / (0.2 * 0.2)).asDiagonal();
    const Compromise c = weighted_least_squares(e, W);
    fmt::print("{:8.3f} {:8.3f} {:10.6f} {:10.6f} {:10.6f} {:14.6f} {:14.6f}\n", sigma, 0.2, c.a[0], c.a[1], c.Qc[0],
               c.row_residual[0], c.row_residual[1]);
  }
  fmt::print("\nweighted mean for sigma 0.1 and 0.2: {:.6f}\n", (1.40 / 0.01 + 1.60 / 0.04) / (1 / 0.01 + 1 / 0.04));
}
