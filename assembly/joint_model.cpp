#include <algorithm>
#include <typeinfo>

#include <fmt/format.h>

#include <mortise/assembly/joint_of.h>

namespace mortise {

using detail::Access;

namespace detail {

void require_count(const Label& label, std::size_t given, std::size_t needed) {
  label.require(given == needed, fmt::format("it acts on {} bodies, not on {}", needed, given),
                "name as many bodies as it needs");
}

void require_same_types(const Label& label, BodyModels before, BodyModels now) {
  require_count(label, now.size(), before.size());
  const auto word = [](const std::string& kind) { return kind.empty() ? "body of another type" : kind; };
  for (std::size_t i = 0; i < now.size(); ++i) {
    const BodyModel &was = *before[i], &is = *now[i];
    label.require(typeid(was) == typeid(is),
                  fmt::format("it needs a {} where there is a {} now", word(was.kind()), word(is.kind())),
                  "give it a body of the same type, with the same template arguments");
  }
}

}  // namespace detail

std::vector<JointModel::Row> JointModel::numbered(int rows) {
  std::vector<Row> out;
  for (int i = 1; i <= rows; ++i) out.push_back({fmt::format("{}", i), "", "lambda", ""});
  return out;
}
std::vector<JointModel::Row> JointModel::listed(std::span<const RowInfo> rows) {
  std::vector<Row> out;
  for (const RowInfo& r : rows)
    out.push_back({std::string(r.name), std::string(r.removes), std::string(r.reaction), std::string(r.unit)});
  return out;
}
std::optional<Vec3<double>> JointModel::world(const Vec3<double>& axis, const State& s, Firsts first,
                                              std::size_t i) const {
  const BodyModel& body = *bodies()[i];
  if (!body.has(Ask::direction, 3)) return {};
  Vec3<double> out;
  body.locate(Ask::direction, {axis.data(), 3}, s.q.data() + first[i], out.data());
  return out;
}

std::optional<ConstraintModel::Turned> JointModel::turned(const Axis& a, const Axis& b, Aligned aligned, const State& s,
                                                          Firsts first) const {
  const auto cosine = [&](const Vec3<double>& on_a, const Vec3<double>& on_b) -> std::optional<double> {
    const auto x = world(on_a, s, first, 0), y = world(on_b, s, first, 1);
    return x && y ? std::optional(x->dot(*y)) : std::nullopt;
  };
  const auto z = cosine(a.along, b.along);
  if (!z) return {};
  if (aligned == Aligned::axes) return Turned{std::acos(std::clamp(*z, -1.0, 1.0)), false};
  const double trace = *z + *cosine(a.across_1, b.across_1) + *cosine(a.across_2, b.across_2);
  return Turned{std::acos(std::clamp((trace - 1) / 2, -1.0, 1.0)), true};
}

void JointModel::evaluate(const State& s, Firsts first, VectorRef value, VectorRef b,
                          std::span<Eigen::Map<MatrixXd>> A) const {
  const RowJet t = RowJet::time(s.t);
  const auto entry = [&](int first_row) {
    return [&, first_row](std::size_t body, int row, Index j) -> double& { return A[body](first_row + row, j); };
  };
  const int h = facts_.holonomic, m = facts_.rows;
  if (h > 0)
    row_pass(
        bodies(), s, first, false, h, [&](const Access<RowJet>* a, RowJet* out) { phi(a, t, out); }, entry(0),
        value.data(), b.data());
  if (m > h)
    row_pass(
        bodies(), s, first, true, m - h, [&](const Access<RowJet>* a, RowJet* out) { psi(a, t, out); }, entry(h),
        value.data() + h, b.data() + h);
}

void JointModel::evaluate(const State& s, const Places& at, double* A, double* value, double* rate, double* b) const {
  const RowJet t = RowJet::time(s.t);
  const int h = facts_.holonomic, m = facts_.rows;
  if (h > 0) {
    row_pass(bodies(), s, at, false, h, [&](const Access<RowJet>* a, RowJet* out) { phi(a, t, out); },
             {A, value, rate, b});
    for (int i = 0; i < h; ++i) b[i] = -b[i];
  }
  if (m > h) {
    Index K = 0;
    for (std::size_t i = 0; i < bodies().size(); ++i) K += columns(*bodies()[i], at.motion[i]);
    row_pass(bodies(), s, at, true, m - h, [&](const Access<RowJet>* a, RowJet* out) { psi(a, t, out); },
             {A + h * K, value + h, b + h, nullptr});
    for (int i = h; i < m; ++i) {
      rate[i] = value[i];
      b[i] = -b[i];
    }
  }
}

bool JointModel::evaluate(const TaylorState& s, Firsts first, TaylorVector& rows) const {
  const auto a = taylor_views(bodies(), s, first, nullptr);
  if (facts_.holonomic > 0) phi(a.data(), s.t, rows.data());
  if (facts_.rows > facts_.holonomic) psi(a.data(), s.t, rows.data() + facts_.holonomic);
  return true;
}

// d(A'lambda)/dq is the Hessian of lambda . phi, and the mixed one of lambda . psi: a pair of directions at a time.
JointModel::RowSlopes JointModel::slopes(const State& s, Firsts first, const double* lambda) const {
  TaylorBodies x(bodies(), s, first);
  x.remember();
  const Index n = x.size();
  const int h = facts_.holonomic, m = facts_.rows;
  RowSlopes out{MatrixXd::Zero(n, n), MatrixXd::Zero(n, n), MatrixXd::Zero(m, n)};
  std::vector<Taylor> rows(static_cast<std::size_t>(m));
  const Taylor t(s.t);
  const auto evaluate_phi = [&] { phi(x.access(), t, rows.data()); };
  const auto evaluate_psi = [&] { psi(x.access(), t, rows.data() + h); };
  const auto q = [&](Index i) -> Taylor& { return x.q(i); };
  const auto weighed = [&](int from, int to) {
    double sum = 0;
    for (int i = from; i < to; ++i) sum += lambda[i] * rows[static_cast<std::size_t>(i)].slope1;
    return sum;
  };
  const auto loaded = [&](int from, int to) {
    return std::any_of(lambda + from, lambda + to, [](double y) { return y != 0; });
  };
  const auto values = [&](int from, int to) {
    return [&, from, to](Index k, double Taylor::*d) {
      for (int i = from; i < to; ++i) out.value_dq(i, k) = rows[static_cast<std::size_t>(i)].*d;
    };
  };
  if (h > 0) {
    for_each_pair(n, q, evaluate_phi, values(0, h));
    for (Index i = 0; loaded(0, h) && i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        x.q(i).d1 = x.q(j).slope = 1;
        evaluate_phi();
        out.force_dq(i, j) = out.force_dq(j, i) = weighed(0, h);
        x.q(i).d1 = x.q(j).slope = 0;
      }
  }
  if (m > h) {
    for_each_pair(n, q, evaluate_psi, values(h, m));
    for (Index i = 0; loaded(h, m) && i < n; ++i) {
      x.v(i).d1 = 1;
      for (Index j = 0; j < n; ++j) {
        x.q(j).slope = 1;
        evaluate_psi();
        out.force_dq(i, j) += weighed(h, m);
        x.q(j).slope = 0;
        if (j > i) continue;
        x.v(j).slope = 1;
        evaluate_psi();
        out.force_dv(i, j) = out.force_dv(j, i) = weighed(h, m);
        x.v(j).slope = 0;
      }
      x.v(i).d1 = 0;
    }
  }
  return out;
}

void JointModel::nonideal(const State& s, const Places& at, double* const* f) const {
  if (facts_.law)
    force_pass(
        bodies(), s, at, [&](Access<double>* a) { law(a, s.t); }, f);
}
void JointModel::nonideal(const State& s, Firsts first, VectorRef C) const {
  if (facts_.law)
    force_pass(
        bodies(), s, first, [&](Access<double>* a) { law(a, s.t); }, C);
}
bool JointModel::nonideal(const TaylorState& s, Firsts first, TaylorVector& C) const {
  if (!facts_.law) return true;
  if (!facts_.law_varies) return false;
  auto a = taylor_views(bodies(), s, first, &C);
  law(a.data(), s.t);
  return true;
}
std::optional<Slopes> JointModel::nonideal_slopes(const State& s, Firsts first) const {
  if (!facts_.law || !facts_.law_varies) return std::nullopt;
  return force_slopes(bodies(), s, first, [&](Access<Taylor>* a, const Taylor& t) { law(a, t); });
}
void JointModel::react(const State& s, const Places& at, const double* lambda, double* const* f) const {
  if (facts_.reacts)
    force_pass(
        bodies(), s, at, [&](Access<double>* a) { reaction_law(a, s.t, lambda); }, f);
}
void JointModel::react(const State& s, Firsts first, const double* lambda, VectorRef C) const {
  if (facts_.reacts)
    force_pass(
        bodies(), s, first, [&](Access<double>* a) { reaction_law(a, s.t, lambda); }, C);
}

}  // namespace mortise
