#include <mortise/analysis/modes.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Eigenvalues>

#include <mortise/core/decompositions.h>
#include <mortise/core/text.h>
#include <mortise/core/words.h>

namespace mortise {
namespace {

using Complex = std::complex<double>;

// X is Z zeros Z' and Q rest Q' with a triangle between: eigenvalues 0 are taken out exactly, also those that hang
// together (a body that drifts), which round-off would spread to the root of its size.
struct Deflated {
  MatrixXd Q, rest;
  MatrixXd null;  // null(X)
};
Deflated deflate(const MatrixXd& X) {
  constexpr double round_off = 1e-12;
  Deflated out{MatrixXd::Identity(X.rows(), X.rows()), X, MatrixXd(X.rows(), 0)};
  for (bool first = true; out.rest.size() > 0; first = false) {
    const Svd svd(out.rest);
    const Index rank = svd.count_above(round_off * std::max(1e-300, svd.s[0]));
    if (rank == out.rest.rows()) break;
    if (first) out.null = svd.null_space(rank);
    const MatrixXd keep = svd.row_space(rank);
    out.Q = (out.Q * keep).eval();
    out.rest = (keep.transpose() * out.rest * keep).eval();
  }
  return out;
}

// Units in which the states of a model are of one size: positions by the mass they move, velocities by the fastest
// time.  X becomes diag(d)^-1 X diag(d).
VectorXd brought_to_size(MatrixXd& X, const LinearModel& model) {
  const Index p = model.positions, q = model.velocities;
  VectorXd d = VectorXd::Ones(p + q);
  const MatrixXd P = model.shapes.leftCols(p), M = P.transpose() * model.mass * P;
  for (Index i = 0; i < p; ++i)
    if (M(i, i) > 0) d[i] = 1 / std::sqrt(M(i, i));
  for (Index k = 0; k < q; ++k)
    for (Index i = 0; i < p; ++i)
      if (model.states[static_cast<std::size_t>(p + k)] == model.states[static_cast<std::size_t>(i)] + "'")
        d[p + k] = d[i];
  X = d.cwiseInverse().asDiagonal() * X * d.asDiagonal();
  const double stiff = X.bottomLeftCorner(q, p).lpNorm<Eigen::Infinity>();
  const double rate = std::max(std::sqrt(stiff), X.bottomRightCorner(q, q).lpNorm<Eigen::Infinity>());
  if (!(rate > 0)) return d;
  X.bottomRows(q) /= rate, X.rightCols(q) *= rate;
  d.tail(q) *= rate;
  return d;
}

void finish(Mode& mode, const LinearModel& model) {
  const double size = std::abs(mode.eigenvalue);
  const bool oscillates = std::abs(mode.eigenvalue.imag()) > 1e-9 * size;
  if (!oscillates) mode.eigenvalue = mode.eigenvalue.real();
  mode.frequency = oscillates ? mode.eigenvalue.imag() / (2 * std::numbers::pi) : 0;
  mode.damping = size > 0 ? -mode.eigenvalue.real() / size : 0;
  if (std::abs(mode.damping) < 1e-12) mode.damping = 0;

  // Shares of the kinetic energy; where nothing that moves has mass, of the amplitude.
  const Eigen::VectorXcd moved = model.mass * mode.shape;
  VectorXd share = (mode.shape.conjugate().array() * moved.array()).real();
  if (!(share.sum() > 0)) share = mode.shape.cwiseAbs2();
  share /= share.sum();
  for (Index i = 0; i < share.size(); ++i)
    if (std::abs(share[i]) > 0.01) mode.shares.push_back({model.variations[static_cast<std::size_t>(i)], share[i]});
  std::stable_sort(mode.shares.begin(), mode.shares.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  Index largest = 0;
  if (mode.shape.size() > 0) mode.shape.cwiseAbs().maxCoeff(&largest);
  if (const Complex by = mode.shape[largest]; std::abs(by) > 0) mode.shape /= by;
}

// No damping, no gyroscopic terms: eigenvalues of two symmetric matrices, each as exact as its size.
bool conservative(const LinearModel& model, MatrixXd& M, MatrixXd& K) {
  const Index p = model.positions;
  if (!model.at_rest || p != model.velocities || p == 0) return false;
  const MatrixXd P = model.shapes.leftCols(p);
  M = P.transpose() * model.mass * P;
  const MatrixXd damping = M * model.A.bottomRightCorner(p, p);
  K = -(M * model.A.bottomLeftCorner(p, p));
  const VectorXd d = M.diagonal().cwiseSqrt().cwiseInverse();
  const MatrixXd scaled = d.asDiagonal() * K * d.asDiagonal();
  const double rate = std::sqrt(scaled.cwiseAbs().maxCoeff());
  return (d.asDiagonal() * damping * d.asDiagonal()).cwiseAbs().maxCoeff() <= 1e-12 * rate &&
         (scaled - scaled.transpose()).cwiseAbs().maxCoeff() <= 1e-11 * scaled.cwiseAbs().maxCoeff();
}

}  // namespace

Modes modes(const System& system, const State& s) { return modes(linearise(system, s)); }

Modes modes(const LinearModel& model) {
  Modes out;
  out.system = model.system;
  out.variations = model.variations;
  out.rigid.resize(static_cast<Index>(model.variations.size()), 0);
  const Index n = model.A.rows(), p = model.positions;
  if (n == 0) return out;
  MatrixXd M, K;
  if (conservative(model, M, K)) {
    const VectorXd d = M.diagonal().cwiseSqrt().cwiseInverse();
    const Cholesky factor(d.asDiagonal() * M * d.asDiagonal());
    const MatrixXd half = factor.over_lower(d.asDiagonal() * (0.5 * (K + K.transpose())) * d.asDiagonal());
    MatrixXd S = factor.over_lower(half.transpose());
    S = (0.5 * (S + S.transpose())).eval();
    const SymmetricEigen eigen(S);
    const MatrixXd X = d.asDiagonal() * factor.over_upper(eigen.vectors), shapes = model.shapes.leftCols(p) * X;
    std::vector<Index> rigid;
    for (Index i = 0; i < p; ++i) {
      const double square = eigen.values[i];
      // Round-off of the terms that this number is the sum of.
      if (std::abs(square) <= 1e-13 * eigen.values.cwiseAbs().maxCoeff()) {
        rigid.push_back(i);
        continue;
      }
      Mode mode;
      mode.shape = shapes.col(i).cast<Complex>();
      if (square > 0) {
        mode.eigenvalue = Complex(0, std::sqrt(square));
        finish(mode, model);
        out.modes.push_back(mode);
        continue;
      }
      for (const double sign : {1.0, -1.0}) {
        Mode one = mode;
        one.eigenvalue = sign * std::sqrt(-square);
        finish(one, model);
        out.modes.push_back(one);
      }
    }
    out.rigid = shapes(Eigen::all, rigid);
    out.zero = 2 * static_cast<Index>(rigid.size());
  } else {
    MatrixXd A = model.A;
    const VectorXd d = brought_to_size(A, model);
    const Deflated deflated = deflate(A);
    out.zero = n - deflated.rest.rows();
    out.rigid = model.shapes * (d.asDiagonal() * deflated.null);
    Eigen::VectorXcd values(0);
    Eigen::MatrixXcd vectors;
    if (deflated.rest.size() > 0) {
      const Eigen::EigenSolver<MatrixXd> eigen(deflated.rest);
      values = eigen.eigenvalues(), vectors = eigen.eigenvectors();
    }
    for (Index i = 0; i < values.size(); ++i) {
      if (values[i].imag() < 0) continue;
      Mode mode;
      mode.eigenvalue = values[i];
      // A x = lambda x with x = Q y + z, z in what was taken out: (1 - Q Q') A Q y = (lambda - A) z; A is nilpotent
      // there, so a few steps find z.
      const Eigen::VectorXcd along = deflated.Q * vectors.col(i);
      Eigen::VectorXcd x = along;
      for (Index k = 0; k <= out.zero; ++k) {
        Eigen::VectorXcd next = (A * x) / mode.eigenvalue;
        next += deflated.Q * (vectors.col(i) - deflated.Q.transpose() * next);
        x = next;
      }
      mode.shape = model.shapes * (d.asDiagonal() * x);
      finish(mode, model);
      out.modes.push_back(mode);
    }
  }
  std::stable_sort(out.modes.begin(), out.modes.end(), [](const Mode& a, const Mode& b) {
    return a.frequency != b.frequency ? a.frequency < b.frequency : a.eigenvalue.real() < b.eigenvalue.real();
  });
  return out;
}

bool Modes::stable() const {
  return std::none_of(modes.begin(), modes.end(), [](const Mode& m) { return m.grows() && m.damping < -1e-9; });
}

std::string Mode::text() const {
  std::string out;
  if (frequency > 0)
    out = fmt::format("{:.6g} Hz, damping {:.3g}{}", frequency, damping, damping < 0 ? ", grows" : "");
  else if (eigenvalue.real() > 0)
    out = fmt::format("grows by e in {:.4g} s", 1 / eigenvalue.real());
  else
    out = fmt::format("fades by e in {:.4g} s", -1 / eigenvalue.real());
  std::vector<std::string> words;
  for (const Share& s : shares)
    if (words.size() < 4 && s.share >= 0.05) words.push_back(fmt::format("{:.0f} % {}", 100 * s.share, s.name));
  return words.empty() ? out : out + ": " + joined(words);
}

std::string Modes::text() const {
  std::string out = system.empty() ? "model" : system;
  if (modes.empty() && zero == 0) return out + ": nothing can move\n";
  out += fmt::format(": {}\n", counted(static_cast<Index>(modes.size()), "mode"));
  if (zero > 0) {
    out += fmt::format("  {}, which nothing draws back", counted(rigid.cols(), "rigid-body mode"));
    std::vector<std::string> words;
    for (Index i = 0; i < rigid.rows(); ++i)
      if (rigid.row(i).cwiseAbs().maxCoeff() > 1e-6 * rigid.cwiseAbs().maxCoeff())
        words.push_back(variations[static_cast<std::size_t>(i)]);
    if (!words.empty()) out += ": " + some_of(words, 6);
    out += "\n";
  }
  for (std::size_t i = 0; i < modes.size(); ++i) out += fmt::format("  {}: {}\n", i + 1, modes[i].text());
  std::vector<std::string> growing;
  for (std::size_t i = 0; i < modes.size(); ++i)
    if (modes[i].grows() && modes[i].damping < -1e-9) growing.push_back(fmt::format("{}", i + 1));
  if (!growing.empty())
    out += fmt::format("  unstable: {} {} grow{}\n", growing.size() == 1 ? "mode" : "modes", joined(growing),
                       growing.size() == 1 ? "s" : "");
  return out;
}

std::string Modes::csv() const {
  std::string out = "mode,real [1/s],imaginary [1/s],frequency [Hz],damping";
  for (const std::string& name : variations) out += "," + csv_cell("|" + name + "|") + "," + csv_cell("phase " + name);
  out += "\n";
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const Mode& m = modes[i];
    out += fmt::format("{},{},{},{},{}", i + 1, m.eigenvalue.real(), m.eigenvalue.imag(), m.frequency, m.damping);
    for (const Complex& x : m.shape) out += fmt::format(",{},{}", std::abs(x), std::arg(x));
    out += "\n";
  }
  return out;
}

}  // namespace mortise
