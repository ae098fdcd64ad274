#include <mortise/assembly/assembly.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace mortise {
namespace {

// Paths are joined by '/', coordinates by '.', velocities marked by '\'', so names are free of these.
// What follows the first dot of path/to/body.coordinate is the coordinate, so it may contain dots itself: boom.n3.ux.
void require_coordinate_name(const Label& label) {
  if (label.name.empty()) label.fail<InvalidModel>("the name is empty", "give every part a name");
  if (const auto at = label.name.find_first_of("/'"); at != std::string::npos)
    label.fail<InvalidModel>(fmt::format("the name contains '{}'", label.name[at]),
                             "names of coordinates are free of / and ', which separate paths and mark velocities");
}

void require_name(const Label& label) {
  if (label.name.empty()) label.fail<InvalidModel>("the name is empty", "give every part a name");
  if (const auto at = label.name.find_first_of("/.'"); at != std::string::npos)
    label.fail<InvalidModel>(fmt::format("the name contains '{}'", label.name[at]),
                             "names are free of / . and ', which separate paths and coordinates");
}

}  // namespace

Assembly::Assembly(std::string name) : name_(std::move(name)) { require_name({"assembly", name_}); }

std::string Assembly::did_you_mean(const std::string& name) const {
  if (names_.empty()) return "it is empty";
  return fmt::format("did you mean '{}'?", nearest_name(name, {names_.begin(), names_.end()}));
}

void Assembly::require_new(const Label& label) const {
  require_name(label);
  if (names_.count(label.name) > 0)
    label.fail<InvalidModel>(fmt::format("the name is already used in assembly '{}'", name_),
                             "give every part a name of its own");
}

void Assembly::require_coordinate_names(const Label& label, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    require_coordinate_name({"coordinate of body '" + label.name + "', named", name});
  if (const std::set<std::string> distinct(names.begin(), names.end()); distinct.size() != names.size())
    label.fail<InvalidModel>(fmt::format("{} coordinates have only {} different names", names.size(), distinct.size()),
                             "give every coordinate a name of its own");
}

void Assembly::require_sizes(const Label& label, const BodyModel& model) {
  State s;
  s.q = model.neutral();
  s.v = VectorXd::Zero(s.q.size());
  const Index n = s.q.size();
  const MatrixXd M = model.mass_matrix(s, 0);
  if (M.rows() != n || M.cols() != n)
    label.fail<WrongSize>(fmt::format("M is {} x {} for {} coordinates", M.rows(), M.cols(), n),
                          "give a square M of one row per coordinate");
  if (const VectorXd Q = model.force(s, 0); Q.size() != n)
    label.fail<WrongSize>(fmt::format("Q has {} entries for {} coordinates", Q.size(), n),
                          "give one entry per coordinate");
}

namespace {

struct Stack {
  State state;
  std::vector<Index> firsts, sizes;

  explicit Stack(const std::vector<Assembly::Reference>& bodies) {
    for (const auto& r : bodies) {
      const VectorXd q = r.model->neutral();
      firsts.push_back(state.q.size());
      sizes.push_back(q.size());
      state.q.conservativeResize(state.q.size() + q.size());
      state.q.tail(q.size()) = q;
    }
    state.v = VectorXd::Zero(state.q.size());
  }
};

template <class F> void with_label(const Label& label, const F& f) {
  try {
    f();
  } catch (const InvalidModel& error) {
    label.fail<InvalidModel>(error.what(), "correct what it asks of its bodies");
  }
}

}  // namespace

void Assembly::probe(const Label& label, const std::vector<Reference>& bodies, const ConstraintModel& model) {
  const Stack s(bodies);
  const auto rows = static_cast<Index>(model.rows().size());
  VectorXd value(rows), b(rows), C = VectorXd::Zero(s.state.q.size());
  std::vector<MatrixXd> blocks;
  std::vector<Eigen::Map<MatrixXd>> A;
  for (const Index size : s.sizes) blocks.emplace_back(rows, size);
  for (MatrixXd& block : blocks) A.emplace_back(block.data(), block.rows(), block.cols());
  with_label(label, [&] {
    model.evaluate(s.state, s.firsts, value, b, A);
    model.nonideal(s.state, s.firsts, C);
  });
}

void Assembly::probe(const Label& label, const std::vector<Reference>& bodies, const ForceModel& model) {
  const Stack s(bodies);
  VectorXd Q = VectorXd::Zero(s.state.q.size());
  with_label(label, [&] { model.act(s.state, s.firsts, Q); });
}

Nested Assembly::add(const std::string& name, const Assembly& part) {
  require_new({"assembly", name});
  names_.insert(name);
  nested_.push_back({name, part});
  return {name};
}

void Assembly::set_gravity(const Vec3<double>& g) {
  if (!g.allFinite())
    Label{"assembly", name_}.fail<NonFinite>(fmt::format("gravity is ({}, {}, {})", g[0], g[1], g[2]),
                                             "give finite numbers");
  gravity_ = g;
}

std::pair<const Assembly*, std::string> Assembly::owner(const std::string& path) const {
  const Assembly* where = this;
  std::string rest = path;
  for (auto slash = rest.find('/'); slash != std::string::npos; slash = rest.find('/')) {
    const std::string head = rest.substr(0, slash);
    const auto it =
        std::find_if(where->nested_.begin(), where->nested_.end(), [&](const auto& e) { return e.name == head; });
    if (it == where->nested_.end())
      Label{"body", path}.fail<InvalidModel>(
          fmt::format("assembly '{}' has no nested assembly '{}'", where->name_, head), "check the path");
    where = &it->part;
    rest = rest.substr(slash + 1);
  }
  if (where->models_.count(rest) == 0)
    Label{"body", path}.fail<InvalidModel>(fmt::format("assembly '{}' has no body '{}'", where->name_, rest),
                                           where->did_you_mean(rest));
  return {where, rest};
}

std::shared_ptr<const BodyModel> Assembly::find(const std::string& path) const {
  const auto [where, name] = owner(path);
  return where->models_.at(name);
}

VectorXd Assembly::place(const std::string& path) const {
  const auto [where, name] = owner(path);
  const auto it = where->places_.find(name);
  return it != where->places_.end() ? it->second : where->models_.at(name)->neutral();
}

namespace {

// One finite number per coordinate, meeting the body's own constraint.
void require_place(const Label& label, const BodyModel& body, const VectorXd& q) {
  const std::vector<std::string> names = body.coordinates();
  if (q.size() != static_cast<Index>(names.size()))
    label.fail<WrongSize>(fmt::format("its place has {} numbers for {} coordinates", q.size(), names.size()),
                          "give one number per coordinate");
  for (Index i = 0; i < q.size(); ++i)
    if (!std::isfinite(q[i]))
      label.fail<NonFinite>(fmt::format("its place has {} = {}", names[static_cast<std::size_t>(i)], q[i]),
                            "give finite numbers");
  const auto own = body.own_constraint();
  if (!own) return;
  constexpr double met = 1e-6;
  const auto rows = own->rows();
  const auto m = static_cast<Index>(rows.size());
  const State s{q, VectorXd::Zero(q.size()), 0, nullptr};
  VectorXd value(m), b(m);
  MatrixXd A(m, q.size());
  std::vector<Eigen::Map<MatrixXd>> blocks{{A.data(), m, q.size()}};
  const Index first = 0;
  own->evaluate(s, Firsts(&first, 1), value, b, blocks);
  for (Index i = 0; i < m; ++i)
    label.require(std::abs(value[i]) <= met,
                  fmt::format("at its place its own row '{}' is {:.3g}, not 0 within {:.0e}",
                              rows[static_cast<std::size_t>(i)].name, value[i], met),
                  "give coordinates that meet it");
}

}  // namespace

void Assembly::set_place(const Label& label, const Reference& body, const VectorXd& q) {
  if (const auto slash = body.path.find('/'); slash != std::string::npos)
    return nested(body.path.substr(0, slash)).set_place(label, {body.path.substr(slash + 1), body.model}, q);
  label.require(find(body.path) == body.model, fmt::format("it is not the one of assembly '{}'", name_),
                "use a handle that this assembly's add() returned, or nested[handle] for a nested one");
  require_place(label, *body.model, q);
  places_[body.path] = q;
}

void Assembly::require_known(const Label& label, const std::vector<Reference>& bodies) const {
  Index coordinates = 0;
  for (const Reference& r : bodies) {
    if (r.model == nullptr) label.fail<InvalidModel>("one of its handles is empty", "use a handle that add() returned");
    bool known = false;
    try {
      known = find(r.path) == r.model;
    } catch (const InvalidModel&) {
    }
    if (!known)
      label.fail<InvalidModel>(fmt::format("body '{}' is not in assembly '{}'", r.path, name_),
                               "use a handle that this assembly's add() returned, or nested[handle] for a nested one");
    coordinates += r.model->neutral().size();
  }
  if (coordinates == 0)
    label.fail<InvalidModel>("it acts on bodies without coordinates only", "attach it to a body that can move");
}

void Assembly::remove(const std::string& name) {
  const auto uses = [&](const Reference& r) {  // the body itself, or a nested assembly it is in
    return r.path == name || r.path.rfind(name + "/", 0) == 0;
  };
  std::string users;
  const auto collect = [&](const auto& parts) {
    for (const auto& e : parts)
      if (std::any_of(e.bodies.begin(), e.bodies.end(), uses)) users += (users.empty() ? "'" : ", '") + e.name + "'";
  };
  collect(constraints_);
  collect(forces_);
  if (!users.empty()) Label{"part", name}.fail<InvalidModel>("is still used by " + users, "remove these first");

  const auto erase = [&](auto& parts) {
    return std::erase_if(parts, [&](const auto& e) { return e.name == name; }) > 0;
  };
  if (names_.erase(name) == 0)
    Label{"part", name}.fail<InvalidModel>(fmt::format("assembly '{}' has no part of this name", name_),
                                           did_you_mean(name));
  models_.erase(name);
  places_.erase(name);
  (void)(erase(bodies_) || erase(constraints_) || erase(forces_) || erase(nested_));  // it is one of these
}

Assembly& Assembly::nested(const std::string& name) {
  for (auto& e : nested_)
    if (e.name == name) return e.part;
  std::vector<std::string> known;
  for (const auto& e : nested_) known.push_back(e.name);
  const std::string guess = nearest_name(name, known);
  Label{"assembly", name}.fail<InvalidModel>(
      fmt::format("assembly '{}' contains none of this name", name_),
      guess.empty() ? "it contains none" : fmt::format("did you mean '{}'?", guess));
}

}  // namespace mortise
