// System::fixed: the numbers of an evaluation as a system.

#include <mortise/assembly/body_of.h>
#include <mortise/assembly/plain_constraint.h>
#include <mortise/assembly/system.h>

namespace mortise {
namespace {

struct FixedBody {
  static constexpr bool constant_mass = true;
  std::vector<std::string> coordinates, units;
  std::vector<int> groups;
  MatrixXd M;

  MatrixXd mass_matrix(const VectorXd&, double) const { return M; }
  VectorXd force(const VectorXd& q, const VectorXd&, double) const { return VectorXd::Zero(q.size()); }
};

// Rows A q'' = b of given numbers on such bodies.
class FixedRows final : public PlainConstraint {
 public:
  FixedRows(const ConstraintModel& was, std::vector<std::shared_ptr<const BodyModel>> bodies, std::vector<MatrixXd> A,
            VectorXd value, VectorXd b)
      : kind_(was.kind()),
        rows_(was.rows()),
        holonomic_(was.holonomic()),
        bodies_(std::move(bodies)),
        A_(std::move(A)),
        value_(std::move(value)),
        b_(std::move(b)) {}

  std::string kind() const override { return kind_; }
  std::shared_ptr<const ConstraintModel> rebound(const Label& label, BodyModels) const override {
    label.fail<InvalidModel>("its numbers are those of one evaluation", "connect a joint");
  }
  std::vector<Row> rows() const override { return rows_; }
  Index holonomic() const override { return holonomic_; }
  void evaluate(const State&, Firsts, VectorRef value, VectorRef b, std::span<Eigen::Map<MatrixXd>> A) const override {
    value = value_;
    b = b_;
    for (std::size_t k = 0; k < A_.size(); ++k) A[k] = A_[k];
  }
  void evaluate(const State&, const Places& at, double* A, double* value, double* rate, double* b) const override {
    const Index m = b_.size();
    Index columns = 0;
    for (const auto& body : bodies_) columns += body->unknowns();
    std::fill(A, A + m * columns, 0.0);
    Eigen::Map<VectorXd>(value, m) = value_;
    Eigen::Map<VectorXd>(rate, m).setZero();
    Eigen::Map<VectorXd> right(b, m);
    right = b_;
    Index column = 0;
    for (std::size_t k = 0; k < A_.size(); ++k) {
      VectorXd row, z(A_[k].cols());
      bodies_[k]->drift(at.motion[k], z.data());
      right -= A_[k] * z;
      for (Index i = 0; i < m; ++i) {
        row = A_[k].row(i).transpose();
        bodies_[k]->project(at.motion[k], row.data(), A + i * columns + column);
      }
      column += bodies_[k]->unknowns();
    }
  }
  RowSlopes slopes(const State&, Firsts, const double*) const override {
    Index n = 0;
    for (const MatrixXd& A : A_) n += A.cols();
    return {MatrixXd::Zero(n, n), MatrixXd::Zero(n, n), MatrixXd::Zero(b_.size(), n)};
  }

 private:
  std::string kind_;
  std::vector<Row> rows_;
  Index holonomic_;
  std::vector<std::shared_ptr<const BodyModel>> bodies_;
  std::vector<MatrixXd> A_;
  VectorXd value_, b_;
};

}  // namespace

System System::fixed(const Evaluation& e) const {
  require_own(e);
  System out = *this;
  out.gravity_.setZero();
  out.forces_.clear();
  out.sensors_.clear();
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodyModel& was = *bodies_[i].model;
    if (bodies_[i].size == 0) continue;
    out.bodies_[i].model = bind_body<FixedBody>(
        {"body", bodies_[i].name},
        {.coordinates = was.coordinates(), .units = was.units(), .groups = was.groups(), .M = e.M(i)});
  }
  for (ConstraintInfo& c : out.constraints_) {
    std::vector<std::shared_ptr<const BodyModel>> bodies;
    std::vector<MatrixXd> A;
    for (std::size_t k = 0; k < c.bodies.size(); ++k) {
      bodies.push_back(out.bodies_[c.bodies[k]].model);
      A.push_back(e.A(c.block + k));
    }
    c.model = std::make_shared<FixedRows>(*c.model, std::move(bodies), std::move(A), e.phi.segment(c.row, c.rows),
                                          e.b.segment(c.row, c.rows));
  }
  out.make_graph();  // without forces
  return out;
}

}  // namespace mortise
