#include <mortise/core/tolerances.h>
#include <mortise/engine/engine.h>
#include <mortise/engine/engine_kernels.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

namespace mortise {

using engine::at, engine::add_product, engine::add_square, engine::dot, engine::subtract_rows, engine::with_shape;

namespace {

constexpr double still[6] = {};  // y of a body that is held

}  // namespace

Engine::Engine(const System& system, int threads, const RigidGroups* groups)
    : system_(system),
      groups_(groups),
      slots_(std::make_shared<const Slots>(system, groups)),
      plan_(std::make_shared<const Plan>(slots_)),
      motions_(system),
      unheld_(slots_->largest, 0),
      workers_(threads) {
  f_.setZero(slots_->unknowns);
  for (const std::size_t k : slots_->on) {
    seen_.push_back(motions_[k]);
    pushed_.push_back(unknowns_of(slots_->bodies[k], f_.data()));
  }
}

bool Engine::is_at(const State& s) const {
  const auto same = [](const VectorXd& a, const VectorXd& b) {  // to the last bit
    if (a.size() != b.size() || a.size() == 0) return a.size() == b.size();
    return std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0;
  };
  const State& at = evaluated_.at;
  return evaluated_.stage != Evaluated::Stage::none && s.t == at.t && same(s.q, at.q) && same(s.v, at.v) &&
         s.off == at.off;
}

void Engine::evaluate_rows_if_needed(const State& s) {
  if (has_rows_at(s)) return;
  if (!is_at(s)) move(s);
  evaluate_rows(s);
  rows_since_ = changes_;
}

void Engine::evaluate_if_needed(const State& s) {
  if (!has_rows_at(s)) return evaluate(s);
  if (evaluated_.stage != Evaluated::Stage::forces) apply_forces(s);
  const bool same = slots_->holonomic && factored_at_ && factored_at_->t == s.t && factored_at_->q == s.q &&
                    factored_at_->off == s.off;
  changed();
  if (same) factored_since_ = changes_;
}

void Engine::evaluate(const State& s) {
  if (evaluated_.stage != Evaluated::Stage::motions || !is_at(s)) move(s);
  apply_forces(s);
  evaluate_rows(s);
}

void Engine::move(const State& s) {
  evaluated_.stage = Evaluated::Stage::none;
  changed();
  const Slots::Body* slots = slots_->bodies.data();
  const Body* bodies = plan_->bodies.data();
  const System::BodyInfo* infos = system_.bodies().data();
  void* const* motions = motions_.all().data();
  const Vec3<double>& gravity = system_.gravity();
  double* f = f_.data();
  const auto move_body = [=, &s, &gravity](std::size_t i) {
    try {
      return slots[i].model->move(s, slots[i].first, gravity, infos[i].name, motions[i], f + slots[i].y);
    } catch (...) {
      rethrow_named("body", infos[i].name);
    }
  };
  const auto shares = [=](std::size_t i) { return slots[i].root != static_cast<int>(i); };
  std::atomic<bool> same = !plan_->empty();
  const bool any = all_massive_;
  workers_.each(slots_->bodies.size(), [&, slots, bodies, motions, any](std::size_t i) {
    if (shares(i)) return slots[i].model->stand(s.q.data() + slots[i].first, s.v.data() + slots[i].first, motions[i]);
    const Index without = move_body(i);
    if (!any && without != bodies[i].k - bodies[i].massive) same = false;
  });
  if (!same) {
    std::vector<Index> massless(slots_->bodies.size(), 0);
    for (std::size_t i = 0; i < massless.size(); ++i)
      if (const Index without = shares(i) ? 0 : move_body(i); !all_massive_) massless[i] = without;
    follow(engine::plan_for(system_, slots_, massless));
  }
  evaluated_.at.t = s.t;
  evaluated_.at.q = s.q;
  evaluated_.at.v = s.v;
  evaluated_.at.off = s.off;
  evaluated_.stage = Evaluated::Stage::motions;
}

// Room for the numbers of a plan.
void Engine::follow(std::shared_ptr<const Plan> plan) {
  plan_ = std::move(plan);
  serves_nearby_ = false;
  fronts_ = Fronts(plan_->tree, workers_.count());
  A_.assign(at(plan_->sizes.A), 0);
  norms_.assign(at(plan_->sizes.norms), 0);
  condensed_.qr.assign(at(plan_->sizes.qr), 0);
  condensed_.scratch.assign(at(plan_->sizes.scratch), 0);
  condensed_.references.assign(at(plan_->sizes.references), 0);
  diagonal_.assign(at(plan_->rows), 0);
  order_.setZero(plan_->tree.size());
  for (VectorXd* x : {&y_, &work_.w, &work_.g, &work_.dy}) x->setZero(unknowns());
  for (VectorXd* x : {&b_, &value_, &rate_, &lambda_, &gap_, &size_of_row_, &work_.residual, &work_.dlambda})
    x->setZero(system_.rows());
  norm_of_row_.setOnes(system_.rows());
  for (VectorXd* x : {&condensed_.h, &condensed_.force}) x->setZero(plan_->condenses() ? unknowns() : 0);
  for (VectorXd* x : {&condensed_.rhs, &condensed_.lambda}) x->setZero(plan_->condenses() ? plan_->rows : 0);
  for (const Condensation& c : plan_->condensations) find_references(at(c.body));
}

// Forces, and laws of joints.
void Engine::apply_forces(const State& s) {
  const Slots& slots = *slots_;
  derived_.forwarded = false;
  evaluated_.stage = Evaluated::Stage::none;  // until all have acted
  power_.potential = power_.potential_rate = 0;
  if (!system_.forces().empty() || !slots.nonideal.empty()) power_.own = f_;
  for (std::size_t i = 0; i < system_.forces().size(); ++i) {
    const std::size_t place = slots.force_place[i];
    try {
      const StoredEnergy V = system_.forces()[i].model->act(s, see(place), &pushed_[place]);
      power_.potential += V.value;
      power_.potential_rate += V.rate;
    } catch (...) {
      rethrow_named("force", system_.forces()[i].name);
    }
  }
  for (const std::size_t i : slots.nonideal) {
    if (std::binary_search(s.off.begin(), s.off.end(), slots.constraints[i])) continue;
    const std::size_t place = slots.joint_place[slots.constraints[i]];
    try {
      slots.joints[i]->nonideal(s, see(place), &pushed_[place]);
    } catch (...) {
      rethrow_named("joint", system_.constraints()[slots.constraints[i]].name);
    }
  }
  evaluated_.stage = Evaluated::Stage::forces;
}

void Engine::evaluate_rows(const State& s) {
  const Plan& plan = *plan_;
  const Slots& slots = *slots_;
  derived_.forwarded = false;
  changed();
  const Node* nodes = plan.nodes.data();
  const std::size_t *constraint = slots.constraints.data(), *joint_place = slots.joint_place.data();
  const Index* firsts = slots.firsts.data();
  workers_.each(slots.constraints.size(), [&, nodes, constraint, joint_place, firsts](std::size_t i) {
    const Node& n = nodes[i];
    const std::size_t place = joint_place[constraint[i]];
    try {
      slots.joints[i]->evaluate(s, {firsts + place, &seen_[place]}, A_.data() + n.A, value_.data() + n.row,
                                rate_.data() + n.row, b_.data() + n.row);
    } catch (...) {
      rethrow_named("joint", system_.constraints()[constraint[i]].name);
    }
  });
  for (const Plan::Held& g : plan.held) {
    const Node& n = plan.nodes[at(g.node)];
    for (int r = 0; r < n.rows; ++r) std::fill_n(A_.data() + n.A + Index{r} * n.columns + g.column, g.count, 0.0);
  }
  if (baumgarte_rate_ > 0) add_baumgarte_terms();
  const auto without = [&](std::size_t i, int r) {
    const Node& n = plan.nodes[i];
    std::fill_n(A_.data() + n.A + Index{r} * n.columns, n.columns, 0.0);
    b_[n.row + r] = 0;
  };
  for (const auto& [i, r] : left_out_) without(i, r);
  for (const std::size_t c : s.off) {
    const auto i = static_cast<std::size_t>(std::lower_bound(slots.constraints.begin(), slots.constraints.end(), c) -
                                            slots.constraints.begin());
    for (int r = 0; r < plan.nodes[i].rows; ++r) without(i, r);
  }
}

// phi'' + 2 w phi' + w^2 phi = 0 and psi' + w psi = 0 instead of phi'' = 0 and psi' = 0.
void Engine::add_baumgarte_terms() {
  for (std::size_t i = 0; i < slots_->constraints.size(); ++i) {
    const auto& c = system_.constraints()[slots_->constraints[i]];
    for (Index r = c.row; r < c.row + c.rows; ++r)
      b_[r] -= r < c.row + c.holonomic ? baumgarte_rate_ * (2 * rate_[r] + baumgarte_rate_ * value_[r])
                                       : baumgarte_rate_ * value_[r];
  }
}

void Engine::leave_out(const std::vector<Index>& rows) {
  changed();
  factored_at_.reset();
  serves_nearby_ = false;
  left_out_.clear();
  for (std::size_t i = 0; i < slots_->constraints.size(); ++i) {
    const auto& c = system_.constraints()[slots_->constraints[i]];
    for (const Index row : rows)
      if (row >= c.row && row < c.row + c.rows) left_out_.emplace_back(i, static_cast<int>(row - c.row));
  }
}

void Engine::react(const State& s, VectorXd& force) {
  force = f_;
  std::vector<double*> to;
  for (const std::size_t i : slots_->reacting) {
    if (std::binary_search(s.off.begin(), s.off.end(), i)) continue;
    const auto& c = system_.constraints()[i];
    const std::size_t place = slots_->joint_place[i];
    to.clear();
    for (const std::size_t b : c.bodies) to.push_back(unknowns_of(slots_->bodies[b], force.data()));
    c.model->react(s, see(place), lambda_.data() + c.row, to.data());
  }
}

VectorXd Engine::on_unknowns(const VectorXd& Q) const {
  VectorXd f = VectorXd::Zero(slots_->unknowns);
  for (std::size_t i = 0; i < slots_->bodies.size(); ++i) {
    const Slots::Body& b = slots_->bodies[i];
    if (b.root == Slots::Body::held) continue;
    VectorXd column(system_.bodies()[i].size);
    const int count = slots_->bodies[at(b.root)].k;
    for (int k = 0; k < count; ++k) {
      b.model->spread(motions_[i], VectorXd::Unit(count, k).eval().data(), column.data());
      f[b.y + k] += column.dot(Q.segment(b.first, column.size()));
    }
  }
  return f;
}

void Engine::set_right_hand_side(const Evaluation& e, const Evaluation& own) {
  const VectorXd Q = (e.Q - own.Q) + (e.C - own.C), b = e.b - own.b;
  if (Q.isZero(0) && b.isZero(0)) return;
  f_.head(slots_->unknowns) += on_unknowns(Q);  // in place: forces write to where it is
  for (const std::size_t i : slots_->constraints) {
    const auto& c = system_.constraints()[i];
    b_.segment(c.row, c.rows) += b.segment(c.row, c.rows);
  }
  derived_.forwarded = false;
  evaluated_.stage = Evaluated::Stage::none;
  changed();
}

void Engine::factor(bool positions) {
  const bool all = slots_->holonomic && !positions && rows_since_ == changes_;
  changed();
  ++factorisations_;
  serves_nearby_ = slots_->holonomic || !positions;
  factored_at_.reset();
  if (all) factored_at_ = {evaluated_.at.t, evaluated_.at.q, evaluated_.at.off};
  alarms_.clear();
  derived_ = {};
  if (positions)
    for (std::size_t i = 0; i < slots_->constraints.size(); ++i) {
      const Node& n = plan_->nodes[i];
      const Index first = system_.constraints()[slots_->constraints[i]].holonomic;
      std::fill(A_.begin() + n.A + first * n.columns, A_.begin() + n.A + Index{n.rows} * n.columns, 0.0);
    }
  const bool plain = !plan_->condenses();
  if (!plain) {
    for (const Node& n : plan_->constraint_nodes())
      for (int r = 0; r < n.rows; ++r) {
        const double norm = squares(n, r);
        norm_of_row_[n.row + r] = norm > 0 ? norm : 1;
        double& d = diagonal_[at(n.row + r)] = 0;
        for (const Entry& x : plan_->entries_of(n)) {
          const double* a = A_.data() + n.A + Index{r} * n.columns + x.column;
          d += dot<-1>(a, a, plan_->bodies[at(x.body)].massive);
        }
      }
    for (const Condensation& c : plan_->condensations)
      if (slots_->bodies[at(c.body)].model->references_vary()) find_references(at(c.body));
    for (const Condensation& c : plan_->condensations)
      if (!condense(c, positions)) alarms_.push_back(at(c.body));
  }
  const auto factored = [&] {
    order_.setZero();
    derived_.forwarded = fronts_.factor(
        workers_, [&](int front) { assemble(front); }, plain && !positions ? order_.data() : nullptr);
  };
  factored();
  // D only where pivots nearly vanish: it costs a refinement.  Whether they do depends on the state, not on the last
  // one.
  if (fronts_.pivots_above(tolerance::doubtful_pivot / (0.5 * tolerance::penalty)) != regularised_) return;
  regularised_ = !regularised_;
  factored();
}

bool Engine::has_flat_rows() const {
  const std::vector<std::size_t>& off = evaluated_.at.off;
  for (std::size_t i = 0; i < slots_->constraints.size(); ++i) {
    if (std::binary_search(off.begin(), off.end(), slots_->constraints[i])) continue;
    const Node& n = plan_->nodes[i];
    for (int r = 0; r < n.rows; ++r) {
      const double* a = A_.data() + n.A + Index{r} * n.columns;
      if (std::all_of(a, a + n.columns, [](double x) { return x == 0; })) return true;
    }
  }
  return false;
}

// The squares of a row, body by body, into norms_; and their sum.
double Engine::squares(const Node& n, int r) {
  double norm = 0, *to = norms_.data() + n.norm + r * n.entries;
  for (const Entry& x : plan_->entries_of(n)) {
    const double* a = A_.data() + n.A + Index{r} * n.columns + x.column;
    norm += * to++ = dot<-1>(a, a, plan_->bodies[at(x.body)].k);
  }
  return norm;
}

// The diagonal block of a node.  Without massless unknowns all that needs its rows is done here, while they are at
// hand: their squares, and the right-hand side b - A f.
void Engine::assemble_rows(const Node& n) {
  const Plan& plan = *plan_;
  double* to = fronts_.value(n.place);
  const auto begin = [&](int r, double square, double known) __attribute__((always_inline)) {
    const double d = square > 0 ? square : 1;  // 0: nothing moves with this row
    fronts_.floor(n.position + r) = 0.5 * tolerance::penalty * d;
    to[r * (n.stride + 1)] += (square > 0 ? known : d) + (regularised_ ? tolerance::penalty * d : 0);
    return d;
  };
  if (plan.condenses()) {
    for (int r = 0; r < n.rows; ++r) begin(r, diagonal_[at(n.row + r)], 0);
    if (n.whole) add_square<-1, -1>(A_.data() + n.A, n.rows, n.columns, to, n.stride, true);
    return;
  }
  const auto note = [&](int r, double square) __attribute__((always_inline)) {
    diagonal_[at(n.row + r)] = square;
    norm_of_row_[n.row + r] = begin(r, square, n.whole ? square : 0);
  };
  with_shape(n.shape, [&]<int R, int E, int K>() {
    const double *A = A_.data() + n.A, *f = f_.data();
    const Entry* entry = plan.entries.data() + n.entry;
    if constexpr (R > 0) {
      constexpr int columns = E * K;
      double* square = norms_.data() + n.norm;
      double norm[R], rest[R];
      for (int r = 0; r < R; ++r) norm[r] = 0, rest[r] = b_[n.row + r];
      for (int e = 0; e < E; ++e)
        for (int r = 0; r < R; ++r) {
          const double *a = A + r * columns + e * K, s = dot<K>(a, a, K);
          square[r * E + e] = s;
          norm[r] += s;
        }
      subtract_rows<R, E, K>(
          A, [&](int e) { return f + entry[e].y; }, rest);
      for (int r = 0; r < R; ++r) {
        note(r, norm[r]);
        order_[n.position + r] += rest[r];
      }
      if (n.whole) add_square<R, columns>(A, R, columns, to, n.stride, false);
    } else {
      for (int r = 0; r < n.rows; ++r) {
        double rest = b_[n.row + r];
        for (int e = 0; e < n.entries; ++e)
          rest -= dot<K>(A + Index{r} * n.columns + entry[e].column, f + entry[e].y, plan.bodies[at(entry[e].body)].k);
        note(r, squares(n, r));
        order_[n.position + r] += rest;
      }
      if (n.whole) add_square<-1, -1>(A, n.rows, n.columns, to, n.stride, false);
    }
  });
}

void Engine::assemble(int front) {
  const Plan::Filling& filling = plan_->fillings[at(front)];
  for (const int i : filling.nodes) assemble_rows(plan_->nodes[at(i)]);
  for (const Plan::Hub& h : filling.hubs)
    for (int k = 0; k < h.size; ++k) {
      *fronts_.value(h.place + Index{k} * (h.stride + 1)) -= 1;
      fronts_.floor(h.position + k) = -0.5 * tolerance::penalty;  // pivots of a hub are -1 or less
    }
  for (const Plan::Product& p : filling.products) {
    double* to = fronts_.value(p.to);
    const double *left = A_.data() + p.left, *right = A_.data() + p.right;
    with_shape(p.shape, [&]<int R, int, int K>() {
      constexpr int columns = R < 0 ? -1 : K;
      add_product<R, R, columns>(p, left, right, to);
    });
  }
  for (const Plan::Insert& x : filling.inserts) {
    double* to = fronts_.value(x.to);
    for (int r = 0; r < x.rows; ++r)
      for (int c = 0; c < x.columns; ++c)
        to[x.transposed ? c + r * x.to_stride : r + c * x.to_stride] += A_[at(x.A + r * x.stride + c)];
  }
}

double Engine::independence() const {
  double most = 1;
  for (const int i : plan_->active) {
    const Node& n = plan_->nodes[at(i)];
    for (int r = 0; r < n.rows; ++r)
      if (const double d = diagonal_[at(n.row + r)]; d > 0)
        most = std::max(most, d * std::abs(fronts_.inverse_pivot(n.position + r)));
  }
  return std::sqrt(1 / most);
}

std::vector<Engine::Dependence> Engine::dependences(int most) {
  struct Small {
    Index position;
    double norm;  // of the row
  };
  std::vector<Small> small;
  for (const int i : plan_->active) {
    const Node& n = plan_->nodes[at(i)];
    const Index position = n.position;
    for (int r = 0; r < n.rows; ++r)
      if (const double d = diagonal_[at(n.row + r)];
          tolerance::doubtful_pivot * d * fronts_.inverse_pivot(position + r) > 1)
        small.push_back({position + r, std::sqrt(d)});
  }
  const VectorXd norms = norm_of_row_.cwiseSqrt();
  condensed_.lambda.setZero(plan_->rows);
  std::vector<Dependence> out;
  derived_.forwarded = false;
  const auto find = [&](const auto& begin) {
    order_.setZero();
    begin();
    fronts_.solve_transposed(order_.data());
    for (const int i : plan_->active) {
      const Node& n = plan_->nodes[at(i)];
      const double* from = order_.data() + n.position;
      for (int r = 0; r < n.rows; ++r) condensed_.lambda[n.row + r] = from[r];
    }
    expand_multipliers(false);
    Dependence d{condensed_.lambda.head(system_.rows()), 0, 0};
    double largest = 0;
    for (const Node& n : plan_->constraint_nodes())
      for (int r = 0; r < n.rows; ++r)
        if (const double x = std::abs(d.y[n.row + r]) * norms[n.row + r]; x > largest) largest = x, d.main = n.row + r;
    if (!(largest > 0)) return;
    d.y /= largest;
    for (const Node& n : plan_->constraint_nodes())
      for (int r = 0; r < n.rows; ++r)
        if (std::abs(d.y[n.row + r]) * norms[n.row + r] < tolerance::no_factor_by_pivots)
          d.y[n.row + r] = 0;  // round-off
    work_.dy.setZero();
    add_reactions(d.y, work_.dy);
    d.size = work_.dy.norm();
    out.push_back(std::move(d));
  };
  if (static_cast<int>(small.size()) <= most)
    for (const Small& s : small) find([&] { order_[s.position] = 1 / s.norm; });
  else
    find([&] {  // one combination that has all of them
      double weight = 1;
      for (const Small& s : small) order_[s.position] = (weight = std::fmod(weight * 1.618 + 0.1, 1.0) + 0.5) / s.norm;
    });
  return out;
}

void Engine::accelerations(VectorXd& a) const {
  const Slots& slots = *slots_;
  a.resize(system_.size());
  workers_.each(slots.bodies.size(), [&](std::size_t i) {
    const Slots::Body& b = slots.bodies[i];
    b.model->accelerate(motions_[i], b.root == Slots::Body::held ? still : y_.data() + b.y, a.data() + b.first);
  });
}

void Engine::expand(const VectorXd& y, VectorXd& dq) const {
  dq.resize(system_.size());
  for (std::size_t i = 0; i < slots_->bodies.size(); ++i) {
    const Slots::Body& b = slots_->bodies[i];
    b.model->spread(motions_[i], b.root == Slots::Body::held ? still : y.data() + b.y, dq.data() + b.first);
  }
}

void Engine::normalise(State& s) const {
  for (const Slots::Body& b : slots_->bodies) b.model->normalise(s.q.data() + b.first, s.v.data() + b.first);
}

Momentum Engine::momentum() const {
  Momentum sum;
  for (std::size_t i = 0; i < slots_->bodies.size(); ++i) {
    const Slots::Body& b = slots_->bodies[i];
    if (const auto m = b.weighs ? b.model->momentum(motions_[i]) : std::nullopt)
      sum.linear += m->linear, sum.angular += m->angular;
  }
  return sum;
}

void Engine::evaluate_motions_and_forces(const State& s) {
  if (!is_at(s)) move(s);
  if (evaluated_.stage != Evaluated::Stage::forces) apply_forces(s);
  power_.velocity.resize(slots_->unknowns);
  for (std::size_t i = 0; i < slots_->bodies.size(); ++i)
    if (const Slots::Body& b = slots_->bodies[i]; b.k > 0)
      b.model->velocities(motions_[i], power_.velocity.data() + b.y);
}

Energy Engine::energy(const State& s) {
  evaluate_motions_and_forces(s);
  Energy out{0, power_.potential};
  for (std::size_t i = 0; i < slots_->bodies.size(); ++i) {
    const Slots::Body& b = slots_->bodies[i];
    out.kinetic += 0.5 * power_.velocity.segment(b.y, plan_->bodies[i].massive).squaredNorm();
    if (b.weighs) out.potential -= system_.gravity().dot(b.model->first_moment(s, b.first));
  }
  for (const std::size_t i : slots_->storing) out.potential += stored(i, s).potential;
  return out;
}

double Engine::input(const State& s) {
  evaluate_motions_and_forces(s);
  double power = 0;
  for (const std::size_t i : slots_->storing) {
    const BodyModel::Stored own = stored(i, s);
    power += own.power + own.potential_rate;
  }
  if (system_.forces().empty() && slots_->nonideal.empty()) return power;
  return power + (f_ - power_.own).dot(power_.velocity) + power_.potential_rate;
}

double Engine::power_of_reactions(const State& s) {
  evaluate_motions_and_forces(s);
  work_.g.setZero();
  add_reactions(lambda_, work_.g);
  return work_.g.dot(power_.velocity);
}

std::vector<Work> Engine::works(const State& s) {
  evaluate_motions_and_forces(s);
  std::vector<Work> out;
  if (const Vec3<double>& g = system_.gravity(); g != Vec3<double>::Zero()) {
    Work w{0, 0.0};
    for (std::size_t i = 0; i < slots_->bodies.size(); ++i) {
      const Slots::Body& b = slots_->bodies[i];
      if (!b.weighs) continue;
      const auto momentum = b.model->momentum(motions_[i]);
      w.power += g.dot(momentum ? momentum->linear : b.model->first_moment_rate(s, b.first));
      *w.potential -= g.dot(b.model->first_moment(s, b.first));
    }
    out.push_back(w);
  }
  for (const std::size_t i : slots_->storing) {
    const BodyModel::Stored own = stored(i, s);
    out.push_back({own.power, own.potential, own.power + own.potential_rate});
  }
  VectorXd f = VectorXd::Zero(slots_->unknowns);
  std::vector<double*> to;
  for (std::size_t i = 0; i < system_.forces().size(); ++i) {
    const auto& force = system_.forces()[i];
    const std::size_t place = slots_->force_place[i];
    to.clear();
    for (const std::size_t b : force.bodies) to.push_back(unknowns_of(slots_->bodies[b], f.data()));
    StoredEnergy V;
    try {
      V = force.model->act(s, see(place), to.data());
    } catch (...) {
      rethrow_named("force", force.name);
    }
    Work w;
    for (const std::size_t k : force.bodies) {
      if (slots_->bodies[k].root == Slots::Body::held) continue;
      const Slots::Body& b = slots_->bodies[at(slots_->bodies[k].root)];
      w.power += f.segment(b.y, b.k).dot(power_.velocity.segment(b.y, b.k));
      f.segment(b.y, b.k).setZero();  // also where it stands twice
    }
    if (force.model->stores()) w.potential = V.value;
    w.input = w.power + V.rate;
    out.push_back(w);
  }
  return out;
}

// x - x is 0, or NaN where x is not finite; sums are faster than a test of each.
bool Engine::finite() const { return (y_.array() - y_.array()).sum() + (lambda_.array() - lambda_.array()).sum() == 0; }

}  // namespace mortise
