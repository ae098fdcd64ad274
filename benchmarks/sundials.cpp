#include "sundials.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <cvode/cvode.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <mortise/integrators/error_scale.h>
#include <mortise/integrators/motion_slopes.h>
#include <mortise/integrators/start.h>

namespace bench {
namespace {

using namespace mortise;
using Eigen::Map;

constexpr long most_steps = 20000;  // with more a run is no match

// The sparse matrix of MotionSlopes for a shift, factored by KLU; a SUNMatrix and a SUNLinearSolver stand for it.
class Peer {
 public:
  Peer(const System& system, const State& start, double tolerance)
      : system_(system), flow_(system), at_(start), e_(system.blank()), tolerance_(tolerance), n_(system.size()) {
    SUNContext_Create(nullptr, &context);
    at_ = consistent(system, start);
    flow_.solver().leave_out_dependent(at_);
    a_ = flow_.acceleration(at_);
    lambda_ = flow_.solver().lambda();
    scale_.begin(flow_, at_, tolerance);
    const double h = 1e-3 * scale_.time_scale(at_.v, a_);
    if (std::isfinite(h)) scale_.include(at_.q + h * at_.v, at_.v + h * a_);
    slopes_.begin(system, at_, flow_.solver().left_out());
    const auto& pattern = slopes_.pattern();
    sparse_ = SUNSparseMatrix(pattern.rows(), pattern.cols(), pattern.nonZeros(), CSC_MAT, context);
    for (Index k = 0; k <= pattern.cols(); ++k) SM_INDEXPTRS_S(sparse_)[k] = pattern.outerIndexPtr()[k];
    for (Index k = 0; k < pattern.nonZeros(); ++k) SM_INDEXVALS_S(sparse_)[k] = pattern.innerIndexPtr()[k];
    right_ = N_VNew_Serial(pattern.rows(), context);
    solution_ = N_VClone(right_);
    klu_ = SUNLinSol_KLU(right_, sparse_, context);

    matrix = SUNMatNewEmpty(context);
    matrix->content = this;
    matrix->ops->getid = [](SUNMatrix) { return SUNMATRIX_CUSTOM; };
    matrix->ops->zero = [](SUNMatrix) { return 0; };
    solver = SUNLinSolNewEmpty(context);
    solver->content = this;
    solver->ops->gettype = [](SUNLinearSolver) { return SUNLINEARSOLVER_DIRECT; };
    solver->ops->getid = [](SUNLinearSolver) { return SUNLINEARSOLVER_CUSTOM; };
    solver->ops->initialize = [](SUNLinearSolver) { return 0; };
    solver->ops->setup = [](SUNLinearSolver s, SUNMatrix) {
      Peer& me = *static_cast<Peer*>(s->content);
      return SUNLinSolSetup(me.klu_, me.sparse_);
    };
  }
  virtual ~Peer() {
    SUNLinSolFree(klu_);
    SUNMatDestroy(sparse_);
    for (N_Vector v : {right_, solution_}) N_VDestroy(v);
    SUNMatFreeEmpty(matrix);
    SUNLinSolFreeEmpty(solver);
    SUNContext_Free(&context);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

 protected:
  // Guards callbacks: what the solver throws may only be because a step was long.
  template <class F> static int guarded(void* user, const F& f) {
    auto& me = *static_cast<Peer*>(user);
    try {
      f(me);
      return 0;
    } catch (const Error& error) {
      me.out_.stopped = error.what();
      return 1;
    }
  }
  void take_slopes(double t, const VectorXd& a, const VectorXd& lambda) {
    constexpr double small = 1e-7;
    at_.t = t;
    const VectorXd size = scale_.extents();
    slopes_.take(at_, a, lambda, size, scale_.sizes().second.cwiseMax(size / step_), small * step_);
    ++out_.jacobians;
  }
  void set_values(double shift) {
    double* const x = SM_DATA_S(sparse_);
    for (Index k = 0; k < slopes_.pattern().nonZeros(); ++k) x[k] = slopes_.value(static_cast<std::size_t>(k), shift);
  }
  // Of the sparse matrix.
  int solve() {
    N_VConst(0, solution_);
    return SUNLinSolSolve(klu_, sparse_, solution_, right_, 0);
  }
  Map<VectorXd> right() { return {N_VGetArrayPointer(right_), slopes_.pattern().rows()}; }
  Map<VectorXd> solution() { return {N_VGetArrayPointer(solution_), slopes_.pattern().rows()}; }
  void read(N_Vector y, double t) {
    at_.t = t;
    at_.q = part(y, 0);
    at_.v = part(y, n_);
  }
  Map<VectorXd> part(N_Vector y, Index first) { return {N_VGetArrayPointer(y) + first, n_}; }

 public:
  SUNContext context = nullptr;
  SUNMatrix matrix = nullptr;  // of the peer
  SUNLinearSolver solver = nullptr;

 protected:
  const System& system_;
  Flow flow_;
  State at_;
  Evaluation e_;
  double tolerance_;
  Index n_;
  VectorXd a_, lambda_;
  ErrorScale scale_;
  MotionSlopes slopes_;
  SUNMatrix sparse_ = nullptr;
  SUNLinearSolver klu_ = nullptr;
  N_Vector right_ = nullptr, solution_ = nullptr;
  double step_ = 1e-3;
  PeerRun out_;
};

class CvodeRun final : public Peer {
 public:
  using Peer::Peer;

  PeerRun go(double duration) {
    N_Vector y = N_VNew_Serial(2 * n_, context);
    part(y, 0) = at_.q;
    part(y, n_) = at_.v;
    void* memory = CVodeCreate(CV_BDF, context);
    CVodeInit(memory, right_hand_side, at_.t, y);
    CVodeSetUserData(memory, static_cast<Peer*>(this));
    CVodeSetErrHandlerFn(
        memory, [](int, const char*, const char*, char*, void*) {}, nullptr);
    CVodeWFtolerances(memory, weights);
    CVodeSetMaxNumSteps(memory, most_steps);
    solver->ops->solve = solve_shifted;
    CVodeSetLinearSolver(memory, solver, matrix);
    CVodeSetLinSysFn(memory, linear_system);
    memory_ = memory;
    const double end = at_.t + duration;
    CVodeSetStopTime(memory, end);
    double t = at_.t;
    const int flag = CVode(memory, end, y, &t, CV_NORMAL);
    out_.finished = flag >= 0;
    read(y, t);
    out_.last = at_;
    CVodeGetNumSteps(memory, &out_.steps);
    out_.evaluations = static_cast<long>(flow_.evaluations());
    CVodeFree(&memory);
    N_VDestroy(y);
    return out_;
  }

 private:
  static int right_hand_side(double t, N_Vector y, N_Vector dy, void* user) {
    return guarded(user, [&](Peer& peer) {
      auto& me = static_cast<CvodeRun&>(peer);
      me.read(y, t);
      me.part(dy, me.n_) = me.flow_.acceleration(me.at_);
      me.part(dy, 0) = me.at_.v;
    });
  }
  static int weights(N_Vector y, N_Vector w, void* user) {
    return guarded(user, [&](Peer& peer) {
      auto& me = static_cast<CvodeRun&>(peer);
      me.scale_.include(me.part(y, 0), me.part(y, me.n_));
      const auto [q, v] = me.scale_.sizes();
      me.part(w, 0) = (me.tolerance_ * q).cwiseInverse();
      me.part(w, me.n_) = (me.tolerance_ * v).cwiseInverse();
    });
  }
  static int linear_system(double t, N_Vector y, N_Vector, SUNMatrix, int kept, int* taken, double gamma, void* user,
                           N_Vector, N_Vector, N_Vector) {
    return guarded(user, [&](Peer& peer) {
      auto& me = static_cast<CvodeRun&>(peer);
      *taken = !kept;
      if (!kept) {
        me.read(y, t);
        me.step_ = gamma;
        const VectorXd a = me.flow_.acceleration(me.at_);
        me.take_slopes(t, a, me.flow_.solver().lambda());
      }
      me.shift_ = 1 / gamma;
      me.set_values(me.shift_);
    });
  }
  // (I - gamma J) x = b.
  static int solve_shifted(SUNLinearSolver s, SUNMatrix, N_Vector x, N_Vector b, double) {
    auto& me = static_cast<CvodeRun&>(*static_cast<Peer*>(s->content));
    const Index n = me.n_;
    const VectorXd q = me.shift_ * me.part(b, 0), v = me.shift_ * me.part(b, n);
    VectorXd right;
    me.slopes_.right_hand_side(me.shift_, q, v, right);
    me.right() = right;
    const int flag = me.solve();
    me.part(x, 0) = me.solution().head(n);
    me.part(x, n) = me.shift_ * me.solution().head(n) - q;
    return flag;
  }

  void* memory_ = nullptr;
  double shift_ = 1;
};

class IdaRun final : public Peer {
 public:
  IdaRun(const System& system, const State& start, double tolerance) : Peer(system, start, tolerance) {
    const auto& left_out = flow_.solver().left_out();
    for (Index i = 0; i < system.rows(); ++i)
      if (std::find(left_out.begin(), left_out.end(), i) == left_out.end()) rows_.push_back(i);
  }

  PeerRun go(double duration) {
    // Multipliers of the rows that bodies meet by themselves, which the solver does not tell: what balances the rest.
    system_.evaluate(at_, e_);
    VectorXd left = multiply_mass(a_) - e_.Q - e_.C;
    add_reactions(lambda_, left);
    for (const auto& c : system_.constraints()) {
      const auto& b = system_.bodies()[c.bodies[0]];
      if (!c.own || !b.model->meets_own_rows()) continue;
      const MatrixXd A = e_.A(c.block);
      lambda_.segment(c.row, c.rows) = (A * A.transpose()).ldlt().solve(A * left.segment(b.first, b.size));
    }
    multiplier_size_ = std::max(
        {1e-300, lambda_.lpNorm<Eigen::Infinity>(), (e_.Q + e_.C).lpNorm<Eigen::Infinity>()});  // may begin with 0
    N_Vector y = N_VNew_Serial(unknowns(), context), dy = N_VClone(y), id = N_VClone(y);
    N_VConst(0, dy);
    N_VConst(0, id);
    part(y, 0) = at_.q;
    part(y, n_) = at_.v;
    part(dy, 0) = at_.v;
    part(dy, n_) = a_;
    for (Index i = 0; i < count(); ++i) multipliers(y)[i] = lambda_[rows_[static_cast<std::size_t>(i)]];
    part(id, 0).setOnes();
    part(id, n_).setOnes();
    void* memory = IDACreate(context);
    IDAInit(memory, residual, at_.t, y, dy);
    IDASetUserData(memory, static_cast<Peer*>(this));
    IDASetErrHandlerFn(
        memory, [](int, const char*, const char*, char*, void*) {}, nullptr);
    IDAWFtolerances(memory, weights);
    IDASetMaxNumSteps(memory, most_steps);
    IDASetId(memory, id);
    IDASetSuppressAlg(memory, SUNTRUE);
    solver->ops->solve = solve_eliminated;
    IDASetLinearSolver(memory, solver, matrix);
    IDASetJacFn(memory, jacobian);
    memory_ = memory;
    const double end = at_.t + duration;
    IDASetStopTime(memory, end);
    double t = at_.t;
    const int flag = IDASolve(memory, end, &t, y, dy, IDA_NORMAL);
    out_.finished = flag >= 0;
    read(y, t);
    out_.last = at_;
    IDAGetNumSteps(memory, &out_.steps);
    IDAGetNumResEvals(memory, &out_.evaluations);
    IDAFree(&memory);
    for (N_Vector v : {y, dy, id}) N_VDestroy(v);
    return out_;
  }

 private:
  Index count() const { return std::ssize(rows_); }
  Index unknowns() const { return 2 * n_ + count(); }
  Map<VectorXd> multipliers(N_Vector y) { return {N_VGetArrayPointer(y) + 2 * n_, count()}; }
  VectorXd multiply_mass(const VectorXd& a) const {
    VectorXd out(n_);
    for (std::size_t i = 0; i < system_.bodies().size(); ++i) {
      const auto& b = system_.bodies()[i];
      out.segment(b.first, b.size).noalias() = e_.M(i) * a.segment(b.first, b.size);
    }
    return out;
  }
  void add_reactions(const VectorXd& lambda, VectorXd& out) const {
    const auto& blocks = e_.layout().A;
    for (std::size_t k = 0; k < blocks.size(); ++k)
      out.segment(blocks[k].first, blocks[k].size).noalias() -=
          e_.A(k).transpose() * lambda.segment(blocks[k].row, blocks[k].rows);
  }
  void spread(N_Vector y) {
    lambda_.setZero(system_.rows());
    for (Index i = 0; i < count(); ++i) lambda_[rows_[static_cast<std::size_t>(i)]] = multipliers(y)[i];
  }
  static int residual(double t, N_Vector y, N_Vector dy, N_Vector r, void* user) {
    return guarded(user, [&](Peer& peer) {
      auto& me = static_cast<IdaRun&>(peer);
      me.read(y, t);
      me.spread(y);
      me.system_.evaluate(me.at_, me.e_);
      const VectorXd a = me.part(dy, me.n_);
      me.part(r, 0) = me.part(dy, 0) - me.at_.v;
      VectorXd forces = me.multiply_mass(a) - me.e_.Q - me.e_.C;
      me.add_reactions(me.lambda_, forces);
      me.part(r, me.n_) = forces;
      VectorXd rows = -me.e_.b;
      const auto& blocks = me.e_.layout().A;
      for (std::size_t k = 0; k < blocks.size(); ++k)
        rows.segment(blocks[k].row, blocks[k].rows).noalias() +=
            me.e_.A(k) * a.segment(blocks[k].first, blocks[k].size);
      for (Index i = 0; i < me.count(); ++i) me.multipliers(r)[i] = rows[me.rows_[static_cast<std::size_t>(i)]];
    });
  }
  static int weights(N_Vector y, N_Vector w, void* user) {
    return guarded(user, [&](Peer& peer) {
      auto& me = static_cast<IdaRun&>(peer);
      me.scale_.include(me.part(y, 0), me.part(y, me.n_));
      const auto [q, v] = me.scale_.sizes();
      me.part(w, 0) = (me.tolerance_ * q).cwiseInverse();
      me.part(w, me.n_) = (me.tolerance_ * v).cwiseInverse();
      me.multiplier_size_ = std::max(me.multiplier_size_, me.multipliers(y).lpNorm<Eigen::Infinity>());
      me.multipliers(w).setConstant(1 / (me.tolerance_ * me.multiplier_size_));
    });
  }
  static int jacobian(double t, double cj, N_Vector y, N_Vector dy, N_Vector, SUNMatrix, void* user, N_Vector, N_Vector,
                      N_Vector) {
    return guarded(user, [&](Peer& peer) {
      auto& me = static_cast<IdaRun&>(peer);
      me.read(y, t);
      me.spread(y);
      me.step_ = 1 / cj;
      me.take_slopes(t, me.part(dy, me.n_), me.lambda_);
      me.shift_ = cj;
      me.set_values(cj);
    });
  }
  // cj dq - dv = r_q;  K dq + (cj M + D) dv - A'dl = r_v;  P dq + (cj A + R) dv = r_l,  with dq = (r_q + dv) / cj.
  static int solve_eliminated(SUNLinearSolver s, SUNMatrix, N_Vector x, N_Vector b, double) {
    auto& me = static_cast<IdaRun&>(*static_cast<Peer*>(s->content));
    const Index n = me.n_;
    const double cj = me.shift_;
    const VectorXd rq = me.part(b, 0);
    VectorXd right = me.slopes_.times_second(rq) / -cj;
    right.head(n) += me.part(b, n);
    right.tail(me.count()) += me.slopes_.row_scale() * me.multipliers(b);
    me.right() = right;
    const int flag = me.solve();
    me.part(x, n) = me.solution().head(n) / cj;
    me.part(x, 0) = (rq + me.part(x, n)) / cj;
    me.multipliers(x) = me.slopes_.row_scale() * me.solution().tail(me.count());
    return flag;
  }

  std::vector<Index> rows_;  // that are not left out
  void* memory_ = nullptr;
  double shift_ = 1, multiplier_size_ = 0;
};

}  // namespace

PeerRun run_cvode(const System& system, const State& start, double duration, double tolerance) {
  return CvodeRun(system, start, tolerance).go(duration);
}
PeerRun run_ida(const System& system, const State& start, double duration, double tolerance) {
  return IdaRun(system, start, tolerance).go(duration);
}

}  // namespace bench
