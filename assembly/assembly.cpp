#include <mortise/assembly/assembly.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <typeinfo>

#include <mortise/core/memory.h>

namespace mortise {
namespace {

void require_short(const Label& label) {
  constexpr std::size_t most = 1000, told = 40;
  if (label.name.size() > most)
    Label{label.kind, label.name.substr(0, told) + "..."}.fail<InvalidModel>(
        fmt::format("the name has {} characters", label.name.size()), fmt::format("give one of at most {}", most));
}

// Paths are joined by '/', coordinates by '.', velocities marked by '\'', so names are free of these.
// What follows the first dot of path/to/body.coordinate is the coordinate, so it may contain dots itself: boom.n3.ux.
void require_coordinate_name(const Label& label) {
  require_short(label);
  if (label.name.empty()) label.fail<InvalidModel>("the name is empty", "give every part a name");
  if (const auto at = label.name.find_first_of("/'"); at != std::string::npos)
    label.fail<InvalidModel>(fmt::format("the name contains '{}'", label.name[at]),
                             "names of coordinates are free of / and ', which separate paths and mark velocities");
}

void require_name(const Label& label) {
  require_short(label);
  if (label.name.empty()) label.fail<InvalidModel>("the name is empty", "give every part a name");
  if (const auto at = label.name.find_first_of("/.'"); at != std::string::npos)
    label.fail<InvalidModel>(fmt::format("the name contains '{}'", label.name[at]),
                             "names are free of / . and ', which separate paths and coordinates");
}

int depth_of(const Assembly& a) {
  int most = 0;
  for (const auto& e : a.nested()) most = std::max(most, depth_of(e.part));
  return 1 + most;
}
void require_shallow(const Label& label, const Assembly& part) {
  constexpr int most = 100;
  if (depth_of(part) >= most)
    label.fail<InvalidModel>(fmt::format("assemblies are nested {} deep", depth_of(part) + 1),
                             fmt::format("nest them at most {} deep", most));
}

}  // namespace

Assembly::Assembly(std::string name) : name_(std::move(name)) { require_name({"assembly", name_}); }
Assembly::Assembly(const Assembly&) = default;
Assembly::Assembly(Assembly&&) noexcept = default;
Assembly& Assembly::operator=(const Assembly&) = default;
Assembly& Assembly::operator=(Assembly&&) noexcept = default;
Assembly::~Assembly() = default;

std::string Assembly::did_you_mean(const std::string& name) const {
  if (names_.empty()) return "it is empty";
  // Of many, those that begin alike.
  constexpr std::size_t many = 5000;
  constexpr int beside = 1000;
  auto first = names_.begin(), last = names_.end();
  if (names_.size() > many) {
    first = last = names_.lower_bound(name);
    for (int i = 0; i < beside && first != names_.begin(); ++i) --first;
    for (int i = 0; i < beside && last != names_.end(); ++i) ++last;
  }
  return fmt::format("did you mean '{}'?", nearest_name(name, {first, last}));
}

void Assembly::require_new(const Label& label) const {
  require_name(label);
  if (names_.count(label.name) > 0)
    label.fail<InvalidModel>(fmt::format("the name is already used in assembly '{}'", name_),
                             "give every part a name of its own");
}

void Assembly::add_body(const Label& label, const std::shared_ptr<const BodyModel>& model) {
  require_body(label, *model);
  names_.insert(label.name);
  models_[label.name] = model;
  bodies_.push_back({label.name, model});
}

void Assembly::require_body(const Label& label, const BodyModel& model) {
  const std::vector<std::string> names = model.coordinates();
  for (const std::string& name : names)
    require_coordinate_name({"coordinate of body '" + label.name + "', named", name});
  if (const std::set<std::string> distinct(names.begin(), names.end()); distinct.size() != names.size())
    label.fail<InvalidModel>(fmt::format("{} coordinates have only {} different names", names.size(), distinct.size()),
                             "give every coordinate a name of its own");
  State s;
  s.q = model.neutral();
  s.v = VectorXd::Zero(s.q.size());
  const Index n = s.q.size();
  require_memory(label, fmt::format("its mass matrix, a block of {} coordinates,", n),
                 static_cast<double>(n) * static_cast<double>(n) * sizeof(double),
                 "reduce it first (bodies/craig_bampton.h), or make it of several bodies");
  MatrixXd M;
  VectorXd Q;
  try {
    M = model.mass_matrix(s, 0);
    Q = model.force(s, 0);
  } catch (...) {
    rethrow_named(label.kind.c_str(), label.name);
  }
  if (M.rows() != n || M.cols() != n)
    label.fail<WrongSize>(fmt::format("M is {} x {} for {} coordinates", M.rows(), M.cols(), n),
                          "give a square M of one row per coordinate");
  if (Q.size() != n)
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
  } catch (...) {
    rethrow_named(label.kind.c_str(), label.name);
  }
}

void connects_itself(const Label& label, const std::string& body) {
  label.fail<InvalidModel>(fmt::format("it connects body '{}' with itself", body),
                           "name two bodies; the ground is one, too");
}

// A joint that marks points or axes on two bodies, and was given one rigid body for both.
void require_two_bodies(const Label& label, const Sketch& sketch, const auto& bodies) {
  std::vector<Sketch::Mark> marks = sketch.points;
  marks.insert(marks.end(), sketch.axes.begin(), sketch.axes.end());
  for (const auto& a : marks)
    for (const auto& b : marks)
      if (a.body < b.body && b.body < bodies.size() && bodies[a.body].path == bodies[b.body].path &&
          bodies[a.body].model->size() > 0 && bodies[a.body].model->frame() >= 0)
        connects_itself(label, bodies[a.body].path);
  static const std::set<std::string> of_turns{"belt", "drive_planar_angle", "planar_gear"};  // they mark nothing
  if (of_turns.count(sketch.kind) && bodies.size() > 1 && bodies[0].path == bodies[1].path)
    connects_itself(label, bodies[0].path);
}

}  // namespace

void Assembly::probe(const Label& label, const std::vector<Reference>& bodies, const ConstraintModel& model) {
  require_two_bodies(label, model.sketch(), bodies);
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

void Assembly::probe(const Label& label, const std::vector<Reference>& bodies, const SensorModel& model) {
  const Stack s(bodies);
  std::vector<double> out;
  for (const Quantity& x : model.quantities()) out.resize(out.size() + static_cast<std::size_t>(x.orders));
  with_label(label, [&] { model.read(s.state, VectorXd::Zero(s.state.q.size()), s.firsts, out.data()); });
}

std::vector<Assembly::Reference> Assembly::references(std::span<const Named> bodies) {
  std::vector<Reference> out;
  for (const Named& b : bodies) out.push_back({*b.path, *b.model});
  return out;
}

Assembly::Places Assembly::find_places(const Label& label, std::span<const Named> bodies) const {
  require_new(label);
  require_known(label, references(bodies));
  Places out;
  for (const Named& b : bodies) out.q.push_back(place(*b.path));
  for (std::size_t i = 0; i < bodies.size(); ++i)
    out.at.push_back({bodies[i].model->get(), out.q[i].data(), nullptr, nullptr});
  return out;
}

template <class Model>
void Assembly::attach(const Label& label, std::vector<PartEntry<Model>>& entries, std::span<const Named> given,
                      std::type_identity_t<Make<Model>> make) {
  std::vector<Reference> bodies = references(given);
  require_new(label);
  require_known(label, bodies);
  std::vector<std::shared_ptr<const BodyModel>> models;
  for (const Reference& r : bodies) models.push_back(r.model);
  auto model = make(label, models);
  probe(label, bodies, *model);
  names_.insert(label.name);
  entries.push_back({label.name, std::move(bodies), std::move(model)});
}
template void Assembly::attach(const Label&, std::vector<PartEntry<ConstraintModel>>&, std::span<const Named>,
                               std::type_identity_t<Make<ConstraintModel>>);
template void Assembly::attach(const Label&, std::vector<PartEntry<ForceModel>>&, std::span<const Named>,
                               std::type_identity_t<Make<ForceModel>>);
template void Assembly::attach(const Label&, std::vector<PartEntry<SensorModel>>&, std::span<const Named>,
                               std::type_identity_t<Make<SensorModel>>);

template <class Model>
void Assembly::attach_made(const Label& label, std::vector<PartEntry<Model>>& entries,
                           std::shared_ptr<const Model> model, const std::vector<std::string>& paths) {
  require_new(label);
  std::vector<Reference> bodies;
  for (const std::string& path : paths) bodies.push_back({path, find(path)});
  require_known(label, bodies);
  probe(label, bodies, *model);
  names_.insert(label.name);
  entries.push_back({label.name, std::move(bodies), std::move(model)});
}
void Assembly::connect(const std::string& name, std::shared_ptr<const ConstraintModel> model,
                       const std::vector<std::string>& bodies) {
  attach_made({"joint", name}, constraints_, std::move(model), bodies);
}
void Assembly::apply(const std::string& name, std::shared_ptr<const ForceModel> model,
                     const std::vector<std::string>& bodies) {
  attach_made({"force", name}, forces_, std::move(model), bodies);
}
void Assembly::measure(const std::string& name, std::shared_ptr<const SensorModel> model,
                       const std::vector<std::string>& bodies) {
  attach_made({"sensor", name}, sensors_, std::move(model), bodies);
}

void Assembly::add_port(const Label& label, const Reference& body) {
  require_new(label);
  require_known(label, {body}, false);
  names_.insert(label.name);
  ports_.push_back({label.name, body});
}
void Assembly::port(const std::string& name, const std::string& path) { add_port({"port", name}, {path, find(path)}); }

Nested Assembly::add(const std::string& name, const Assembly& part) {
  require_new({"assembly", name});
  require_shallow({"assembly", name}, part);
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

std::pair<Assembly*, std::string> Assembly::holder(const std::string& path) {
  Assembly* where = this;
  std::string rest = path;
  for (auto slash = rest.find('/'); slash != std::string::npos; slash = rest.find('/')) {
    const std::string head = rest.substr(0, slash);
    const auto it =
        std::find_if(where->nested_.begin(), where->nested_.end(), [&](const auto& e) { return e.name == head; });
    if (it == where->nested_.end())
      Label{"part", path}.fail<InvalidModel>(
          fmt::format("assembly '{}' has no nested assembly '{}'", where->name_, head), "check the path");
    where = &it->part;
    rest = rest.substr(slash + 1);
  }
  return {where, rest};
}

std::pair<Assembly*, std::string> Assembly::owner(const std::string& path) {
  const auto [where, rest] = holder(path);
  if (const Port* port = where->find_port(rest)) return where->owner(port->body.path);
  if (where->models_.count(rest) == 0)
    Label{"body", path}.fail<InvalidModel>(fmt::format("assembly '{}' has no body '{}'", where->name_, rest),
                                           where->did_you_mean(rest));
  return {where, rest};
}

// Neither changes anything.
std::pair<const Assembly*, std::string> Assembly::holder(const std::string& path) const {
  return const_cast<Assembly*>(this)->holder(path);
}
std::pair<const Assembly*, std::string> Assembly::owner(const std::string& path) const {
  return const_cast<Assembly*>(this)->owner(path);
}

const Assembly::Port* Assembly::find_port(const std::string& name) const {
  const auto it = std::find_if(ports_.begin(), ports_.end(), [&](const Port& p) { return p.name == name; });
  return it == ports_.end() ? nullptr : &*it;
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
  const auto [where, name] = owner(body.path);
  label.require(where->models_.at(name) == body.model, fmt::format("it is not the one of assembly '{}'", name_),
                "use a handle that this assembly's add() returned, or nested[handle] for a nested one");
  require_place(label, *body.model, q);
  where->places_[name] = q;
}

void Assembly::require_known(const Label& label, const std::vector<Reference>& bodies, bool some_move) const {
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
  if (some_move && coordinates == 0)
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
  collect(sensors_);
  for (const Port& p : ports_)
    if (uses(p.body)) users += (users.empty() ? "'" : ", '") + p.name + "'";
  if (!users.empty()) Label{"part", name}.fail<InvalidModel>("is still used by " + users, "remove these first");

  const auto erase = [&](auto& parts) {
    return std::erase_if(parts, [&](const auto& e) { return e.name == name; }) > 0;
  };
  if (names_.erase(name) == 0) fail_unknown(name);
  models_.erase(name);
  places_.erase(name);
  (void)(erase(bodies_) || erase(constraints_) || erase(forces_) || erase(sensors_) || erase(ports_) ||
         erase(nested_));  // it is one of these
}

void Assembly::fail_unknown(const std::string& name) const {
  Label{"part", name}.fail<InvalidModel>(fmt::format("assembly '{}' has no part of this name", name_),
                                         did_you_mean(name));
}

void Assembly::exchange(const Label& label, Assembly& where, BodyEntry& entry, std::shared_ptr<const BodyModel> model) {
  require_body(label, *model);
  if (const auto place = where.places_.find(entry.name); place != where.places_.end())
    require_place(label, *model, place->second);
  std::shared_ptr<const BodyModel>& known = where.models_.at(entry.name);
  entry.model = known = std::exchange(model, entry.model);
  try {
    rebind();
  } catch (...) {
    entry.model = known = model;
    throw;
  }
}

Nested Assembly::replace(const std::string& name, const Assembly& part) {
  require_shallow({"assembly", name}, part);
  Assembly& old = nested(name);
  const auto require_port = [&](const Label& user, const Reference& body) {
    if (body.path.rfind(name + "/", 0) != 0) return;
    const std::string port = body.path.substr(name.size() + 1);
    user.require(old.find_port(port) != nullptr,
                 fmt::format("it reaches '{}', which is no port of '{}'", body.path, name),
                 "make that body a port before it is connected, and connect to the port");
    if (part.find_port(port)) return;
    std::vector<std::string> known;
    for (const Port& p : part.ports_) known.push_back("'" + p.name + "'");
    Label{"assembly", part.name_}.fail<InvalidModel>(
        fmt::format("it has no port '{}', which {} '{}' is connected to", port, user.kind, user.name),
        known.empty() ? "it has no ports" : fmt::format("it has {}", fmt::join(known, ", ")));
  };
  const auto require_ports = [&](const char* kind, const auto& entries) {
    for (const auto& e : entries)
      for (const Reference& body : e.bodies) require_port({kind, e.name}, body);
  };
  require_ports("joint", constraints_);
  require_ports("force", forces_);
  require_ports("sensor", sensors_);
  for (const Port& p : ports_) require_port({"port", p.name}, p.body);
  Assembly other = part;
  std::swap(old, other);
  try {
    rebind();
  } catch (...) {
    std::swap(old, other);
    throw;
  }
  return {name};
}

void Assembly::rebind() {
  std::vector<std::function<void()>> commits;
  rebind("", commits);
  for (const auto& commit : commits) commit();
}

void Assembly::rebind(const std::string& prefix, std::vector<std::function<void()>>& commits) {
  const auto each = [&](const char* kind, auto& entries) {
    for (auto& e : entries) {
      std::vector<Reference> bodies = e.bodies;
      std::vector<std::shared_ptr<const BodyModel>> models;
      for (Reference& r : bodies) models.push_back(r.model = find(r.path));
      if (std::equal(bodies.begin(), bodies.end(), e.bodies.begin(),
                     [](const Reference& a, const Reference& b) { return a.model == b.model; }))
        continue;
      const Label label{kind, prefix + e.name};
      auto model = e.model->rebound(label, models);
      probe(label, bodies, *model);
      commits.push_back([&e, bodies, model] { e.bodies = bodies, e.model = model; });
    }
  };
  each("joint", constraints_);
  each("force", forces_);
  each("sensor", sensors_);
  for (Port& p : ports_) {
    const auto model = find(p.body.path);
    const BodyModel &now = *model, &before = *p.body.model;
    Label{"port", prefix + p.name}.require(typeid(now) == typeid(before),
                                           fmt::format("it leads to a body of another type now, a {}", model->kind()),
                                           "give a body of the same type, with the same template arguments");
    commits.push_back([&p, model] { p.body.model = model; });
  }
  for (NestedEntry& e : nested_) e.part.rebind(prefix + e.name + "/", commits);
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
