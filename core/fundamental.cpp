#include <mortise/core/fundamental.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mortise/core/decompositions.h>
#include <mortise/core/scaling.h>
#include <mortise/core/tolerances.h>

namespace mortise {
namespace {

using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

// One evaluation of a form, in scaled coordinates:  M x = Q + C + A' lambda,  A x = b.
struct Step {
  VectorXd x, lambda;
};
// The same refined, in the user's coordinates, with what is left of both equations.
struct Refined {
  LongVector x, lambda;
  LongVector force_residual, row_residual;  // Q + C + A' lambda - M x,  b - A x
  VectorXd unknown;                         // of x: the sum of all corrections that the form would make of these
};

// The system in scaled coordinates: M_s = D M D, A_s = T A D, ...
struct Scaled {
  LongMatrix M_given, A_given;  // the user's
  LongVector Q_given, C_given, b_given;
  Scaling scale;
  Rank rank;
  MatrixXd M, A;
  VectorXd Q, b, C;
  VectorXd b_terms;         // magnitude of what b is the sum of
  MatrixXd A_plus, P_row;   // A+ and A+A
  std::vector<int> blocks;  // sizes: bodies

  explicit Scaled(const Equations& e) : Scaled(e, numerical_rank(e)) {}
  Scaled(const Equations& e, Rank known) : rank(std::move(known)) {
    const Index n = rank.n;
    if (n != e.M.rows() || rank.m != e.A.rows()) {
      require_valid(e);
      Label{"rank", ""}.fail<WrongSize>(fmt::format("it is of {} rows and {} coordinates", rank.m, n),
                                        "give the rank of these equations");
    }
    C = e.C.size() ? e.C : VectorXd::Zero(n);
    blocks = e.blocks.empty() ? std::vector<int>{static_cast<int>(n)} : e.blocks;
    M_given = e.M.cast<long double>();
    A_given = e.A.cast<long double>();
    Q_given = e.Q.cast<long double>();
    C_given = C.cast<long double>();
    b_given = e.b.cast<long double>();
    scale = scaling(e.M.diagonal(), e.A, e.groups.empty() ? separate_groups(n) : e.groups,
                    e.Q.cwiseAbs() + C.cwiseAbs(), e.b);
    M = scale.d.asDiagonal() * e.M * scale.d.asDiagonal();
    A = scale.t.asDiagonal() * e.A * scale.d.asDiagonal();
    Q = scale.d.cwiseProduct(e.Q);
    b = scale.t.cwiseProduct(e.b);
    b_terms = b.cwiseAbs();
    if (e.b_size.size()) b_terms = b_terms.cwiseMax(scale.t.cwiseProduct(e.b_size));
    C = scale.d.cwiseProduct(C);
    const Svd svd(A);
    A_plus = svd.pseudo_inverse(rank.rank_A);
    P_row = svd.row_space(rank.rank_A) * svd.row_space(rank.rank_A).transpose();
  }

  Index n() const { return M.rows(); }
  MatrixXd identity() const { return MatrixXd::Identity(n(), n()); }

  // Back to the user's coordinates.
  VectorXd acceleration(const VectorXd& x) const { return scale.d.cwiseProduct(x); }
  VectorXd force(const VectorXd& f) const { return f.cwiseQuotient(scale.d); }

  // A form in doubles, refined on the residuals of  M q'' = Q + C + A' lambda,  A q'' = b:  the form itself maps what
  // is left of them to a correction.  Residuals and sums are in long double, in the user's coordinates, where no entry
  // is rounded by scaling.  So each body is right to round-off of its own terms, also a light one among heavy ones, as
  // long as the form gains at all: kappa eps < 1.
  template <class Form>
  Refined refined(const Form& form, const Step& first, const LongVector& force, const LongVector& rows) const {
    constexpr int rounds = 20;
    constexpr double slowest = 1e-6;  // convergence that can be told from none
    const LongVector d = scale.d.cast<long double>(), t = scale.t.cast<long double>();
    LongVector x = first.x.cast<long double>(), lambda = first.lambda.cast<long double>();  // scaled
    Refined r;
    const auto set = [&] {
      r.x = d.cwiseProduct(x);
      r.lambda = t.cwiseProduct(lambda);
      r.force_residual = force + A_given.transpose() * r.lambda - M_given * r.x;
      r.row_residual = rows - A_given * r.x;
    };
    set();
    long double last = std::numeric_limits<long double>::infinity();
    VectorXd before;
    for (int round = 0; round < rounds; ++round) {
      const Step step = form(VectorXd(d.cwiseProduct(r.force_residual).template cast<double>()),
                             VectorXd(t.cwiseProduct(r.row_residual).template cast<double>()));
      const long double length = std::hypot(step.x.norm(), step.lambda.norm());
      // A geometric series: where a correction is the last one again the form does not answer what is left.
      const double again = before.size() ? std::max(0.0, step.x.dot(before) / before.squaredNorm()) : 0;
      r.unknown = scale.d.cwiseProduct(step.x) / std::max(slowest, 1 - again);
      before = step.x;
      if (!(length < 0.5L * last)) break;  // it no longer gains
      x += step.x.cast<long double>();
      lambda += step.lambda.cast<long double>();
      set();
      last = length;
      if (length <= tolerance::long_round_off * std::hypot(x.norm(), lambda.norm())) break;
    }
    return r;
  }
  template <class Form> Refined refined(const Form& form) const {
    return refined(form, form(VectorXd(Q + C), b), Q_given + C_given, b_given);
  }

  // nonideal: M times the motion that C alone brings about.
  template <class Form> Motion motion(const Form& form, const Refined& r) const {
    Motion out;
    out.a = r.x.template cast<double>();
    out.lambda = r.lambda.template cast<double>();
    out.Qc = (C_given + A_given.transpose() * r.lambda).template cast<double>();
    out.Qc_nonideal = VectorXd::Zero(n());
    if (!C.isZero(0)) {
      const VectorXd none = VectorXd::Zero(rank.m);
      const Refined c = refined(form, form(C, none), C_given, none.cast<long double>());
      out.Qc_nonideal = (M_given * c.x).template cast<double>();
    }
    out.Qc_ideal = out.Qc - out.Qc_nonideal;
    return out;
  }

  void require_consistent() const {
    if (rank.consistent()) return;
    double gap = 0;
    for (const RowSet& set : rank.redundant) gap = std::max(gap, set.consistent ? 0 : set.gap);
    Label{"rows", "A q'' = b"}.fail<NoMotion>(
        fmt::format("contradict each other by {:.4g}, more than {:.0e} of their terms", gap, rank.options.conflict),
        "remove or correct the conflicting rows, or weigh them by weighted_least_squares");
  }
  // A q'' = b and M q'' = Q + Qc, component by component against the terms they are the sum of; the forces as a whole
  // count for the round-off they leave.
  void require_solved(const Refined& r) const {
    const double tolerance = rank.options.conflict;
    require_consistent();
    const VectorXd x = r.x.cast<double>().cwiseQuotient(scale.d);
    const VectorXd Qc = C + A.transpose() * r.lambda.cast<double>().cwiseQuotient(scale.t);
    const double forces = n() ? (Q.cwiseAbs() + C.cwiseAbs() + (M * x).cwiseAbs()).maxCoeff() : 0;
    const auto check = [&](const VectorXd& residual, const VectorXd& terms, const char* name) {
      for (Index i = 0; i < residual.size(); ++i)
        if (const double allowed = tolerance * terms[i] + tolerance::forms_solved * forces;
            !(std::abs(residual[i]) <= allowed))
          Label{"equations", name}.fail<NoMotion>(
              fmt::format("are not met in component {}: scaled residual {:.1e} > {:.1e}", i, std::abs(residual[i]),
                          allowed),
              "the system is too badly conditioned for double precision; check its rank, masses and units");
    };
    check(r.row_residual.cast<double>().cwiseProduct(scale.t), A.cwiseAbs() * x.cwiseAbs() + b_terms, "A q'' = b");
    check(r.force_residual.cast<double>().cwiseProduct(scale.d),
          M.cwiseAbs() * x.cwiseAbs() + Q.cwiseAbs() + Qc.cwiseAbs(), "M q'' = Q + Qc");
    require_known(r);
  }
  // Small residuals do not make small errors.  What the form still makes of them is one, for each body against its own
  // acceleration, or `still` of the largest and of what the forces would do to free bodies.
  void require_known(const Refined& r) const {
    if (n() == 0) return;
    const VectorXd a = r.x.cast<double>().cwiseAbs(),
                   free = scale.d.cwiseProduct(Q.cwiseAbs() + C.cwiseAbs()).cwiseMax(a);
    Index i = 0;
    for (const int size : blocks) {
      if (size > 0) {
        const double unknown = r.unknown.segment(i, size).cwiseAbs().maxCoeff(),
                     whole = a.segment(i, size).maxCoeff() + tolerance::still * free.maxCoeff();
        if (!(unknown <= tolerance::forms_known * whole))
          Label{"equations", "M q'' = Q + Qc, A q'' = b"}.fail<NoMotion>(
              fmt::format("do not tell the accelerations of coordinates {} to {}: {:.1e} of them is not known", i,
                          i + size - 1, unknown / whole),
              "the system is too badly conditioned for double precision; check its rank, masses and units");
      }
      i += size;
    }
  }
  void require_determined() const {
    if (!rank.determined())
      Label{"matrix", "[M; A]"}.fail<NotDetermined>(
          fmt::format("has rank {} of {} (balanced singular value {:.1e} <= {:.0e})", rank.rank_MA, rank.n,
                      *rank.dropped, rank.options.determined),
          "add mass or rows, or ask udwadia_phohomsiri for the family of motions");
  }
  SquareRoot root_of_M(const char* form) const {
    SquareRoot root(M);
    const double tolerance = 64 * static_cast<double>(n()) * tolerance::eps;
    if (rank.rank_M < n() || root.smallest <= tolerance * root.largest)
      Label{"matrix", "M"}.fail<SingularMass>(
          fmt::format("is singular: rank {} of {}, but {} needs M > 0", rank.rank_M, n(), form),
          "use udwadia_schutte, udwadia_mogharabin or udwadia_phohomsiri");
    return root;
  }
};

double require_alpha_squared(const Equations& e, const Augmentation& augmentation) {
  const double alpha2 = augmentation.alpha * augmentation.alpha;
  if (!(alpha2 > 0) || !std::isfinite(alpha2))
    Label{"number", "alpha"}.fail<InvalidModel>(fmt::format("is {}", augmentation.alpha), "give a finite alpha != 0");
  if (augmentation.z.size() != 0 && augmentation.z.size() != e.A.rows())
    Label{"vector", "z"}.fail<WrongSize>(fmt::format("has {} entries", augmentation.z.size()),
                                         fmt::format("give {} (one per row of A), or none", e.A.rows()));
  if (!augmentation.z.allFinite())
    Label{"vector", "z"}.fail<NonFinite>("has an entry that is NaN or Inf", "give finite numbers");
  return alpha2;
}

}  // namespace

Motion udwadia_kalaba(const Equations& e) {
  const Scaled s(e);
  const auto M = s.root_of_M("udwadia_kalaba");
  const MatrixXd B = s.A * M.inverse_root, B_plus = Svd(B).pseudo_inverse(s.rank.rank_A);
  // x = a + M^-1/2 B+ (b - A a) + M^-1/2 (I - B+B) M^-1/2 C;  that is linear in Q + C but for the split of Qc, since
  // M^-1/2 (I - B+B) M^-1/2 acts on both.  M^1/2 B+ = A' B+' B+ gives lambda.
  const auto form = [&](const VectorXd& force, const VectorXd& b) -> Step {
    const VectorXd a = M.inverse_root * force, w = B_plus * (b - B * a);
    return {M.inverse_root * (a + w), B_plus.transpose() * w};
  };
  const Refined r = s.refined(form);
  s.require_solved(r);
  return s.motion(form, r);
}

Motion extended_dalembert(const Equations& e) {
  const Scaled s(e);
  const auto M = s.root_of_M("extended_dalembert");
  const MatrixXd B = s.A * M.inverse_root, V = Svd(B).null_space(s.rank.rank_A);
  // J = (B'B + VV')^-1 = (L'L)^-1 with L = [B; V'].  J L' = L+ by QR does not square the condition of B.
  const Index n = s.n(), m = s.rank.m;
  MatrixXd L(m + V.cols(), n);
  L << B, V.transpose();
  const MatrixXd L_plus = n > 0 ? PivotedQr(L).solve(MatrixXd::Identity(L.rows(), L.rows())) : MatrixXd(0, L.rows());
  const auto form = [&](const VectorXd& force, const VectorXd& b) -> Step {
    const VectorXd as = M.inverse_root * force;
    VectorXd right(L.rows());
    right << b, V.transpose() * as;
    // Qc - C = M^1/2 (y - as) = M^1/2 B' lambda,  lambda = B J (y - as)                            [UKH97, Eq. 21]
    const VectorXd y = L_plus * right;  // J [B'b + VV' as]
    return {M.inverse_root * y, (L_plus.transpose() * (y - as)).head(m)};
  };
  const Refined r = s.refined(form);
  s.require_solved(r);
  return s.motion(form, r);
}

Compromise weighted_least_squares(const Equations& e, const MatrixXd& W) {
  const Scaled s(e);
  const Index n = s.n(), m = s.rank.m;
  const auto M = s.root_of_M("weighted_least_squares");
  if (e.C.size() > 0 && !e.C.isZero(0))
    Label{"vector", "C"}.fail<InvalidModel>(fmt::format("is not zero (largest entry {})", e.C.cwiseAbs().maxCoeff()),
                                            "weighted_least_squares knows ideal constraints only; leave C empty");
  const Label label{"weights", "W"};
  if (W.rows() != m || W.cols() != m)
    label.fail<WrongSize>(fmt::format("is {} x {}", W.rows(), W.cols()), fmt::format("give a {} x {} matrix", m, m));
  if (!W.allFinite()) label.fail<NonFinite>("has an entry that is NaN or Inf", "give finite weights");
  if (const double skew = m > 0 ? (W - W.transpose()).cwiseAbs().maxCoeff() : 0; skew > 1e-12 * W.cwiseAbs().sum())
    label.fail<InvalidModel>(fmt::format("is not symmetric: entries differ by {}", skew), "give a symmetric matrix");
  MatrixXd W_root = W;  // a Cholesky factor: |W^1/2 (L r - s)| is minimised
  if (m > 0) {
    const Cholesky cholesky(W);
    if (!cholesky.positive()) label.fail<InvalidModel>("is not positive definite", "every weight must be > 0");
    W_root = cholesky.upper();
  }

  // Coordinates are scaled; the rows stay in the user's units, to which the weights belong.
  const MatrixXd B = s.A * M.inverse_root, V = Svd(B).null_space(s.rank.rank_A);
  const Index k = V.cols();
  MatrixXd L = MatrixXd::Zero(n + m + k, 2 * n);
  VectorXd rhs = VectorXd::Zero(n + m + k);
  L.topLeftCorner(n, n).setIdentity();
  L.topRightCorner(n, n) = -MatrixXd::Identity(n, n);
  L.bottomRightCorner(k, n) = V.transpose();
  rhs.head(n) = M.inverse_root * s.Q;
  if (m > 0) {
    L.block(n, 0, m, n) = W_root * s.scale.t.cwiseInverse().asDiagonal() * B;
    rhs.segment(n, m) = W_root * e.b;
  }
  const VectorXd r = n > 0 ? PivotedQr(L).solve(rhs) : VectorXd();
  const VectorXd a = s.acceleration(M.inverse_root * r.head(n));
  return {a, s.force(M.root * r.tail(n)), e.b - e.A * a};
}

VectorXd Family::member(const VectorXd& eta) const {
  if (eta.size() != N.rows())
    Label{"vector", "eta"}.fail<WrongSize>(fmt::format("has {} entries", eta.size()),
                                           fmt::format("give {}, one per coordinate", N.rows()));
  return smallest.a + N * (N.transpose() * eta);
}

Family udwadia_phohomsiri(const Equations& e) { return udwadia_phohomsiri(e, numerical_rank(e)); }

Family udwadia_phohomsiri(const Equations& e, const Rank& rank) {
  const Scaled s(e, rank);
  const Index n = s.n(), m = s.rank.m;
  const MatrixXd P = s.identity() - s.P_row;
  MatrixXd Mbar(n + m, n);
  Mbar << P * s.M, s.A;
  const MatrixXd Mbar_plus = Svd(Mbar).pseudo_inverse(s.rank.rank_MA);
  const auto form = [&](const VectorXd& force, const VectorXd& b) -> Step {
    VectorXd right(n + m);
    right << P * force, b;  // (I - A+A) force: what it leaves out, Mbar+ maps to 0
    const VectorXd x = Mbar_plus * right;
    return {x, s.A_plus.transpose() * (s.M * x - force)};
  };
  s.require_consistent();
  const Refined r = s.refined(form);

  // Is Eq. 2.12 satisfied?  Its upper rows:  (I - A+A)(M x - Q - C) = 0.
  const VectorXd x = r.x.cast<double>().cwiseQuotient(s.scale.d), f = s.Q + s.C;
  const double size = s.Q.norm() + s.C.norm() + (s.M * x).norm(), conflict = s.rank.options.conflict;
  const double residual = size > 0 ? (P * (s.M * x - f)).norm() / size : 0;
  if (!(residual <= conflict))
    Label{"equations", "M q'' = Q + Qc"}.fail<NoMotion>(
        fmt::format("a force acts along a massless direction that no row holds: scaled residual {:.1e} > {:.0e}",
                    residual, conflict),
        "give that direction mass, hold it by a row, or remove the force");
  s.require_solved(r);

  // Least |q''| in the user's coordinates: take out what lies in null [M; A].
  // Twice, for orthogonality.
  Family family;
  family.N = s.rank.N;
  for (int pass = 0; pass < 2; ++pass) orthonormalise(family.N);
  family.smallest = s.motion(form, r);
  family.smallest.a -= family.N * (family.N.transpose() * family.smallest.a);
  return family;
}

Motion udwadia_schutte(const Equations& e, const Augmentation& augmentation) {
  return udwadia_schutte(e, augmentation, numerical_rank(e));
}

Motion udwadia_schutte(const Equations& e, const Augmentation& augmentation, const Rank& rank) {
  const double alpha2 = require_alpha_squared(e, augmentation);
  const Scaled s(e, rank);
  s.require_determined();
  const SquareRoot MA(s.M + alpha2 * s.P_row);
  if (!(MA.smallest > 0))
    Label{"matrix", "M_A"}.fail<NotDetermined>(
        fmt::format("M + alpha^2 A+A is not positive definite in double precision: smallest eigenvalue {:.1e}",
                    MA.smallest),
        "the masses differ too widely for this form");
  const MatrixXd B = s.A * MA.inverse_root, B_plus = Svd(B).pseudo_inverse(s.rank.rank_A);
  // a_Az = M_A^-1 (Q + A+z),  x = a_Az + M_A^-1/2 B+ (b - A a_Az) + M_A^-1/2 (I - B+B) M_A^-1/2 C   (Eq. 49-52);
  // the auxiliary system's multipliers become ours by Eq. 71:  Qc = Qc_Az + A+ (z - alpha^2 b),  A+ = A' A+' A+.
  const auto with = [&](const VectorXd& force, const VectorXd& b, const VectorXd& z) -> Step {
    const VectorXd Az = s.A_plus * z, a = MA.inverse_root * (force + Az), w = B_plus * (b - B * a);
    return {MA.inverse_root * (a + w), B_plus.transpose() * w + s.A_plus.transpose() * (Az - alpha2 * (s.A_plus * b))};
  };
  const auto form = [&](const VectorXd& force, const VectorXd& b) { return with(force, b, alpha2 * b); };
  const VectorXd z = augmentation.z.size() ? VectorXd(s.scale.t.cwiseProduct(augmentation.z)) : alpha2 * s.b;
  const Refined r = s.refined(form, with(s.Q + s.C, s.b, z), s.Q_given + s.C_given, s.b_given);
  s.require_solved(r);
  return s.motion(form, r);
}

Augmented augmented(const Equations& e, const Augmentation& augmentation) {
  const double alpha2 = require_alpha_squared(e, augmentation);
  const Scaled s(e);
  // range(A') in the user's coordinates is D^-1 range(A_s'), made orthonormal: A+A = V V', A+ = V (A V)+.
  const MatrixXd rows = s.scale.d.cwiseInverse().asDiagonal() * Svd(s.A).row_space(s.rank.rank_A);
  const MatrixXd V = rows.cols() ? PivotedQr(rows).basis(rows.cols()) : rows;
  Augmented out;
  out.alpha = augmentation.alpha;
  out.z = augmentation.z.size() ? augmentation.z : VectorXd(alpha2 * e.b);
  out.M_A = e.M + alpha2 * V * V.transpose();
  out.Q_z = e.Q;
  out.A_plus_b = VectorXd::Zero(s.n());
  if (V.cols() > 0) {
    const PivotedQr AV(e.A * V);
    out.Q_z += V * AV.solve(out.z);
    out.A_plus_b = V * AV.solve(e.b);
  }
  if (s.n() == 0) return out;
  const VectorXd d = (out.M_A.diagonal().array() > 0).select(out.M_A.diagonal(), 1).cwiseSqrt().cwiseInverse();
  out.smallest = SymmetricEigen(d.asDiagonal() * out.M_A * d.asDiagonal()).values[0];
  return out;
}

ProjectedMotion udwadia_mogharabin(const Equations& e) {
  const Scaled s(e);
  s.require_determined();
  const MatrixXd V2 = Svd(s.A).null_space(s.rank.rank_A);
  // M_s+ = V2 (V2' M V2)^-1 V2'
  const Ldlt reduced(V2.transpose() * s.M * V2);
  const auto Ms_plus = [&](const VectorXd& f) -> VectorXd {
    return V2.cols() ? VectorXd(V2 * reduced.solve(V2.transpose() * f)) : VectorXd::Zero(s.n());
  };
  const auto form = [&](const VectorXd& force, const VectorXd& b) -> Step {
    const VectorXd held = s.A_plus * b, Delta = force - s.M * held, moved = Ms_plus(Delta);
    return {moved + held, s.A_plus.transpose() * (s.M * moved - Delta)};  // A' lambda = (M M_s+ - I) Delta
  };
  const Refined r = s.refined(form);
  s.require_solved(r);
  ProjectedMotion p;
  static_cast<Motion&>(p) = s.motion(form, r);

  // null(A) in the user's coordinates is D null(A_s), made orthonormal.
  const MatrixXd N = s.scale.d.asDiagonal() * V2;
  const VectorXd C = e.C.size() ? e.C : VectorXd::Zero(s.n());
  const MatrixXd basis = N.cols() ? PivotedQr(N).basis(N.cols()) : N;
  p.a_null = basis * (basis.transpose() * p.a);
  p.a_complement = p.a - p.a_null;
  p.Qc_null = basis * (basis.transpose() * C);  // (I - A+A) C, Eq. 34
  p.Qc_complement = p.Qc - p.Qc_null;
  return p;
}

}  // namespace mortise
