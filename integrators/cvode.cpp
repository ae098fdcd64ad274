#include <mortise/integrators/cvode.h>

#ifdef MORTISE_HAS_CVODE

#include <algorithm>
#include <cmath>
#include <exception>

#include <cvode/cvode.h>
#include <cvode/cvode_proj.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <mortise/integrators/error_scale.h>

namespace mortise {
namespace {

// y = (q, v).  What a callback throws is kept and thrown again outside: CVODE is written in C.
class Cvode final : public Stepper {
 public:
  Cvode(std::string name, const StepOptions& options) : name_(std::move(name)), options_(options) {
    SUNContext_Create(nullptr, &context_);
  }
  ~Cvode() override {
    release();
    SUNContext_Free(&context_);
  }
  Cvode(const Cvode&) = delete;
  Cvode& operator=(const Cvode&) = delete;

  void begin(Flow& flow, const State& s) override {
    release();
    flow_ = &flow;
    now_ = before_ = at_ = s;
    n_ = s.q.size();
    const VectorXd a = flow.acceleration(s);
    scale_.begin(flow, s, options_.tolerance);
    const double h = 1e-3 * scale_.time_scale(s.v, a);
    if (std::isfinite(h)) scale_.include(s.q + h * s.v, s.v + h * a);
    y_ = N_VNew_Serial(2 * n_, context_);
    write(s, y_);
    const bool bdf = name_ == "cvode_bdf";
    memory_ = CVodeCreate(bdf ? CV_BDF : CV_ADAMS, context_);
    check(CVodeInit(memory_, right_hand_side, s.t, y_), "CVodeInit");
    check(CVodeSetUserData(memory_, this), "CVodeSetUserData");
    check(CVodeSetErrHandlerFn(memory_, keep_message, this), "CVodeSetErrHandlerFn");
    check(CVodeWFtolerances(memory_, weights), "CVodeWFtolerances");
    check(CVodeSetMaxNumSteps(memory_, -1), "CVodeSetMaxNumSteps");
    if (options_.step > 0) check(CVodeSetInitStep(memory_, options_.step), "CVodeSetInitStep");
    if (options_.largest > 0) check(CVodeSetMaxStep(memory_, options_.largest), "CVodeSetMaxStep");
    if (bdf) {
      matrix_ = SUNDenseMatrix(2 * n_, 2 * n_, context_);
      linear_ = SUNLinSol_Dense(y_, matrix_, context_);
      check(CVodeSetLinearSolver(memory_, linear_, matrix_), "CVodeSetLinearSolver");
      check(CVodeSetProjFn(memory_, project), "CVodeSetProjFn");
    } else {
      nonlinear_ = SUNNonlinSol_FixedPoint(y_, 0, context_);
      check(CVodeSetNonlinearSolver(memory_, nonlinear_), "CVodeSetNonlinearSolver");
    }
    again_ = false;
    failures_ = 0;
  }

  void step(double end) override {
    if (again_) {
      write(now_, y_);
      check(CVodeReInit(memory_, now_.t, y_), "CVodeReInit");
      again_ = false;
      failures_ = 0;
    }
    before_ = now_;
    check(CVodeSetStopTime(memory_, end), "CVodeSetStopTime");
    double t = now_.t;
    check(CVode(memory_, end, y_, &t, CV_ONE_STEP), "CVode");
    State next = now_;
    read(y_, next);
    next.t = t;
    const State off = next;
    flow_->settle(next);
    scale_.include(next.q, next.v);
    again_ = scale_.norm(next.q - off.q, next.v - off.v, next.t - before_.t) > options_.tolerance;
    (void)flow_->acceleration(next);  // so that the solver is at the end of the step
    now_ = std::move(next);
    long failures = 0, nonlinear = 0;
    CVodeGetNumErrTestFails(memory_, &failures);
    CVodeGetNumNonlinSolvConvFails(memory_, &nonlinear);
    ++steps_;
    rejected_ += std::max<long>(0, failures + nonlinear - failures_);
    failures_ = failures + nonlinear;
  }

  void at(double t, State& s) const override {
    s = now_;
    s.t = t;
    N_Vector y = N_VNew_Serial(2 * n_, context_);
    const int flag = CVodeGetDky(memory_, t, 0, y);
    if (flag == CV_SUCCESS) read(y, s);
    N_VDestroy(y);
    if (flag != CV_SUCCESS)
      Label{"integrator", name_}.fail<NotConverged>(fmt::format("it tells no state at t = {}", t), "report this");
  }

 private:
  static Cvode& self(void* user) { return *static_cast<Cvode*>(user); }
  template <class F> static int guarded(void* user, const F& f) {
    Cvode& me = self(user);
    try {
      f(me);
      return 0;
    } catch (const Error&) {  // perhaps only because the step was long
      me.error_ = std::current_exception();
      return 1;
    } catch (...) {
      me.error_ = std::current_exception();
      return -1;
    }
  }
  static int right_hand_side(double t, N_Vector y, N_Vector dy, void* user) {
    return guarded(user, [&](Cvode& me) {
      me.at_.t = t;
      me.read(y, me.at_);
      const VectorXd& a = me.flow_->acceleration(me.at_);
      double* out = N_VGetArrayPointer(dy);
      Eigen::Map<VectorXd>(out, me.n_) = me.at_.v;
      Eigen::Map<VectorXd>(out + me.n_, me.n_) = a;
    });
  }
  static int weights(N_Vector y, N_Vector w, void* user) {
    return guarded(user, [&](Cvode& me) {
      State s = me.now_;
      me.read(y, s);
      me.scale_.include(s.q, s.v);
      double* out = N_VGetArrayPointer(w);
      const auto [q, v] = me.scale_.sizes();
      Eigen::Map<VectorXd>(out, me.n_) = (me.options_.tolerance * q).cwiseInverse();
      Eigen::Map<VectorXd>(out + me.n_, me.n_) = (me.options_.tolerance * v).cwiseInverse();
    });
  }
  // corr: what is to be added; err: the error estimate, from which the part off the constraints is taken away.
  static int project(double t, N_Vector y, N_Vector corr, double, N_Vector err, void* user) {
    return guarded(user, [&](Cvode& me) {
      State s = me.now_;
      s.t = t;
      me.read(y, s);
      State on = s;
      me.flow_->settle(on);
      double* out = N_VGetArrayPointer(corr);
      Eigen::Map<VectorXd>(out, me.n_) = on.q - s.q;
      Eigen::Map<VectorXd>(out + me.n_, me.n_) = on.v - s.v;
      if (!err) return;
      State moved = on;
      const double* e = N_VGetArrayPointer(err);
      moved.q += Eigen::Map<const VectorXd>(e, me.n_);
      moved.v += Eigen::Map<const VectorXd>(e + me.n_, me.n_);
      me.flow_->settle(moved);
      double* to = N_VGetArrayPointer(err);
      Eigen::Map<VectorXd>(to, me.n_) = moved.q - on.q;
      Eigen::Map<VectorXd>(to + me.n_, me.n_) = moved.v - on.v;
    });
  }
  static void keep_message(int, const char*, const char*, char* text, void* user) { self(user).message_ = text; }

  void check(int flag, const char* what) {
    if (flag >= 0) {
      error_ = nullptr;
      return;
    }
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    Label{"integrator", name_}.fail<NotConverged>(
        fmt::format("{} failed at t = {}: {}", what, now_.t,
                    message_.empty() ? fmt::format("code {}", flag) : message_),
        "raise the tolerance, or take another integrator");
  }
  void read(N_Vector y, State& s) const {
    const double* x = N_VGetArrayPointer(y);
    s.q = Eigen::Map<const VectorXd>(x, n_);
    s.v = Eigen::Map<const VectorXd>(x + n_, n_);
  }
  void write(const State& s, N_Vector y) const {
    double* x = N_VGetArrayPointer(y);
    Eigen::Map<VectorXd>(x, n_) = s.q;
    Eigen::Map<VectorXd>(x + n_, n_) = s.v;
  }
  void release() {
    if (memory_) CVodeFree(&memory_);
    if (linear_) SUNLinSolFree(linear_);
    if (matrix_) SUNMatDestroy(matrix_);
    if (nonlinear_) SUNNonlinSolFree(nonlinear_);
    if (y_) N_VDestroy(y_);
    memory_ = nullptr, linear_ = nullptr, matrix_ = nullptr, nonlinear_ = nullptr, y_ = nullptr;
  }

  std::string name_, message_;
  StepOptions options_;
  Flow* flow_ = nullptr;
  ErrorScale scale_;
  State at_;
  Index n_ = 0;
  long failures_ = 0;   // failures that were counted
  bool again_ = false;  // begin anew from now_
  std::exception_ptr error_;
  SUNContext context_ = nullptr;
  void* memory_ = nullptr;
  N_Vector y_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver linear_ = nullptr;
  SUNNonlinearSolver nonlinear_ = nullptr;
};

}  // namespace

bool has_cvode() { return true; }
std::unique_ptr<Stepper> make_cvode(const std::string& name, const StepOptions& options) {
  return std::make_unique<Cvode>(name, options);
}

}  // namespace mortise

#else

namespace mortise {

bool has_cvode() { return false; }
std::unique_ptr<Stepper> make_cvode(const std::string&, const StepOptions&) { return nullptr; }

}  // namespace mortise

#endif
