#include <mortise/assembly/system.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <mortise/assembly/assembly.h>
#include <mortise/assembly/system_graph.h>
#include <mortise/core/memory.h>

namespace mortise {
namespace {

void require_same_gravity(const Assembly& whole, const Assembly& part, const std::string& path) {
  const Vec3<double> g = whole.gravity().value_or(Vec3<double>::Zero());
  if (part.gravity() && *part.gravity() != g)
    Label{"assembly", path}.fail<InvalidModel>(
        fmt::format("its gravity ({}, {}, {}) is not that of the whole, '{}': ({}, {}, {})", (*part.gravity())[0],
                    (*part.gravity())[1], (*part.gravity())[2], whole.name(), g[0], g[1], g[2]),
        "set the gravity of the whole; it acts on all parts");
  for (const auto& e : part.nested()) require_same_gravity(whole, e.part, path + "/" + e.name);
}

void require_number(const char* kind, Index i, Index count) {
  if (i < 0 || i >= count)
    Label{kind, std::to_string(i)}.fail<InvalidModel>(
        "there is none of this number", count ? fmt::format("give one from 0 to {}", count - 1) : "there are none");
}

// What a functor throws there is told by its part.
template <class F> void named(const char* kind, const std::string& name, const F& f) {
  try {
    f();
  } catch (...) {
    rethrow_named(kind, name);
  }
}

// One of these constraints, or a copy of one.
void require_known(const std::vector<System::ConstraintInfo>& all, const System::ConstraintInfo& c) {
  if (&c >= all.data() && &c < all.data() + all.size()) return;
  if (std::none_of(all.begin(), all.end(), [&](const System::ConstraintInfo& own) {
        return own.model == c.model && own.row == c.row && own.bodies == c.bodies;
      }))
    Label{"joint", c.name}.fail<InvalidModel>("it belongs to another system",
                                              "take it from this system's constraints()");
}

}  // namespace

System::System(const System&) = default;
System::System(System&& other) noexcept
    : name_(std::move(other.name_)),
      gravity_(other.gravity_),
      bodies_(std::move(other.bodies_)),
      places_(std::move(other.places_)),
      constraints_(std::move(other.constraints_)),
      forces_(std::move(other.forces_)),
      sensors_(std::move(other.sensors_)),
      groups_(std::move(other.groups_)),
      names_(std::move(other.names_)),
      layout_(std::move(other.layout_)),
      graph_(std::move(other.graph_)) {
  other.leave_empty();
}
System& System::operator=(const System&) = default;
System& System::operator=(System&& other) noexcept {
  if (this == &other) return *this;
  name_ = std::move(other.name_);
  gravity_ = other.gravity_;
  bodies_ = std::move(other.bodies_);
  places_ = std::move(other.places_);
  constraints_ = std::move(other.constraints_);
  forces_ = std::move(other.forces_);
  sensors_ = std::move(other.sensors_);
  groups_ = std::move(other.groups_);
  names_ = std::move(other.names_);
  layout_ = std::move(other.layout_);
  graph_ = std::move(other.graph_);
  other.leave_empty();
  return *this;
}
System::~System() = default;

namespace {
struct Nothing {
  std::shared_ptr<const CoordinateTable> names = std::make_shared<CoordinateTable>();
  std::shared_ptr<const Layout> layout = std::make_shared<Layout>();
  std::shared_ptr<const SystemGraph> graph;
};
const Nothing& nothing() {
  static const Nothing empty = [] {
    Nothing n;
    n.graph = std::make_shared<const SystemGraph>(
        std::vector<System::BodyInfo>(), std::vector<System::ConstraintInfo>(), std::vector<System::ForceInfo>());
    return n;
  }();
  return empty;
}
}  // namespace

void System::leave_empty() noexcept {
  name_.clear();
  bodies_.clear();
  places_.clear();
  constraints_.clear();
  forces_.clear();
  sensors_.clear();
  groups_.clear();
  names_ = nothing().names;
  layout_ = nothing().layout;
  graph_ = nothing().graph;
}

System::System(const Assembly& assembly) : name_(assembly.name()) {
  (void)nothing();  // made before anything is moved
  for (const auto& e : assembly.nested()) require_same_gravity(assembly, e.part, e.name);
  gravity_ = assembly.gravity().value_or(gravity_);
  std::unordered_map<std::string, std::size_t> index;
  flatten(assembly, "", index);

  auto names = std::make_shared<CoordinateTable>();
  int groups = 0;
  Index first = 0;
  for (BodyInfo& b : bodies_) {
    b.first = first;
    first += b.size;
    names->add(b.name, b.model->coordinates());
    const int base = groups;
    for (const int g : b.model->groups()) {
      groups_.push_back(base + g);
      groups = std::max(groups, base + g + 1);
    }
  }
  names->finish();
  names_ = std::move(names);
  number_rows();
}

void System::number_rows() {
  auto layout = std::make_shared<Layout>();
  for (const BodyInfo& b : bodies_) {
    layout->M.push_back({b.first, b.size, layout->mass_values});
    layout->n += b.size;
    layout->mass_values += b.size * b.size;
  }
  if (!bodies_.empty()) {
    const BodyInfo& b = *std::max_element(bodies_.begin(), bodies_.end(),
                                          [](const BodyInfo& x, const BodyInfo& y) { return x.size < y.size; });
    require_memory({"body", b.name}, fmt::format("the mass matrix, with it as one block of {} coordinates,", b.size),
                   static_cast<double>(layout->mass_values) * sizeof(double),
                   "reduce it first (bodies/craig_bampton.h), or make it of several bodies");
  }
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    ConstraintInfo& c = constraints_[i];
    const auto rows = c.model->rows();
    c.row = layout->m;
    c.rows = static_cast<Index>(rows.size());
    c.holonomic = c.model->holonomic();
    c.block = layout->A.size();
    for (const std::size_t k : c.bodies) {
      const BodyInfo& b = bodies_[k];
      layout->A.push_back(
          {static_cast<Index>(i), static_cast<Index>(k), c.row, c.rows, b.first, b.size, layout->row_values});
      layout->row_values += c.rows * b.size;
    }
    layout->m += c.rows;
  }
  layout_ = std::move(layout);
  make_graph();
}

void System::make_graph() { graph_ = std::make_shared<const SystemGraph>(bodies_, constraints_, forces_); }

System System::with(std::vector<ConstraintInfo> more) const {
  System out = *this;
  for (ConstraintInfo& c : more) {
    Label{"joint", c.name}.require(c.model != nullptr, "it has no model", "give one");
    for (const std::size_t k : c.bodies) require_number("body", static_cast<Index>(k), std::ssize(bodies_));
    out.constraints_.push_back(std::move(c));
  }
  out.number_rows();
  return out;
}

System System::massless(const std::vector<std::size_t>& bodies) const {
  std::map<std::size_t, std::shared_ptr<const BodyModel>> models;
  for (const std::size_t i : bodies) {
    require_number("body", static_cast<Index>(i), std::ssize(bodies_));
    const Label label{"body", bodies_[i].name};
    models[i] = bodies_[i].model->without_mass(label);
    label.require(models[i] != nullptr, "its type does not tell what it is without mass",
                  "give it other numbers in the assembly, or a function without_mass()");
  }
  return with_bodies(models);
}

System System::with_bodies(const std::map<std::size_t, std::shared_ptr<const BodyModel>>& models) const {
  System out = *this;
  for (const auto& [i, model] : models) {
    require_number("body", static_cast<Index>(i), std::ssize(bodies_));
    Label{"body", bodies_[i].name}.require(model && model->coordinates() == bodies_[i].model->coordinates(),
                                           model ? "it has other coordinates than the body in its place" : "it is none",
                                           "give one of the same type");
    out.bodies_[i].model = model;
  }
  const auto rebind = [&](const char* kind, auto& parts) {
    for (auto& p : parts) {
      if (std::none_of(p.bodies.begin(), p.bodies.end(), [&](std::size_t b) { return models.contains(b); })) continue;
      if constexpr (requires { p.own; })
        if (p.own) {
          p.model = out.bodies_[p.bodies.front()].model->own_constraint();
          continue;
        }
      std::vector<std::shared_ptr<const BodyModel>> bound;
      for (const std::size_t b : p.bodies) bound.push_back(out.bodies_[b].model);
      p.model = p.model->rebound({kind, p.name}, bound);
    }
  };
  rebind("joint", out.constraints_);
  rebind("force", out.forces_);
  rebind("sensor", out.sensors_);
  return out;
}

void System::flatten(const Assembly& assembly, const std::string& prefix,
                     std::unordered_map<std::string, std::size_t>& index) {
  for (const auto& e : assembly.bodies()) {
    index[prefix + e.name] = bodies_.size();
    bodies_.push_back({prefix + e.name, 0, static_cast<Index>(e.model->coordinates().size()), e.model});
    if (auto own = e.model->own_constraint())
      constraints_.push_back({prefix + e.name, true, 0, 0, 0, {bodies_.size() - 1}, 0, std::move(own)});
  }
  for (const auto& [name, q] : assembly.places()) places_.emplace_back(index.at(prefix + name), q);
  for (const auto& e : assembly.nested()) flatten(e.part, prefix + e.name + "/", index);
  const auto find = [&](const std::string& path) {
    const auto it = index.find(prefix + path);
    if (it == index.end())
      Label{"body", prefix + path}.fail<InvalidModel>("a joint, force, sensor or port needs it, but it was removed",
                                                      "remove that part too, or connect it again");
    return it->second;
  };
  for (const auto& p : assembly.ports()) index[prefix + p.name] = find(p.body.path);
  // The bodies of a part, and its model bound to them: they may have been exchanged since it was connected.
  const auto bound = [&](const char* kind, const auto& e) {
    std::vector<std::size_t> bodies;
    bool same = true;
    for (const auto& r : e.bodies) {
      bodies.push_back(find(r.path));
      same = same && bodies_[bodies.back()].model == r.model;
    }
    if (same) return std::pair{bodies, e.model};
    std::vector<std::shared_ptr<const BodyModel>> models;
    for (const std::size_t k : bodies) models.push_back(bodies_[k].model);
    return std::pair{bodies, e.model->rebound({kind, prefix + e.name}, models)};
  };
  for (const auto& e : assembly.constraints()) {
    auto [bodies, model] = bound("joint", e);
    constraints_.push_back({prefix + e.name, false, 0, 0, 0, std::move(bodies), 0, std::move(model)});
  }
  for (const auto& e : assembly.forces()) {
    auto [bodies, model] = bound("force", e);
    forces_.push_back({prefix + e.name, std::move(bodies), std::move(model)});
  }
  for (const auto& e : assembly.sensors()) {
    auto [bodies, model] = bound("sensor", e);
    sensors_.push_back({prefix + e.name, std::move(bodies), std::move(model)});
  }
}

System::RowName System::row(Index i) const {
  const ConstraintInfo& c = constraints_[constraint_of(i)];
  const auto r = c.model->rows()[static_cast<std::size_t>(i - c.row)];
  return {c.name + "." + r.name, r.removes, r.reaction, r.unit};
}

std::size_t System::body_of(Index coordinate) const {
  require_number("coordinate", coordinate, size());
  auto at = std::upper_bound(bodies_.begin(), bodies_.end(), coordinate,
                             [](Index i, const BodyInfo& b) { return i < b.first; });
  do --at;
  while (at->size == 0);
  return static_cast<std::size_t>(at - bodies_.begin());
}

std::size_t System::constraint_of(Index row) const {
  require_number("row", row, rows());
  const auto after = std::upper_bound(constraints_.begin(), constraints_.end(), row,
                                      [](Index i, const ConstraintInfo& c) { return i < c.row; });
  return static_cast<std::size_t>(after - constraints_.begin()) - 1;
}

std::vector<Index> System::firsts(const std::vector<std::size_t>& bodies) const {
  std::vector<Index> out;
  for (const std::size_t k : bodies) {
    if (k >= bodies_.size()) require_number("body", static_cast<Index>(k), std::ssize(bodies_));
    out.push_back(bodies_[k].first);
  }
  return out;
}

State System::state() const {
  State s{VectorXd::Zero(size()), VectorXd::Zero(size()), 0, names_};
  for (const BodyInfo& b : bodies_) s.q.segment(b.first, b.size) = b.model->neutral();
  for (const auto& [body, q] : places_) s.q.segment(bodies_[body].first, bodies_[body].size) = q;
  return s;
}

void System::require_state(const State& s) const {
  // x - x is 0, or NaN where x is not finite; sums are faster than a test of each.
  const auto finite = [](const VectorXd& x) { return (x.array() - x.array()).sum() == 0; };
  const bool own = !s.names || s.names == names_ || s.names->layout() == names_->layout();
  if (own && s.off.empty() && s.q.size() == size() && s.v.size() == size() && std::isfinite(s.t) && finite(s.q) &&
      finite(s.v))
    return;
  const Label label{"state", name_};
  if (bodies_.empty() && s.q.size() > 0)
    label.fail<InvalidModel>("the system has no bodies, or was moved from", "take the system it was moved to");
  if (!own && s.q.size() == size()) {
    Index i = 0;
    while (i + 1 < std::min(size(), s.names->size()) && s.names->name(i) == coordinate(i)) ++i;
    label.fail<InvalidModel>(fmt::format("it is of another system: coordinate {} is {} there and {} here", i + 1,
                                         s.names->size() ? s.names->name(i) : "none", coordinate(i)),
                             "take it from this system's state()");
  }
  for (std::size_t i = 0; i < s.off.size(); ++i)
    if (s.off[i] >= constraints_.size() || constraints_[s.off[i]].own || (i > 0 && s.off[i] <= s.off[i - 1]))
      label.fail<InvalidModel>(fmt::format("entry {} of off, {}, is no joint or out of order", i, s.off[i]),
                               "use System::switch_off and switch_on");
  if (s.q.size() != size() || s.v.size() != size())
    label.fail<WrongSize>(fmt::format("q has {} and v has {} entries", s.q.size(), s.v.size()),
                          fmt::format("give {} each, one per coordinate", size()));
  if (!std::isfinite(s.t)) label.fail<NonFinite>(fmt::format("t is {}", s.t), "give a finite time");
  for (Index i = 0; i < size(); ++i) {
    if (!std::isfinite(s.q[i]))
      label.fail<NonFinite>(fmt::format("{} is {}", coordinate(i), s.q[i]), "give finite coordinates");
    if (!std::isfinite(s.v[i]))
      label.fail<NonFinite>(fmt::format("{}' is {}", coordinate(i), s.v[i]), "give finite velocities");
  }
}

void System::require_own(const Evaluation& e) const {
  if (&e.layout() != layout_.get())
    Label{"evaluation", name_}.fail<InvalidModel>("it belongs to another system",
                                                  "take it from this system's evaluate()");
  const auto require = [&](const char* what, const VectorXd& x, Index count) {
    if (x.size() != count)
      Label{"evaluation", name_}.fail<WrongSize>(fmt::format("its {} has {} entries", what, x.size()),
                                                 fmt::format("leave it the {} that it had", count));
  };
  require("Q", e.Q, size());
  require("C", e.C, size());
  require("b", e.b, rows());
  require("phi", e.phi, rows());
}

namespace {
MatrixXd sized_mass_matrix(const System::BodyInfo& b, const State& s) {
  MatrixXd M = b.model->mass_matrix(s, b.first);
  if (M.rows() != b.size || M.cols() != b.size)
    Label{"body", b.name}.fail<WrongSize>(fmt::format("M is {} x {} at t = {}", M.rows(), M.cols(), s.t),
                                          fmt::format("give {0} x {0}, one row per coordinate", b.size));
  return M;
}
}  // namespace

MatrixXd System::mass_matrix(const BodyInfo& b, const State& s) const {
  MatrixXd M = sized_mass_matrix(b, s);
  if (!(M == M.transpose() && M.allFinite())) require_symmetric(M, {"body", b.name}, b.model->coordinates());
  return M;
}

Evaluation System::blank() const {
  Evaluation e(layout_);
  e.Q.setZero(), e.C.setZero(), e.b.setZero(), e.phi.setZero();
  return e;
}

Evaluation System::evaluate(const State& s) const {
  Evaluation e(layout_);
  evaluate(s, e);
  return e;
}

void System::evaluate(const State& s, Evaluation& e) const {
  require_state(s);
  require_own(e);
  e.state = s;
  e.Q.setZero();
  e.C.setZero();
  const auto require_finite = [&](const Label& label, const VectorXd& x, Index first, Index count, const char* what) {
    for (Index i = first; i < first + count; ++i)
      if (!std::isfinite(x[i]))
        label.fail<NonFinite>(fmt::format("{} on '{}' is {} at t = {}", what, coordinate(i), x[i], s.t),
                              "check its formula at this state");
  };

  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodyInfo& b = bodies_[i];
    const Label label{"body", b.name};
    try {
      const VectorXd Q = b.model->force(s, b.first);
      if (Q.size() != b.size)
        label.fail<WrongSize>(fmt::format("Q has {} entries at t = {}", Q.size(), s.t),
                              fmt::format("give {}, one per coordinate", b.size));
      e.M(i) = mass_matrix(b, s);
      e.Q.segment(b.first, b.size) += Q;
      b.model->gravity(s, b.first, gravity_, e.Q);
    } catch (...) {
      rethrow_named("body", b.name);
    }
    require_finite(label, e.Q, b.first, b.size, "its own force");
  }
  for (const ForceInfo& f : forces_) {
    try {
      f.model->act(s, firsts(f.bodies), e.Q);
    } catch (...) {
      rethrow_named("force", f.name);
    }
    for (const std::size_t k : f.bodies)
      require_finite({"force", f.name}, e.Q, bodies_[k].first, bodies_[k].size, "its force");
  }
  for (const ConstraintInfo& c : constraints_) {
    const Label label{c.own ? "body" : "joint", c.name};
    std::vector<Eigen::Map<MatrixXd>> A;
    for (std::size_t k = 0; k < c.bodies.size(); ++k) A.push_back(e.A(c.block + k));
    if (std::binary_search(s.off.begin(), s.off.end(), static_cast<std::size_t>(&c - constraints_.data()))) {
      e.phi.segment(c.row, c.rows).setZero();
      e.b.segment(c.row, c.rows).setZero();
      for (auto& block : A) block.setZero();
      continue;
    }
    try {
      c.model->evaluate(s, firsts(c.bodies), e.phi.segment(c.row, c.rows), e.b.segment(c.row, c.rows), A);
      if (!c.model->ideal()) c.model->nonideal(s, firsts(c.bodies), e.C);
    } catch (...) {
      rethrow_named(c.own ? "body" : "joint", c.name);
    }
    for (Index i = 0; i < c.rows; ++i) {
      const bool slopes = std::all_of(A.begin(), A.end(), [&](const auto& block) { return block.row(i).allFinite(); });
      const double phi = e.phi[c.row + i], b = e.b[c.row + i];
      if (!slopes || !std::isfinite(phi) || !std::isfinite(b))
        label.fail<NonFinite>(fmt::format("row '{}' is not finite at t = {}: value {}, b {}, slopes {}",
                                          row(c.row + i).name, s.t, phi, b, slopes ? "finite" : "not finite"),
                              "check its formula at this state");
    }
    if (!c.model->ideal())
      for (const std::size_t k : c.bodies)
        require_finite(label, e.C, bodies_[k].first, bodies_[k].size, "its non-ideal force");
  }
}

std::size_t System::joint(std::string_view name) const {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    if (constraints_[i].own) continue;
    if (constraints_[i].name == name) return i;
    known.push_back(constraints_[i].name);
  }
  const std::string guess = nearest_name(name, known);
  Label{"joint", std::string(name)}.fail<InvalidModel>(
      "there is none of this name",
      guess.empty() ? "the system has no joints" : fmt::format("did you mean '{}'?", guess));
}

void System::switch_off(State& s, std::string_view name) const {
  const std::size_t i = joint(name);
  const auto at = std::lower_bound(s.off.begin(), s.off.end(), i);
  if (at == s.off.end() || *at != i) s.off.insert(at, i);
}

void System::switch_on(State& s, std::string_view name) const { std::erase(s.off, joint(name)); }

Energy System::energy(const State& s) const {
  require_state(s);
  Energy out;
  for (const BodyInfo& b : bodies_)
    named("body", b.name, [&] {
      const double kinetic = b.model->kinetic(s, b.first);
      if (!std::isfinite(kinetic)) (void)sized_mass_matrix(b, s);  // throws where M has another size
      out.kinetic += kinetic;
      out.potential -= gravity_.dot(b.model->first_moment(s, b.first));
      if (const auto stored = b.model->stored(s, b.first)) out.potential += stored->potential;
    });
  for (const ForceInfo& f : forces_)
    named("force", f.name, [&] { out.potential += f.model->potential(s, firsts(f.bodies)).value_or(0); });
  return out;
}

double System::mass() const {
  double m = 0;
  for (const BodyInfo& b : bodies_) m += b.model->mass();
  return m;
}

Vec3<double> System::centre_of_mass(const State& s) const {
  require_state(s);
  const double m = mass();
  Label{"system", name_}.require(m > 0, "its bodies have no mass, so there is no centre of mass", "give a mass > 0");
  Vec3<double> moment = Vec3<double>::Zero();
  for (const BodyInfo& b : bodies_)
    if (b.model->mass() > 0) moment += b.model->first_moment(s, b.first);
  return moment / m;
}

std::vector<Contribution> System::contributions(const State& s) const {
  require_state(s);
  std::vector<Contribution> out;
  if (gravity_ != Vec3<double>::Zero()) {
    Contribution c{"gravity", VectorXd::Zero(size()), 0, 0.0};
    for (const BodyInfo& b : bodies_) {
      b.model->gravity(s, b.first, gravity_, c.Q);
      *c.potential -= gravity_.dot(b.model->first_moment(s, b.first));
    }
    c.power = c.Q.dot(s.v);  // all of it comes out of the potential
    out.push_back(std::move(c));
  }
  for (const BodyInfo& b : bodies_)
    named("body", b.name, [&] {
      const auto stored = b.model->stored(s, b.first);
      if (!stored) return;
      Contribution c{b.name, VectorXd::Zero(size()), stored->power, stored->potential,
                     stored->power + stored->potential_rate};
      c.Q.segment(b.first, b.size) = b.model->force(s, b.first);
      out.push_back(std::move(c));
    });
  for (const ForceInfo& f : forces_)
    named("force", f.name, [&] {
      Contribution c{f.name, VectorXd::Zero(size()), 0, f.model->potential(s, firsts(f.bodies))};
      f.model->act(s, firsts(f.bodies), c.Q);
      c.power = c.Q.dot(s.v);
      c.input = c.power + f.model->potential_rate(s, firsts(f.bodies));
      out.push_back(std::move(c));
    });
  return out;
}

Derivatives System::derivatives(const State& s, const VectorXd& a, const VectorXd& lambda) const {
  require_state(s);
  constexpr double matrices = 7;
  const auto n = static_cast<double>(size());
  require_memory({"system", name_}, fmt::format("its derivatives by {} coordinates, as dense matrices,", size()),
                 matrices * n * n * sizeof(double), "take the derivatives of a part of it");
  if (a.size() != size())
    Label{"vector", "a"}.fail<WrongSize>(fmt::format("has {} entries", a.size()), fmt::format("give {}", size()));
  if (lambda.size() != 0 && lambda.size() != rows())
    Label{"vector", "lambda"}.fail<WrongSize>(fmt::format("has {} entries", lambda.size()),
                                              fmt::format("give {}, one per row, or none", rows()));
  const MatrixXd zero = MatrixXd::Zero(size(), size());
  Derivatives d{zero, zero, zero, zero, zero, zero, zero};
  const auto require =
      [](const auto& slopes, const std::string& kind, const std::string& name, const char* what) -> const auto& {
    if (!slopes)
      Label{kind, name}.fail<NoDerivative>(
          fmt::format("its {} is written for double only, so it has no derivatives", what),
          "write it as a template on the scalar (a generic lambda)");
    return *slopes;
  };
  // The slopes of a part are stacked over its bodies: spread them.
  const auto spread = [&](const MatrixXd& part, const std::vector<std::size_t>& bodies, MatrixXd& whole) {
    Index row = 0;
    for (const std::size_t i : bodies) {
      Index column = 0;
      for (const std::size_t j : bodies) {
        whole.block(bodies_[i].first, bodies_[j].first, bodies_[i].size, bodies_[j].size) +=
            part.block(row, column, bodies_[i].size, bodies_[j].size);
        column += bodies_[j].size;
      }
      row += bodies_[i].size;
    }
  };
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const BodyInfo& b = bodies_[i];
    named("body", b.name, [&] {
      (void)mass_matrix(b, s);  // checks its size
      const auto mass = b.model->mass_slopes(s, b.first, a.segment(b.first, b.size));
      spread(require(mass, "body", b.name, "mass matrix"), {i}, d.dMa_dq);
      const auto force = b.model->force_slopes(s, b.first);
      spread(require(force, "body", b.name, "force").dq, {i}, d.dQ_dq);
      spread(force->dv, {i}, d.dQ_dv);
      spread(b.model->gravity_slopes(s, b.first, gravity_), {i}, d.dQ_dq);
    });
  }
  for (const ForceInfo& f : forces_)
    named("force", f.name, [&] {
      const auto slopes = f.model->slopes(s, firsts(f.bodies));
      spread(require(slopes, "force", f.name, "act").dq, f.bodies, d.dQ_dq);
      spread(slopes->dv, f.bodies, d.dQ_dv);
    });
  for (std::size_t i = 0; i < constraints_.size(); ++i)
    named("joint", constraints_[i].name, [&] {
      const ConstraintInfo& c = constraints_[i];
      if (lambda.size() > 0 && !std::binary_search(s.off.begin(), s.off.end(), i)) {
        const auto slopes = c.model->slopes(s, firsts(c.bodies), lambda.data() + c.row);
        spread(slopes.force_dq, c.bodies, d.dR_dq);
        if (c.holonomic < c.rows) spread(slopes.force_dv, c.bodies, d.dR_dv);
      }
      if (c.model->ideal()) return;
      const auto slopes = c.model->nonideal_slopes(s, firsts(c.bodies));
      spread(require(slopes, "joint", c.name, "non-ideal law").dq, c.bodies, d.dC_dq);
      spread(slopes->dv, c.bodies, d.dC_dv);
    });
  return d;
}

void System::react(const ConstraintInfo& c, const State& s, const VectorXd& lambda, VectorXd& C) const {
  require_known(constraints_, c);
  if (s.names != names_ || s.q.size() != size() || s.v.size() != size()) require_state(s);
  if (lambda.size() != rows() || C.size() != size())
    Label{"joint", c.name}.fail<WrongSize>(
        fmt::format("{} multipliers and {} forces were given", lambda.size(), C.size()),
        fmt::format("give {} and {}, those of the whole system", rows(), size()));
  named("joint", c.name, [&] { c.model->react(s, firsts(c.bodies), lambda.data() + c.row, C); });
}

VectorXd System::nonideal(const ConstraintInfo& c, const State& s) const {
  require_known(constraints_, c);
  if (s.names != names_ || s.q.size() != size() || s.v.size() != size()) require_state(s);
  VectorXd C = VectorXd::Zero(size());
  named("joint", c.name, [&] { c.model->nonideal(s, firsts(c.bodies), C); });
  return C;
}

std::vector<std::string> System::without_derivatives() const {
  std::vector<std::string> out;
  const auto collect = [&](const auto& parts) {
    for (const auto& part : parts)
      if (!part.model->differentiable()) out.push_back(part.name);
  };
  collect(bodies_);
  collect(forces_);
  collect(constraints_);
  return out;
}

// b is a sum of products of velocities that may cancel to round-off: slopes times velocities times the largest rate of
// turning of the bodies that the rows connect.
VectorXd System::size_of_b(const Evaluation& e, const ConstraintInfo& c) const {
  require_own(e);
  require_known(constraints_, c);
  double turning = 0;
  for (const std::size_t k : c.bodies) {
    if (e.state.v.segment(bodies_[k].first, bodies_[k].size).isZero(0)) continue;
    const std::vector<std::string> units = bodies_[k].model->units();
    for (std::size_t j = 0; j < units.size(); ++j)
      if (units[j] != "m") turning = std::max(turning, std::abs(e.state.v[bodies_[k].first + static_cast<Index>(j)]));
  }
  VectorXd size = e.b.segment(c.row, c.rows).cwiseAbs();
  for (std::size_t x = 0; x < c.bodies.size(); ++x) {
    const BodyInfo& b = bodies_[c.bodies[x]];
    size += turning * (e.A(c.block + x).cwiseAbs() * e.state.v.segment(b.first, b.size).cwiseAbs());
  }
  return size;
}

System::Selection System::all() const {
  Selection s{std::vector<std::size_t>(bodies_.size()), std::vector<std::size_t>(constraints_.size())};
  std::iota(s.bodies.begin(), s.bodies.end(), std::size_t{0});
  std::iota(s.constraints.begin(), s.constraints.end(), std::size_t{0});
  return s;
}

Equations System::equations(const Evaluation& e, const Selection& parts) const {
  require_own(e);
  Index n = 0, m = 0;
  std::vector<Index> first(bodies_.size(), -1);
  for (const std::size_t i : parts.bodies) {
    require_number("body", static_cast<Index>(i), std::ssize(bodies_));
    Label{"body", bodies_[i].name}.require(first[i] < 0, "it is chosen twice", "give each once");
    first[i] = n, n += bodies_[i].size;
  }
  for (const std::size_t i : parts.constraints) {
    require_number("joint", static_cast<Index>(i), std::ssize(constraints_));
    for (const std::size_t k : constraints_[i].bodies)
      Label{"joint", constraints_[i].name}.require(bodies_[k].size == 0 || first[k] >= 0,
                                                   fmt::format("it acts on '{}', which is not chosen", bodies_[k].name),
                                                   "choose all bodies of a joint");
    m += constraints_[i].rows;
  }
  require_memory({"system", name_}, fmt::format("M and A as dense matrices of {} coordinates and {} rows", n, m),
                 static_cast<double>(n + m) * static_cast<double>(n) * sizeof(double), "take a part of it");
  Equations out{.M = MatrixXd::Zero(n, n),
                .Q = VectorXd(n),
                .A = MatrixXd::Zero(m, n),
                .b = VectorXd(m),
                .C = VectorXd(n),
                .b_size = VectorXd(m)};
  std::vector<Massless> massless;
  for (const std::size_t i : parts.bodies) {
    const BodyInfo& b = bodies_[i];
    out.M.block(first[i], first[i], b.size, b.size) = e.M(i);
    out.Q.segment(first[i], b.size) = e.Q.segment(b.first, b.size);
    out.C.segment(first[i], b.size) = e.C.segment(b.first, b.size);
    for (Index k = b.first; k < b.first + b.size; ++k) out.groups.push_back(groups_[static_cast<std::size_t>(k)]);
    massless.push_back(b.model->massless(e.state, b.first, e.M(i), {"body", b.name}));
  }
  out.massless = stack(massless);
  Index row = 0;
  for (const std::size_t i : parts.constraints) {
    const ConstraintInfo& c = constraints_[i];
    for (std::size_t k = 0; k < c.bodies.size(); ++k)
      out.A.block(row, std::max<Index>(0, first[c.bodies[k]]), c.rows, bodies_[c.bodies[k]].size) += e.A(c.block + k);
    out.b.segment(row, c.rows) = e.b.segment(c.row, c.rows);
    out.b_size.segment(row, c.rows) = size_of_b(e, c);
    row += c.rows;
  }
  return out;
}

}  // namespace mortise
