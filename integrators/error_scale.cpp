#include <mortise/integrators/error_scale.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace mortise {
namespace {
constexpr double least = 1e-6;  // of the unit: what is smaller all the time may be round-off
}  // namespace

void ErrorScale::begin(const System& system, const State& s) {
  kind_.clear();
  std::unordered_map<std::string, int> known;
  for (const auto& b : system.bodies()) {
    const auto units = b.model->units();
    const auto groups = b.model->groups();
    for (std::size_t i = 0; i < units.size(); ++i) {
      const std::string key = units[i].empty() ? fmt::format("{}.{}", b.name, groups[i]) : units[i];
      kind_.push_back(known.emplace(key, static_cast<int>(known.size())).first->second);
    }
  }
  q_ = VectorXd::Constant(static_cast<Index>(known.size()), least);
  v_ = VectorXd::Zero(q_.size());
  start_ = s.q;
  include(s.q, s.v);
}

void ErrorScale::include(const VectorXd& q, const VectorXd& v) {
  for (Index i = 0; i < q.size(); ++i) {
    const int k = kind_[static_cast<std::size_t>(i)];
    q_[k] = std::max(q_[k], std::abs(q[i] - start_[i]));
    v_[k] = std::max(v_[k], std::abs(v[i]));
  }
  rate_ = q_.size() > 0 ? v_.cwiseQuotient(q_).maxCoeff() : 0;
}

double ErrorScale::norm(const VectorXd& dq, const VectorXd& dv) const {
  double sum = 0;
  for (Index i = 0; i < dq.size(); ++i) {
    const int k = kind_[static_cast<std::size_t>(i)];
    sum += std::pow(dq[i] / q_[k], 2);
    if (dv[i] != 0) sum += std::pow(dv[i] / std::max({v_[k], rate_ * q_[k], least}), 2);
  }
  return dq.size() == 0 ? 0 : std::sqrt(sum / static_cast<double>(2 * dq.size()));
}

std::pair<VectorXd, VectorXd> ErrorScale::sizes() const {
  std::pair<VectorXd, VectorXd> out{start_, start_};
  for (Index i = 0; i < start_.size(); ++i) {
    const int k = kind_[static_cast<std::size_t>(i)];
    out.first[i] = q_[k];
    out.second[i] = std::max({v_[k], rate_ * q_[k], least});
  }
  return out;
}

}  // namespace mortise
