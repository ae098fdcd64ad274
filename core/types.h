#pragma once
// Vector and matrix shorthands.  Every file of the library uses these names.

#include <Eigen/Dense>

namespace mortise {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

template <class T, int N> using Vec = Eigen::Matrix<T, N, 1>;
template <class T> using Vec2 = Vec<T, 2>;
template <class T> using Vec3 = Vec<T, 3>;
template <class T, int R, int C = R> using Mat = Eigen::Matrix<T, R, C>;

inline constexpr int dynamic = Eigen::Dynamic;

}  // namespace mortise
