#include <mortise/solve/principles.h>

#include <mortise/core/decompositions.h>
#include <mortise/solve/solver.h>

namespace mortise {
namespace {

void require_size(const System& system, const VectorXd& x, const char* name) {
  if (x.size() != system.size())
    Label{"vector", name}.fail<WrongSize>(fmt::format("has {} entries", x.size()),
                                          fmt::format("give {}, one per coordinate", system.size()));
}

// All belong to one system.
void require_solution(const System& system, const Evaluation& e, const Solution& s) {
  system.require_own(e);
  require_size(system, s.a, "q''");
  require_size(system, s.Qc, "Qc");
  if (s.lambda.size() != system.rows())
    Label{"vector", "lambda"}.fail<WrongSize>(fmt::format("has {} entries", s.lambda.size()),
                                              fmt::format("give {}, one per row", system.rows()));
}

VectorXd times_mass(const System& system, const Evaluation& e, const VectorXd& x) {
  VectorXd Mx(x.size());
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const System::BodyInfo& b = system.bodies()[i];
    Mx.segment(b.first, b.size) = e.M(i) * x.segment(b.first, b.size);
  }
  return Mx;
}

// b - A x
VectorXd row_residual(const Evaluation& e, const VectorXd& x) {
  VectorXd r = e.b;
  for (std::size_t k = 0; k < e.layout().A.size(); ++k) {
    const Layout::RowBlock& block = e.layout().A[k];
    r.segment(block.row, block.rows) -= e.A(k) * x.segment(block.first, block.size);
  }
  return r;
}

VectorXd nonideal_force(const System& system, const Evaluation& e, const Solution& s) {
  VectorXd C = e.C;
  for (const System::ConstraintInfo& c : system.constraints())
    if (c.model->reacts()) system.react(c, e.state, s.lambda, C);
  return C;
}

}  // namespace

Unconstrained unconstrained(const System& system, const Evaluation& e, const Solution& s) {
  require_solution(system, e, s);
  Unconstrained out{VectorXd(system.size()), {}, {}, 0};
  for (std::size_t i = 0; i < system.bodies().size(); ++i) {
    const System::BodyInfo& b = system.bodies()[i];
    if (b.size == 0) continue;
    const MatrixXd M = e.M(i);
    const Label label{"body", b.name};
    const Index massless = b.model->massless(e.state, b.first, M, label).N0.cols();
    const VectorXd d = (M.diagonal().array() > 0).select(M.diagonal(), 1).cwiseSqrt().cwiseInverse();
    const Cholesky scaled(d.asDiagonal() * M * d.asDiagonal());
    if (massless > 0 || !scaled.positive())
      label.fail<SingularMass>(
          fmt::format("its mass matrix is singular in {} of {} directions, so that M^-1 Q does not exist",
                      std::max<Index>(massless, 1), b.size),
          "ask auxiliary() or gauss(), which need no M^-1");
    out.a.segment(b.first, b.size) = d.cwiseProduct(scaled.solve(d.cwiseProduct(e.Q.segment(b.first, b.size))));
  }
  out.e = row_residual(e, out.a);
  out.deviation = s.a - out.a;
  out.gauss = out.deviation.dot(times_mass(system, e, out.deviation));
  return out;
}

Auxiliary auxiliary(const System& system, const Evaluation& e, const Solution& s, const Augmentation& augmentation) {
  require_solution(system, e, s);
  Auxiliary out;
  static_cast<Augmented&>(out) = augmented(system.equations(e), augmentation);
  out.a = out.Q_z;
  if (system.size() > 0) {
    const VectorXd d = (out.M_A.diagonal().array() > 0).select(out.M_A.diagonal(), 1).cwiseSqrt().cwiseInverse();
    const Cholesky scaled(d.asDiagonal() * out.M_A * d.asDiagonal());
    if (!scaled.positive())
      Label{"matrix", "M_A"}.fail<NotDetermined>(
          fmt::format("M + alpha^2 A+A is not positive definite in double precision: smallest eigenvalue {:.1e}",
                      out.smallest),
          "give an alpha that suits the masses in the units of the model, or other units");
    out.a = d.cwiseProduct(scaled.solve(d.cwiseProduct(out.Q_z)));
    out.a += d.cwiseProduct(scaled.solve(d.cwiseProduct(out.Q_z - out.M_A * out.a)));
  }
  out.e = row_residual(e, out.a);
  out.deviation = s.a - out.a;
  out.Qc = s.Qc + out.alpha * out.alpha * out.A_plus_b - (out.Q_z - e.Q);
  return out;
}

double gauss(const System& system, const Evaluation& e, const Solution& s, const VectorXd& x) {
  require_solution(system, e, s);
  require_size(system, x, "x");
  return x.dot(0.5 * times_mass(system, e, x) - e.Q - nonideal_force(system, e, s));
}

Projections projections(const System& system, const Evaluation& e, const Solution& s) {
  require_solution(system, e, s);
  // min |x - f|^2 among A x = 0: M = I, Q = f, b = 0.
  Evaluation unit = e;
  for (std::size_t i = 0; i < system.bodies().size(); ++i) unit.M(i).setIdentity();
  unit.Q = s.a;
  unit.C.setZero();
  unit.b.setZero();
  const System with_unit_masses = system.fixed(unit);
  Solver solver(with_unit_masses);
  Projections out;
  out.a_null = solver.solve(unit);
  out.a_complement = s.a - out.a_null;
  const VectorXd C = nonideal_force(system, e, s);
  out.Qc_null = VectorXd::Zero(C.size());
  if (!C.isZero(0)) out.Qc_null = solver.response(C);
  out.Qc_complement = s.Qc - out.Qc_null;
  return out;
}

}  // namespace mortise
