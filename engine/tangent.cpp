#include <mortise/engine/tangent.h>

#include <algorithm>

namespace mortise {

Tangent tangent(const System& system, const Evaluation& e, const VectorXd& a, const VectorXd& lambda) {
  const State& s = e.state;
  const auto& bodies = system.bodies();
  Tangent out;
  const auto add = [](Tangent::Entries& to, Index row, Index column, const auto& block, double sign) {
    for (Index j = 0; j < block.cols(); ++j)
      for (Index i = 0; i < block.rows(); ++i) to.emplace_back(row + i, column + j, sign * block(i, j));
  };
  // What is stacked over the bodies of a part, spread over the coordinates.
  const auto spread = [&](const MatrixXd& part, const std::vector<std::size_t>& on, Tangent::Entries& to, double sign) {
    Index row = 0;
    for (const std::size_t i : on) {
      Index column = 0;
      for (const std::size_t j : on) {
        add(to, bodies[i].first, bodies[j].first, part.block(row, column, bodies[i].size, bodies[j].size), sign);
        column += bodies[j].size;
      }
      row += bodies[i].size;
    }
  };
  const auto require =
      [](const auto& slopes, const char* kind, const std::string& name, const char* what) -> const auto& {
    if (!slopes)
      Label{kind, name}.fail<NoDerivative>(
          fmt::format("its {} is written for double only, so it has no derivatives", what),
          "write it as a template on the scalar (a generic lambda), or choose an explicit integrator");
    return *slopes;
  };
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto& b = bodies[i];
    add(out.M, b.first, b.first, e.M(i), 1);
    const auto mass = b.model->mass_slopes(s, b.first, a.segment(b.first, b.size));
    const auto force = b.model->force_slopes(s, b.first);
    add(out.force_dq, b.first, b.first, require(mass, "body", b.name, "mass matrix"), 1);
    add(out.force_dq, b.first, b.first, require(force, "body", b.name, "force").dq, -1);
    add(out.force_dv, b.first, b.first, force->dv, -1);
    add(out.force_dq, b.first, b.first, b.model->gravity_slopes(s, b.first, system.gravity()), -1);
  }
  for (const auto& f : system.forces()) {
    const auto slopes = f.model->slopes(s, system.firsts(f.bodies));
    spread(require(slopes, "force", f.name, "act").dq, f.bodies, out.force_dq, -1);
    spread(slopes->dv, f.bodies, out.force_dv, -1);
  }
  for (std::size_t k = 0; k < system.constraints().size(); ++k) {
    const auto& c = system.constraints()[k];
    if (std::binary_search(s.off.begin(), s.off.end(), k)) continue;
    if (c.model->reacts())
      Label{"joint", c.name}.fail<NoDerivative>("its law needs its own reaction, so it has no derivatives",
                                                "choose an explicit integrator");
    const std::vector<Index> firsts = system.firsts(c.bodies);
    const ConstraintModel::RowSlopes slopes = c.model->slopes(s, firsts, lambda.data() + c.row);
    spread(slopes.force_dq, c.bodies, out.force_dq, -1);
    if (c.holonomic < c.rows) spread(slopes.force_dv, c.bodies, out.force_dv, -1);
    Index column = 0;
    for (std::size_t i = 0; i < c.bodies.size(); ++i) {
      const auto& b = bodies[c.bodies[i]];
      add(out.A, c.row, b.first, e.A(c.block + i), 1);
      add(out.rows_dq, c.row, b.first, slopes.value_dq.middleCols(column, b.size), 1);
      column += b.size;
    }
    if (c.model->ideal()) continue;
    const auto law = c.model->nonideal_slopes(s, firsts);
    spread(require(law, "joint", c.name, "non-ideal law").dq, c.bodies, out.force_dq, -1);
    spread(law->dv, c.bodies, out.force_dv, -1);
  }
  return out;
}

}  // namespace mortise
