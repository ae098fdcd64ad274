// The report on random mechanisms with a joint or a mass deleted: what is free then is named, and its place first, in
// any units and at any size.

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <mortise/core/decompositions.h>
#include <mortise/diagnosis/report.h>

#include "counts.h"
#include "quad_reference.h"
#include "random_mechanisms.h"

using namespace mortise;
using namespace mortise::testing;

namespace {

// null [M; A], by singular values in quadruple precision of the matrices as they are: lengths of the random mechanisms
// are near 1 and masses not far from it.  What is singular is so to the rounding of M and A, 1e-15; a value between
// that and what is clearly none is nobody's certainty.
struct Null {
  MatrixXd N;
  bool certain = true;

  explicit Null(const Model& model) {
    constexpr double zero = 1e-12, clear = 1e-7;
    const Equations eq = model.system.equations(model.system.evaluate(model.state));
    MatrixXd X(eq.M.rows() + eq.A.rows(), eq.M.cols());
    X << eq.M, eq.A;
    N.resize(X.cols(), 0);
    if (Svd(X).s.minCoeff() > 10 * clear) return;  // doubles are right to 1e-14
    const QuadSvd svd(X);
    N = svd.V.rightCols((svd.values.array() < zero).count());
    certain = (svd.values.array() < zero || svd.values.array() > clear).all();
  }
};

struct Deletion {
  Mechanism rest;
  std::string what;
  std::set<std::string> neighbours;  // bodies that the joint connected, or the one that had the mass
};

std::string body(std::size_t i) { return "b" + std::to_string(i); }

// Every joint and every mass, one at a time.
std::vector<Deletion> deletions(const Mechanism& m) {
  std::vector<Deletion> out;
  for (std::size_t j = 0; j < m.joints.size(); ++j) {
    out.push_back({m, "joint j" + std::to_string(j), {body(m.joints[j].a), body(m.joints[j].b)}});
    out.back().rest.joints.erase(out.back().rest.joints.begin() + static_cast<Index>(j));
  }
  for (std::size_t i = 0; i < m.bodies.size(); ++i) {
    if (m.bodies[i].mass == 0 && m.bodies[i].M.size() == 0) continue;
    out.push_back({m, "mass of " + body(i), {body(i)}});
    BodyPlan& b = out.back().rest.bodies[i];
    b.mass = 0, b.inertia.setZero(), b.centre.setZero(), b.M.setZero();
  }
  return out;
}

// All deletions from mechanism number `seed` that lower rank [M; A]; none if it is not healthy itself.
std::vector<std::pair<Deletion, Null>> harmful_deletions(unsigned seed, int& unclear) {
  std::vector<std::pair<Deletion, Null>> out;
  const Mechanism m = random_mechanism(seed, {.decades = 3, .massless = 0.6, .large = false});
  if (const Null before(build(m)); before.N.cols() > 0 || !before.certain) return out;
  for (Deletion& d : deletions(m)) {
    Null null(build(d.rest));
    unclear += !null.certain;
    if (null.certain && null.N.cols() > 0) out.emplace_back(std::move(d), std::move(null));
  }
  return out;
}

std::vector<std::string> names(const RankReport& r) {
  std::vector<std::string> out;
  for (const FreeDirection& f : r.free)
    for (const auto& p : f.parts) out.push_back(p.coordinate);
  return out;
}

RankReport report_on(const Mechanism& m, const Units& units) {
  const Model model = build(m, {.units = units});
  return check_rank(model.system, model.system.evaluate(model.state));
}

// The same verdict and the same names, in the same order, in other units and at other sizes.
void check_units(const Mechanism& m, const RankReport& si, Random& random) {
  const auto decades = [&](double most) { return std::pow(10, random.uniform(-most, most)); };
  const RankReport other = report_on(m, {.length = decades(6), .mass = decades(6), .time = decades(3)});
  CHECK(other.verdict() == si.verdict());
  CHECK(names(other) == names(si));
  for (const double size : {1e-6, decades(6), 1e6}) {  // of the same material, in the same gravity
    Mechanism scaled = m;
    scaled.gravity /= size;
    const RankReport r = report_on(scaled, {.length = size, .mass = size * size * size});
    CHECK(r.verdict() == si.verdict());
    CHECK(names(r) == names(si));
  }
}

struct Count {
  int deletions = 0, joints = 0, near = 0, unclear = 0;
};

void check_deletions(unsigned seed, Count& count) {
  constexpr double same = 1e-7;  // of unit vectors; the least singular value kept may be as small as `clear`
  Random random(seed);
  for (const auto& harmful : harmful_deletions(seed, count.unclear)) {
    const auto& deletion = harmful.first;
    const auto& null = harmful.second;
    const Model model = build(deletion.rest);
    const Evaluation e = model.system.evaluate(model.state);
    const RankReport r = check_rank(model.system, e);
    CAPTURE(seed);
    CAPTURE(deletion.what);
    CAPTURE(r.text());
    REQUIRE(static_cast<Index>(r.free.size()) == null.N.cols());
    for (const FreeDirection& f : r.free) {  // each is a null direction, and what it names takes part in one
      const VectorXd x = VectorXd(f.direction).normalized();
      CHECK((x - null.N * (null.N.transpose() * x)).norm() < same);
      REQUIRE(!f.parts.empty());
      for (const auto& p : f.parts) CHECK(null.N.row(model.system.names()->find(p.coordinate).first).norm() > same);
    }
    std::vector<std::string> first = names(r);
    first.resize(std::min<std::size_t>(first.size(), 3));
    ++count.deletions;
    count.joints += deletion.what.starts_with("joint");
    count.near += std::any_of(first.begin(), first.end(), [&](const std::string& name) {
      return deletion.neighbours.count(name.substr(0, name.find('.'))) > 0;
    });
    check_units(deletion.rest, r, random);
    // By bounds, as for large parts.
    const SparseRank large = sparse_rank(sparse_equations(model.system, e, model.system.all()), {}, 0);
    CHECK(large.rank_M == r.rank.rank_M);
    CHECK(large.rank_MA == r.rank.rank_MA);
    CHECK(large.N.size() == r.free.size());
    CHECK(large.rank_A == r.rank.rank_A);
  }
}

void check_deletions_of(unsigned mechanisms) {
  Count count;
  for (unsigned seed = 0; seed < mechanisms; ++seed) check_deletions(seed, count);
  MESSAGE(count.deletions << " deletions, " << count.joints
                          << " of them joints; neighbours among the first three names in " << count.near << "; "
                          << count.unclear << " unclear");
  CHECK(count.deletions >= 2 * static_cast<int>(mechanisms));
  CHECK(5 * count.joints >= count.deletions);
  CHECK(count.near >= 0.95 * count.deletions);
  CHECK(100 * count.unclear <= count.deletions);
}

}  // namespace

TEST_CASE("singular values in quadruple precision: those of Pascal's matrix come in reciprocal pairs") {
  constexpr Index n = 20;  // its condition number is 1e21
  MatrixXd pascal = MatrixXd::Ones(n, n);
  for (Index i = 1; i < n; ++i)
    for (Index j = 1; j < n; ++j) pascal(i, j) = pascal(i - 1, j) + pascal(i, j - 1);
  const QuadSvd svd(pascal);
  for (Index k = 0; k < n; ++k)  // quad leaves 1e-34 times the condition number
    CHECK(svd.values[k] * svd.values[n - 1 - k] == doctest::Approx(1).epsilon(1e-10));
}

TEST_CASE("a joint or a mass deleted from a random healthy mechanism: what is free then is named, its place first") {
  check_deletions_of(static_cast<unsigned>(kinds.size()));
}

TEST_SUITE("long") {
  TEST_CASE("a joint or a mass deleted from many a random healthy mechanism") { check_deletions_of(many(75, 8)); }
}
