#include <mortise/integrators/implicit_stages.h>

#include <algorithm>

#include <Eigen/Eigenvalues>

namespace mortise {

using Complex = std::complex<double>;

ImplicitStages::ImplicitStages(const VectorXd& nodes) : nodes_(nodes) {
  // Both sides of  sum_j a_ij c_j^k = c_i^(k+1)/(k+1).
  const Index s = nodes.size();
  MatrixXd powers(s, s), integrals(s, s);
  for (Index i = 0; i < s; ++i) {
    double p = 1;
    for (Index k = 0; k < s; ++k) {
      powers(i, k) = p;
      p *= nodes[i];
      integrals(i, k) = p / static_cast<double>(k + 1);
    }
  }
  inverse_ = powers * integrals.inverse();
  const Eigen::EigenSolver<MatrixXd> eigen(inverse_);
  const Eigen::MatrixXcd right = eigen.eigenvectors(), left = right.inverse();
  for (Index k = 0; k < s; ++k) {
    const Complex value = eigen.eigenvalues()[k];
    if (value.imag() == 0)
      real_.push_back({value.real(), left.row(k).real().transpose(), right.col(k).real()});
    else if (value.imag() > 0)
      complex_.push_back({value, left.row(k).transpose(), right.col(k)});
  }
}

void ImplicitStages::begin(Flow& flow, const State& s) {
  flow_ = &flow;
  stage_ = s;
  slopes_.begin(flow.system(), s, flow.solver().left_out());
  const Index n = s.q.size(), count = nodes_.size();
  for (MatrixXd* x : {&q, &v, &dq, &dv, &fq_, &fv_}) x->setZero(n, count);
}

bool ImplicitStages::factor(double h) {
  bool regular = true;
  for (const auto& m : real_) regular = real_factor_.compute(slopes_, m.value / h) && regular;
  for (const auto& m : complex_) regular = complex_factor_.compute(slopes_, m.value / h) && regular;
  return regular;
}

void ImplicitStages::sweep(const State& from, double h) {
  least_ = 1;
  for (Index i = 0; i < nodes_.size(); ++i) {
    stage_.t = from.t + nodes_[i] * h;
    stage_.q = from.q + q.col(i);
    stage_.v = from.v + v.col(i);
    fq_.col(i) = stage_.v;
    fv_.col(i) = flow_->acceleration(stage_);
    least_ = std::min(least_, flow_->solver().independence());
  }
  dq.setZero();
  dv.setZero();
  for (const auto& m : real_) {
    const double rate = m.value / h;
    VectorXd x = fq_ * m.left - rate * (q * m.left), y = fv_ * m.left - rate * (v * m.left);
    real_factor_.solve(x, y);
    dq += x * m.right.transpose();
    dv += y * m.right.transpose();
  }
  for (const auto& m : complex_) {
    const Complex rate = m.value / h;
    Eigen::VectorXcd x = fq_ * m.left - rate * (q * m.left), y = fv_ * m.left - rate * (v * m.left);
    complex_factor_.solve(x, y);
    dq += 2 * (x * m.right.transpose()).real();
    dv += 2 * (y * m.right.transpose()).real();
  }
  q += dq;
  v += dv;
}

}  // namespace mortise
