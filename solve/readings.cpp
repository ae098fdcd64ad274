#include <mortise/solve/readings.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <mortise/core/angles.h>

namespace mortise {
namespace {

constexpr std::array axes{"x", "y", "z"};

std::string rate_of(const std::string& unit, int order) {
  if (order == 0) return unit;
  return (unit.empty() ? "1" : unit) + (order == 1 ? "/s" : "/s^2");
}

}  // namespace

Readings::Readings(const System& system, const ReadingOptions& what, const SolverOptions& options)
    : system_(system), what_(what), options_(options) {
  add("t", "s", 1);
  if (what.coordinates)
    for (const auto& b : system.bodies()) {
      const auto names = b.model->coordinates(), units = b.model->units();
      for (std::size_t i = 0; i < names.size(); ++i) add(b.name + "." + names[i], units[i], 3);
    }
  if (what.sensors)
    for (const auto& x : system.sensors()) add_part(x);
  if (what.joints)
    for (const auto& c : system.constraints()) add_part(c);
  if (what.reactions)
    for (const auto& c : system.constraints()) {
      if (c.own) continue;
      const auto rows = c.model->rows();
      for (const auto& r : rows) {
        const bool alone =
            std::count_if(rows.begin(), rows.end(), [&](const auto& x) { return x.reaction == r.reaction; }) == 1;
        add(c.name + "." + (alone ? r.reaction : r.reaction + "_" + r.name), r.unit, 1);
      }
    }
  if (what.forces) {
    for (const auto& f : system.forces()) add_part(f);
    for (const Contribution& c : system.contributions(system.state())) {
      add(c.name + ".power", "W", 1);
      if (c.potential) add(c.name + ".potential", "J", 1);
    }
  }
  if (what.energy)
    for (const char* name : {"energy.kinetic", "energy.potential", "energy.total"}) add(name, "J", 1);
  if (what.momentum) {
    for (const char* x : axes) add(fmt::format("momentum.{}", x), "kg m/s", 1);
    for (const char* x : axes) add(fmt::format("angular_momentum.{}", x), "kg m^2/s", 1);
    if (system.mass() > 0)
      for (const char* x : axes) add(fmt::format("centre.{}", x), "m", 1);
  }
  values_ = VectorXd::Zero(static_cast<Index>(columns_.size()));
}

void Readings::add(const std::string& name, const std::string& unit, int orders) {
  for (int k = 0; k < orders; ++k)
    columns_.push_back({name + std::string(static_cast<std::size_t>(k), '\''), rate_of(unit, k)});
}

template <class Info> void Readings::add_part(const Info& part) {
  for (const Quantity& x : part.model->quantities()) {
    if (x.angle) angles_.push_back(static_cast<Index>(columns_.size()));
    add(x.name.empty() ? part.name : part.name + "." + x.name, x.unit, x.orders);
  }
}

const VectorXd& Readings::read(const State& s) {
  if (!solver_) solver_.emplace(system_, options_);
  return read(s, *solver_);
}

const VectorXd& Readings::read(const State& s, Solver& solver) {
  const VectorXd& a = solver.accelerations(s);
  before_ = values_;
  double* out = values_.data();
  const auto write = [&](const auto& numbers) {
    for (Index i = 0; i < numbers.size(); ++i) *out++ = numbers[i];
  };
  *out++ = s.t;
  const auto read_part = [&](const auto& part) {
    const auto quantities = part.model->quantities();
    if (quantities.empty()) return;
    try {
      part.model->read(s, a, system_.firsts(part.bodies), out);
    } catch (...) {
      values_ = before_;
      rethrow_named("reading", part.name);
    }
    for (const Quantity& x : quantities) out += x.orders;
  };
  if (what_.coordinates)
    for (Index i = 0; i < system_.size(); ++i) write(Vec3<double>(s.q[i], s.v[i], a[i]));
  if (what_.sensors)
    for (const auto& x : system_.sensors()) read_part(x);
  if (what_.joints)
    for (const auto& c : system_.constraints()) read_part(c);
  if (what_.reactions)
    for (const auto& c : system_.constraints())
      if (!c.own) write(solver.lambda().segment(c.row, c.rows));
  if (what_.forces) {
    for (const auto& f : system_.forces()) read_part(f);
    for (const Work& w : solver.works(s)) {
      *out++ = w.power;
      if (w.potential) *out++ = *w.potential;
    }
  }
  if (what_.energy) {
    const Energy e = solver.energy(s);
    write(Vec3<double>(e.kinetic, e.potential, e.total()));
  }
  if (what_.momentum) {
    const Momentum p = solver.momentum();
    write(p.linear);
    write(p.angular);
    if (system_.mass() > 0) write(system_.centre_of_mass(s));
  }

  for (const Index i : angles_)
    if (has_read_) values_[i] = nearest_turn(values_[i], before_[i]);
  for (Index i = 0; i < values_.size(); ++i)
    if (!std::isfinite(values_[i])) {
      const double found = values_[i];
      values_ = before_;
      Label{"reading", columns_[static_cast<std::size_t>(i)].name}.fail<NonFinite>(
          fmt::format("it is {} at t = {}", found, s.t), "check its formula at this state");
    }
  has_read_ = true;
  return values_;
}

void Readings::resume(const VectorXd& values) {
  if (values.size() != values_.size())
    Label{"readings", "resumed"}.fail<WrongSize>(fmt::format("{} values are given", values.size()),
                                                 fmt::format("give {}, one per column", values_.size()));
  values_ = values;
  has_read_ = true;
}

std::string Readings::text() const {
  std::size_t width = 0;
  for (const Column& c : columns_) width = std::max(width, c.name.size());
  std::string out;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string& unit = columns_[i].unit;
    out += fmt::format("{:<{}} {:>14.6g}{}{}\n", columns_[i].name, width, values_[static_cast<Index>(i)],
                       unit.empty() ? "" : " ", unit);
  }
  return out;
}

double Readings::value(std::string_view column) const {
  const auto it = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == column; });
  if (it == columns_.end()) {
    std::vector<std::string> known;
    for (const Column& c : columns_) known.push_back(c.name);
    Label{"reading", std::string(column)}.fail<InvalidModel>(
        "there is no column of this name", fmt::format("did you mean '{}'?  Some are read on request only, see "
                                                       "ReadingOptions",
                                                       nearest_name(column, known)));
  }
  if (!has_read_)
    Label{"reading", std::string(column)}.fail<InvalidModel>("nothing has been read yet", "call read(state) first");
  return values_[it - columns_.begin()];
}

}  // namespace mortise
