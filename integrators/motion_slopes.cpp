#include <mortise/integrators/motion_slopes.h>

#include <algorithm>
#include <cmath>

#include <mortise/assembly/force_of.h>
#include <mortise/assembly/joint_of.h>

namespace mortise {
namespace {

constexpr double root = 1.5e-8, third = 6e-6;  // shares that leave least errors, of one-sided and central differences

// The bodies of one part.  Where all have a frame they stand in motions, and only the one that is varied is moved.
class PartBodies {
 public:
  PartBodies(const System& system, const std::vector<std::size_t>& which, bool framed, const State& s,
             const VectorXd& a)
      : firsts_(system.firsts(which)) {
    for (const std::size_t i : which) {
      const auto& b = system.bodies()[i];
      models_.push_back(b.model);
      where_.push_back(size_);
      unknown_.push_back(unknowns_);
      size_ += b.size;
      unknowns_ += b.model->unknowns();
      framed = framed && b.model->frame() >= 0;
    }
    a_.resize(size_);
    for (std::size_t i = 0; i < models_.size(); ++i) a_.segment(where_[i], size(i)) = a.segment(firsts_[i], size(i));
    if (framed) motions_.emplace(models_, s, firsts_);
    y_.setZero(unknowns_);
  }

  std::size_t count() const { return models_.size(); }
  Index size() const { return size_; }  // coordinates, of all and of one
  Index size(std::size_t i) const { return models_[i]->size(); }
  Index first(std::size_t i) const { return firsts_[i]; }  // of the system
  Index where(std::size_t i) const { return where_[i]; }   // of the part
  const std::vector<Index>& firsts() const { return firsts_; }
  const VectorXd& a() const { return a_; }

  bool framed() const { return motions_.has_value(); }
  Places places() const { return motions_->places(firsts_); }
  Index unknowns() const { return unknowns_; }
  Index unknown(std::size_t i) const { return unknown_[i]; }
  const VectorXd& y() const { return y_; }  // the unknowns of a

  void stand(std::size_t i, const State& x) {
    if (!framed()) return;
    models_[i]->stand(x.q.data() + firsts_[i], x.v.data() + firsts_[i], motion(i));
    if (accelerates_) accelerate(i);
  }
  // y is kept, too.
  void accelerate() {
    accelerates_ = framed();
    for (std::size_t i = 0; accelerates_ && i < count(); ++i) accelerate(i);
  }
  // Forces on the unknowns as forces on the coordinates.
  void gather(const double* on_unknowns, double* out) const {
    for (std::size_t i = 0; i < count(); ++i)
      if (size(i) > 0) models_[i]->gather(motion(i), on_unknowns + unknown_[i], out + where_[i]);
  }

 private:
  // y = S (a - z) of a body where it stands, S by its rows.
  void accelerate(std::size_t i) {
    const BodyModel& b = *models_[i];
    Buffer<double, 16> z(b.size()), row(b.size()), unit(b.unknowns(), 0.0);
    b.drift(motion(i), z.data());
    for (Index k = 0; k < b.unknowns(); ++k) {
      unit[k] = 1;
      b.gather(motion(i), unit.data(), row.data());
      unit[k] = 0;
      double sum = 0;
      for (Index j = 0; j < b.size(); ++j) sum += row[j] * (a_[where_[i] + j] - z[j]);
      y_[unknown_[i] + k] = sum;
    }
  }
  void* motion(std::size_t i) const { return const_cast<void*>(motions_->places(firsts_).motion[i]); }

  std::vector<Index> firsts_, where_, unknown_;
  std::vector<std::shared_ptr<const BodyModel>> models_;
  std::optional<Motions> motions_;
  Index size_ = 0, unknowns_ = 0;
  VectorXd a_, y_;
  bool accelerates_ = false;
};

}  // namespace

// f(row, column, rows, columns) for every block, always in the same order; rows of constraints from n on.
template <class F> void MotionSlopes::each_block(const F& f) const {
  const auto& bodies = system_->bodies();
  const auto pairs = [&](const std::vector<std::size_t>& on) {
    for (const std::size_t j : on)
      for (const std::size_t i : on) f(bodies[i].first, bodies[j].first, bodies[i].size, bodies[j].size);
  };
  for (const auto& b : bodies) f(b.first, b.first, b.size, b.size);
  for (const auto& force : system_->forces()) pairs(force.bodies);
  for (std::size_t k = 0; k < system_->constraints().size(); ++k) {
    if (off_[k]) continue;
    const auto& c = system_->constraints()[k];
    pairs(c.bodies);
    for (const std::size_t i : c.bodies) f(n_ + c.row, bodies[i].first, c.rows, bodies[i].size);
    for (const std::size_t i : c.bodies) f(bodies[i].first, n_ + c.row, bodies[i].size, c.rows);
  }
}

void MotionSlopes::begin(const System& system, const State& s, const std::vector<Index>& left_out) {
  system_ = &system;
  n_ = system.size();
  off_.assign(system.constraints().size(), false);
  for (const std::size_t k : s.off) off_[k] = true;
  kept_.assign(static_cast<std::size_t>(system.rows()), 0);
  for (const Index i : left_out) kept_[static_cast<std::size_t>(i)] = -1;
  for (const std::size_t k : s.off)
    std::fill_n(kept_.begin() + system.constraints()[k].row, system.constraints()[k].rows, Index{-1});
  rows_ = 0;
  for (Index& i : kept_) i = i < 0 ? -1 : rows_++;
  at_.emplace(system.evaluate(s));

  const auto index = [&](Index i) {
    return i < n_ || kept_[static_cast<std::size_t>(i - n_)] < 0 ? (i < n_ ? i : Index{-1})
                                                                 : n_ + kept_[static_cast<std::size_t>(i - n_)];
  };
  std::vector<Eigen::Triplet<double>> entries;
  each_block([&](Index row, Index column, Index rows, Index columns) {
    for (Index j = 0; j < columns; ++j)
      for (Index i = 0; i < rows; ++i)
        if (index(row + i) >= 0 && index(column + j) >= 0) entries.emplace_back(index(row + i), index(column + j), 1.0);
  });
  pattern_.resize(n_ + rows_, n_ + rows_);
  pattern_.setFromTriplets(entries.begin(), entries.end());
  pattern_.makeCompressed();
  place_.clear();
  each_block([&](Index row, Index column, Index rows, Index columns) {
    for (Index j = 0; j < columns; ++j)
      for (Index i = 0; i < rows; ++i) {
        const Index r = index(row + i), c = index(column + j);
        if (r < 0 || c < 0) {
          place_.push_back(-1);
          continue;
        }
        const auto* from = pattern_.innerIndexPtr() + pattern_.outerIndexPtr()[c];
        const auto* to = pattern_.innerIndexPtr() + pattern_.outerIndexPtr()[c + 1];
        place_.push_back(std::lower_bound(from, to, r) - pattern_.innerIndexPtr());
      }
  });
  ++patterns_;
}

void MotionSlopes::take(const State& s, const VectorXd& a, const VectorXd& given_lambda, const VectorXd& size_q,
                        const VectorXd& size_v, double dt) {
  const System& system = *system_;
  const auto& bodies = system.bodies();
  system.evaluate(s, *at_);
  const Evaluation& e = *at_;
  const auto count = static_cast<std::size_t>(pattern_.nonZeros());
  for (std::vector<double>* x : {&constant_, &first_, &second_}) x->assign(count, 0.0);
  std::size_t cursor = 0;  // in place_
  const auto put = [&](std::vector<double>& to, const auto& block, double factor) {
    for (Index j = 0; j < block.cols(); ++j)
      for (Index i = 0; i < block.rows(); ++i, ++cursor)
        if (place_[cursor] >= 0) to[static_cast<std::size_t>(place_[cursor])] += factor * block(i, j);
    cursor -= static_cast<std::size_t>(block.size());
  };
  const auto next = [&](Index rows, Index columns) { cursor += static_cast<std::size_t>(rows * columns); };
  const auto put_pairs = [&](const std::vector<std::size_t>& on, const MatrixXd& dq, const MatrixXd& dv) {
    Index column = 0;
    for (const std::size_t j : on) {
      Index row = 0;
      for (const std::size_t i : on) {
        put(second_, dq.block(row, column, bodies[i].size, bodies[j].size), 1);
        put(first_, dv.block(row, column, bodies[i].size, bodies[j].size), 1);
        next(bodies[i].size, bodies[j].size);
        row += bodies[i].size;
      }
      column += bodies[j].size;
    }
  };

  // Multipliers of the rows that bodies meet by themselves, which nobody tells: what balances the forces there.
  VectorXd lambda = given_lambda;
  VectorXd left = -(e.Q + e.C);
  double largest_mass = 0, largest_row = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto& b = bodies[i];
    left.segment(b.first, b.size) += e.M(i) * a.segment(b.first, b.size);
    if (b.size > 0) largest_mass = std::max(largest_mass, e.M(i).cwiseAbs().maxCoeff());
  }
  for (const auto& block : e.layout().A) {
    const auto A = e.A(static_cast<std::size_t>(&block - e.layout().A.data()));
    left.segment(block.first, block.size) -= A.transpose() * lambda.segment(block.row, block.rows);
    if (A.size() > 0) largest_row = std::max(largest_row, A.cwiseAbs().maxCoeff());
  }
  for (const auto& c : system.constraints()) {
    const auto& b = bodies[c.bodies[0]];
    if (!c.own || !b.model->meets_own_rows()) continue;
    const MatrixXd A = e.A(c.block);
    lambda.segment(c.row, c.rows) = (A * A.transpose()).ldlt().solve(A * left.segment(b.first, b.size));
  }
  row_scale_ = largest_mass > 0 && largest_row > 0 ? largest_mass / largest_row : 1;

  State x = s;
  VectorXd Q = VectorXd::Zero(n_), here, there;
  // take(column, slope) for every coordinate, or velocity, of a part: the slope of what f(out) tells.
  const auto vary = [&](PartBodies& on, bool velocity, bool central, const auto& f, const auto& take) {
    const VectorXd& size = velocity ? size_v : size_q;
    VectorXd& numbers = velocity ? x.v : x.q;
    const double share = central ? third : root;
    if (!central) f(here);
    for (std::size_t i = 0; i < on.count(); ++i) {
      for (Index k = 0; k < on.size(i); ++k) {
        double& at = numbers[on.first(i) + k];
        const double middle = at;
        const auto move = [&](double by) {
          at = middle + by;
          on.stand(i, x);
        };
        move(share * size[on.first(i) + k]);
        double by = at - middle;
        f(there);
        if (central) {
          const double up = at;
          move(-share * size[on.first(i) + k]);
          by = up - at;
          f(here);
        }
        there = (there - here) / by;
        at = middle;
        take(on.where(i) + k, there);
      }
      on.stand(i, x);
    }
  };
  // What f adds to forces on all coordinates, of those of the part.
  const auto collected = [&](const PartBodies& on, const auto& f, VectorXd& out) {
    f();
    out.resize(on.size());
    for (std::size_t i = 0; i < on.count(); ++i) {
      out.segment(on.where(i), on.size(i)) = Q.segment(on.first(i), on.size(i));
    }
    for (std::size_t i = 0; i < on.count(); ++i) Q.segment(on.first(i), on.size(i)).setZero();
  };
  const auto columns = [](MatrixXd& m) { return [&m](Index k, const VectorXd& slope) { m.col(k) = slope; }; };
  MatrixXd dq, dv, P, R;

  // Bodies and forces by central differences: what is stiff is in them, and what heavy bodies do by their velocities,
  // squared, must not come to the light ones beside them as an error.  Forces are nearly linear in velocities.
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto& b = bodies[i];
    PartBodies on(system, {i}, false, s, a);
    const bool weighs = b.model->has_weight() && !system.gravity().isZero(0);
    const auto by_place = [&](VectorXd& out) {
      out = -b.model->force(x, b.first);
      out.noalias() += b.model->mass_matrix(x, b.first) * on.a();
      if (!weighs) return;
      b.model->gravity(x, b.first, system.gravity(), Q);
      out -= Q.segment(b.first, b.size);
      Q.segment(b.first, b.size).setZero();
    };
    const auto by_speed = [&](VectorXd& out) { out = -b.model->force(x, b.first); };
    dq.resize(b.size, b.size), dv.resize(b.size, b.size);
    vary(on, false, true, by_place, columns(dq));
    vary(on, true, true, by_speed, columns(dv));
    put(constant_, e.M(i), 1);
    put(first_, dv, 1);
    put(second_, dq, 1);
    next(b.size, b.size);
  }
  for (const auto& f : system.forces()) {
    PartBodies on(system, f.bodies, dynamic_cast<const ForcePart*>(f.model.get()) != nullptr, s, a);
    VectorXd push = VectorXd::Zero(on.unknowns());
    std::vector<double*> pushes;
    for (std::size_t i = 0; on.framed() && i < on.count(); ++i) pushes.push_back(push.data() + on.unknown(i));
    const auto force = [&](VectorXd& out) {
      if (!on.framed())
        return collected(
            on, [&] { f.model->act(x, on.firsts(), Q); }, out);
      push.setZero();
      f.model->act(x, on.places(), pushes.data());
      out.resize(on.size());
      on.gather(push.data(), out.data());
    };
    dq.resize(on.size(), on.size()), dv.resize(on.size(), on.size());
    vary(on, false, true, force, columns(dq));
    vary(on, true, false, force, columns(dv));
    put_pairs(f.bodies, -dq, -dv);
  }
  for (std::size_t number = 0; number < system.constraints().size(); ++number) {
    if (off_[number]) continue;
    const auto& c = system.constraints()[number];
    PartBodies on(system, c.bodies, dynamic_cast<const JointModel*>(c.model.get()) != nullptr, s, a);
    const Index size = on.size();
    dq.setZero(size, size), dv.setZero(size, size);
    if (!c.model->ideal()) {
      const auto law = [&](VectorXd& out) {
        collected(
            on, [&] { c.model->nonideal(x, on.firsts(), Q); }, out);
      };
      vary(on, false, true, law, [&](Index k, const VectorXd& slope) { dq.col(k) = -slope; });
      vary(on, true, true, law, [&](Index k, const VectorXd& slope) { dv.col(k) = -slope; });
    }
    // A'lambda and A a - b.
    on.accelerate();
    const auto multipliers = lambda.segment(c.row, c.rows);
    MatrixXd A(c.rows, size), A_there(c.rows, size);
    std::vector<Eigen::Map<MatrixXd>> blocks;
    for (std::size_t i = 0; i < on.count(); ++i) {
      A.middleCols(on.where(i), on.size(i)) = e.A(c.block + i);
      blocks.emplace_back(A_there.data() + on.where(i) * c.rows, c.rows, on.size(i));
    }
    VectorXd value(c.rows), rate(c.rows), b(c.rows), push(on.unknowns()), row(size);
    Eigen::Matrix<double, dynamic, dynamic, Eigen::RowMajor> Y(c.rows, on.unknowns());
    const auto rows = [&](VectorXd& out) {
      out.resize(size + c.rows);
      if (on.framed()) {
        c.model->evaluate(x, on.places(), Y.data(), value.data(), rate.data(), b.data());
        push = Y.transpose() * multipliers;
        on.gather(push.data(), out.data());
        out.tail(c.rows) = Y * on.y() - b;
      } else {
        c.model->evaluate(x, on.firsts(), value, b, blocks);
        out.head(size) = A_there.transpose() * multipliers;
        out.tail(c.rows) = A_there * on.a() - b;
      }
    };
    P.resize(c.rows, size), R.setZero(c.rows, size);
    vary(on, false, false, rows, [&](Index k, const VectorXd& slope) {
      dq.col(k) -= slope.head(size);
      P.col(k) = slope.tail(c.rows);
    });
    if (c.holonomic < c.rows)
      vary(on, true, true, rows, [&](Index k, const VectorXd& slope) {
        dv.col(k) -= slope.head(size);
        R.col(k) = slope.tail(c.rows);
      });
    // d phi''/dv = 2 dA/dt.  Both of them as the joint tells them: where a quaternion is not of unit length, the A of
    // the evaluation differs by as much.
    if (c.holonomic > 0) {
      const auto tell = [&] {
        if (!on.framed()) return c.model->evaluate(x, on.firsts(), value, b, blocks);
        c.model->evaluate(x, on.places(), Y.data(), value.data(), rate.data(), b.data());
        for (Index r = 0; r < c.holonomic; ++r) {
          on.gather(Y.row(r).data(), row.data());
          A_there.row(r) = row.transpose();
        }
      };
      tell();
      const MatrixXd A_here = A_there;
      x.t += dt;
      for (std::size_t i = 0; i < on.count(); ++i) {
        x.q.segment(on.first(i), on.size(i)) += dt * s.v.segment(on.first(i), on.size(i));
        on.stand(i, x);
      }
      tell();
      R.topRows(c.holonomic) = 2 / (x.t - s.t) * (A_there - A_here).topRows(c.holonomic);
      x.t = s.t;
      for (std::size_t i = 0; i < on.count(); ++i)
        x.q.segment(on.first(i), on.size(i)) = s.q.segment(on.first(i), on.size(i));
    }
    put_pairs(c.bodies, dq, dv);
    for (std::size_t i = 0; i < on.count(); ++i) {
      put(constant_, A.middleCols(on.where(i), on.size(i)), row_scale_);
      put(first_, R.middleCols(on.where(i), on.size(i)), row_scale_);
      put(second_, P.middleCols(on.where(i), on.size(i)), row_scale_);
      next(c.rows, on.size(i));
    }
    for (std::size_t i = 0; i < on.count(); ++i) {
      put(constant_, A.middleCols(on.where(i), on.size(i)).transpose(), -row_scale_);
      next(on.size(i), c.rows);
    }
  }
}

template <class S>
void MotionSlopes::right_hand_side(S shift, const Vec<S, dynamic>& q, const Vec<S, dynamic>& v,
                                   Vec<S, dynamic>& out) const {
  const S one = S(1) / shift, two = one * one;
  out.setZero(unknowns());
  for (Index c = 0; c < n_; ++c) {
    const S y = two * q[c], x = one * q[c] + two * v[c];
    for (Index i = pattern_.outerIndexPtr()[c]; i < pattern_.outerIndexPtr()[c + 1]; ++i) {
      const auto k = static_cast<std::size_t>(i);
      out[pattern_.innerIndexPtr()[i]] += constant_[k] * x + first_[k] * y;
    }
  }
}

VectorXd MotionSlopes::times_second(const VectorXd& q) const {
  VectorXd out = VectorXd::Zero(unknowns());
  for (Index c = 0; c < n_; ++c)
    for (Index i = pattern_.outerIndexPtr()[c]; i < pattern_.outerIndexPtr()[c + 1]; ++i)
      out[pattern_.innerIndexPtr()[i]] += second_[static_cast<std::size_t>(i)] * q[c];
  return out;
}

template <class S> bool MotionSlopes::Factor<S>::compute(const MotionSlopes& slopes, S shift) {
  slopes_ = &slopes;
  shift_ = shift;
  if (pattern_ != slopes.patterns_) lu_.analyse(slopes.pattern_);
  pattern_ = slopes.patterns_;
  values_.resize(slopes.constant_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = slopes.value(i, shift);
  return lu_.factor(values_);
}

template <class S> void MotionSlopes::Factor<S>::solve(Vec<S, dynamic>& q, Vec<S, dynamic>& v) const {
  slopes_->right_hand_side(shift_, q, v, x_);
  lu_.solve(x_);
  v = shift_ * x_.head(slopes_->n_) - q;
  q = x_.head(slopes_->n_);
}

template class KeptLU<double>;
template class KeptLU<std::complex<double>>;
template class MotionSlopes::Factor<double>;
template class MotionSlopes::Factor<std::complex<double>>;
template void MotionSlopes::right_hand_side(double, const VectorXd&, const VectorXd&, VectorXd&) const;

}  // namespace mortise
