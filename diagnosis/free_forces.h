#pragma once
// FreeForces: the forces along the free directions of some bodies without mass, and all their derivatives, exactly.
//
//   B = [M; A],   N = null(B),   h(q, v, t) = N'(Q + C)
//
// The bodies are those that can take part in a free direction; B has their columns only.  With f free directions,
// B_pd, regular, is made of rows p and columns d of B, and N = [-B_pd^-1 B_pf; I] on (d, the others).  This N can be
// differentiated, a basis from an SVD cannot.  It never is: with mu = B_pd^-T (Q + C)_d,
//
//   r = Q + C - B_p' mu  is 0 on d and h on the others, so that  h = N'r  with N held fixed, and
//   dh = N'(dQ + dC - dB_p' mu),   h'' = N'(Q'' + C'' - B_p''' mu - 2 B_p'' mu')   (' of B_p' is its transpose)
//
// Where h depends on velocities along r of the free directions, r rows of h are velocity-level: psi = h_R.  The others
// are position-level:  phi = h_F - D_F D_R^-1 h_R,  D = dh/dv Z with Z fixed, in which the velocities cancel.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mortise/assembly/system.h>
#include <mortise/core/decompositions.h>
#include <mortise/core/scaling.h>

#pragma GCC visibility push(hidden)
namespace mortise {

class FreeForces {
 public:
  // Numbers of parts in a system.
  struct Selection {
    std::vector<std::size_t> massless;             // bodies, each once
    std::vector<std::size_t> constraints, forces;  // all that touch them, without implied rows
    bool completed = false;                        // there are implied rows on them
    std::vector<Index> held = {};                  // coordinates of massless bodies, taken as if a row held each
  };
  FreeForces(const System& system, const Selection& parts);

  Index size() const { return n_; }                                       // coordinates of all bodies
  Index massless_size() const { return ns_; }                             // of the massless ones, which come first
  const std::vector<std::size_t>& bodies() const { return in_system_; }   // numbers in the system
  const std::vector<std::string>& coordinates() const { return names_; }  // their names
  std::vector<Index> firsts() const;                                      // in the system
  State local(const State& s, Firsts first) const;
  const std::vector<std::shared_ptr<const BodyModel>>& models() const { return models_; }
  Index first(std::size_t body) const { return first_[body]; }

  // Names of parts whose force cannot be differentiated, or depends on reactions.
  std::vector<std::string> without_derivatives() const;
  std::vector<std::string> reacting() const;

  // All numbers at one state; sizes are sums of the parts' absolute values, for judging what is round-off.
  struct Part {
    std::string name;
    std::vector<Index> coordinates;  // that the rows and columns stand for; one may stand there twice
    VectorXd F;
    MatrixXd Fq, Fv;
  };
  struct Numbers {
    MatrixXd B, M, A;  // B = [M; A]
    VectorXd F, F_size;
    MatrixXd Fq, Fv, Fq_size, Fv_size;
    std::vector<Part> parts;
  };
  Numbers numbers(const State& x) const;

  // Equations of the massless bodies alone, for their rank.
  Equations equations(const State& x, const Numbers& e) const;

  struct Pivots {
    std::vector<Index> rows, columns, free;  // of B
  };
  struct Basis {
    Pivots p;
    Lu lu;                                          // of B_pd
    MatrixXd N;                                     // ns x f
    VectorXd multipliers(const VectorXd& F) const;  // mu, by rows of B
  };
  // Pivots for f free directions, chosen at x; scaled coordinates make the choice independent of units.
  Pivots pivots(const Numbers& e, const Scaling& scale, Index f) const;
  Basis basis(const Numbers& e, const Pivots& p) const;

  // h and its slopes over all coordinates; sizes as above.
  struct Slopes {
    VectorXd h, h_size;
    MatrixXd dq, dv, dq_size, dv_size;  // f x n
  };
  Slopes slopes(const State& x, const Numbers& e, const Basis& basis) const;
  // What is not larger is no force, but round-off of those of the whole model.
  void ignore(double noise) { noise_ = noise; }

  // h, h' and h'' along q + s v, v, t + s; the columns of Z, directions of v, give the same of dh/dv Z.
  struct Course {
    VectorXd h[3];
    MatrixXd D[3];
  };
  Course course(const State& x, const Basis& basis, const MatrixXd& Z) const;

  // d/dq of h - dh/dv w for a fixed w, over all coordinates.
  MatrixXd dq_shifted(const State& x, const Numbers& e, const Basis& basis, const VectorXd& w) const;

 private:
  template <class Model> struct Attached {
    std::string name;
    std::shared_ptr<const Model> model;
    std::vector<std::size_t> bodies;  // here
    std::vector<Index> firsts;        // here
    Index row = 0, rows = 0, holonomic = 0;
    std::vector<Index> coordinates = {};  // that it touches, each once
  };
  using Joint = Attached<ConstraintModel>;

  TaylorState still(const State& x) const;
  TaylorVector forces(const TaylorState& x) const;
  // N' d(B'mu)/dq and /dv, for mu by rows of B.
  // The sizes are sums of absolute values, as far as they are asked for.
  struct Bend {
    MatrixXd dq, dv, dq_size, dv_size;
  };
  Bend bend(const State& x, const MatrixXd& N, const VectorXd& mu, bool sizes) const;
  // Rows of a joint for the state `moving`, varied along the entries of e at its coordinates: in q for holonomic rows,
  // in v for the others.
  void vary(const Joint& joint, TaylorState& moving, const VectorXd& e, TaylorVector& rows) const;

  Vec3<double> gravity_;
  double noise_ = 0;
  Index n_ = 0, ns_ = 0, m_ = 0;
  std::size_t massless_ = 0;  // the first bodies
  std::vector<std::size_t> in_system_;
  std::vector<std::shared_ptr<const BodyModel>> models_;
  std::vector<std::string> body_names_, names_;
  std::vector<Index> first_, size_, in_state_;
  std::vector<Joint> joints_;
  std::vector<Index> held_;  // their rows are the last of A
  std::vector<Attached<ForceModel>> forces_;
};

// The groups of massless bodies with free directions.  A free direction stays within massless bodies that joints
// connect; forces couple the directions of one group.
std::vector<FreeForces::Selection> free_groups(const System& system, const State& s, const RankOptions& options);

}  // namespace mortise
#pragma GCC visibility pop
