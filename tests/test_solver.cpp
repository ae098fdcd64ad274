// Solver: against a reference in quadruple precision, against other builds of the same mechanism, at size, under
// threads, without the heap, and where it must refuse.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <mortise/bodies/ground.h>
#include <mortise/bodies/particle.h>
#include <mortise/bodies/planar_body.h>
#include <mortise/bodies/rigid_body.h>
#include <mortise/core/fundamental.h>
#include <mortise/joints/coupling.h>
#include <mortise/joints/functor.h>
#include <mortise/joints/pin.h>
#include <mortise/joints/revolute.h>
#include <mortise/joints/spherical.h>
#include <mortise/solve/solve.h>
#include <mortise/solve/solver.h>

#include "counts.h"
#include "quad_reference.h"
#include "random_mechanisms.h"

using namespace mortise;
using namespace mortise::testing;

// ---- Every allocation is counted ----------------------------------------------------------------------------------

namespace {
std::atomic<long> allocations{0};
}

#if defined(__SANITIZE_ADDRESS__)  // it has its own malloc, and hooks in it; gcc has no header for them
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                         void (*)(const volatile void*));
namespace {
[[maybe_unused]] const int hooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { ++allocations; }, [](const volatile void*) {});
}
#elif defined(__GLIBC__)  // Eigen calls malloc itself, and so does operator new
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) noexcept { return ++allocations, __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) noexcept { return ++allocations, __libc_calloc(count, size); }
void* realloc(void* p, std::size_t size) noexcept { return ++allocations, __libc_realloc(p, size); }
void* aligned_alloc(std::size_t to, std::size_t size) noexcept { return ++allocations, __libc_memalign(to, size); }
}
#endif

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

// A backward stable solution may lose kappa eps, with a factor for the size of the system.  Up to 1e4 that is at worst
// 2e-12 but hardly ever more than a tenth of it: 1e-12 is asked there.
double tolerance(double kappa) { return kappa <= 1e4 ? 1e-12 : 100 * kappa * eps; }
// Beyond this, doubles say little about the accelerations; the equations must still be met.
constexpr double hopeless = 1e13;

const unsigned mechanism_count = many(2000, 150);

constexpr Index largest_chain = 30000;

// A a = b row by row, in shares of the row's terms.
double row_residual(const System& system, const Evaluation& e, const VectorXd& a) {
  VectorXd r = -e.b, terms = e.b.cwiseAbs();
  for (std::size_t k = 0; k < e.layout().A.size(); ++k) {
    const auto& block = e.layout().A[k];
    const auto x = a.segment(block.first, block.size);
    r.segment(block.row, block.rows) += e.A(k) * x;
    terms.segment(block.row, block.rows) += e.A(k).cwiseAbs() * x.cwiseAbs();
  }
  double worst = 0;
  for (Index i = 0; i < system.rows(); ++i) worst = std::max(worst, ratio(std::abs(r[i]), terms[i]));
  return worst;
}

// A chain of n rigid bodies on spherical joints, from the ground on, bent and twisted, in motion.
// `ghost`: body n / 2 + 1 has no mass.  Between two spherical joints nothing holds its spin.
// `angle`: its first joint is a hinge instead, about an axis that misses the second joint by this angle.
Mechanism chain(Index n, bool ghost = false, double angle = 0) {
  constexpr double half = 0.5;  // joints at (-half, 0, 0) and (half, 0, 0) of each body
  Mechanism m;
  m.name = "chain";
  m.gravity = {0, 0, -9.81};
  m.bodies.push_back({.kind = Kind::ground});
  Vec3<double> end(0, 0, 0), end_velocity(0, 0, 0);  // where the next joint is
  for (Index i = 0; i < n; ++i) {
    const double x = static_cast<double>(i), mass = 1 + 0.5 * std::sin(x);
    const bool massless = ghost && i == n / 2;
    BodyPlan b{.kind = Kind::rigid};
    if (!massless) b.mass = mass, b.inertia = mass * Mat<double, 3>(Vec3<double>(0.02, 0.1, 0.09).asDiagonal());
    const Vec<double, 7> q = RigidBody::pose(
        {0, 0, 0}, Quaternion<double>(1, std::sin(x), 0.4 + 0.5 * std::cos(1.7 * x), std::sin(0.6 * x)));
    const Mat<double, 3> R = rotation_matrix<double>(q.tail<4>());
    const Vec3<double> arm = R.col(0) * half, w(std::cos(2.1 * x), std::sin(1.3 * x), 0.5);
    b.q = q;
    b.q.head<3>() = end + arm;
    b.v = RigidBody::rates(q, end_velocity + w.cross(arm), R.transpose() * w);
    m.bodies.push_back(b);
    const std::size_t here = m.bodies.size() - 1;
    const Vec3<double> axis = R * Vec3<double>(std::cos(angle), std::sin(angle), 0);
    m.joints.push_back({.type = massless && angle > 0 ? JointPlan::revolute : JointPlan::spherical,
                        .a = here - 1,
                        .b = here,
                        .on_a = {i == 0 ? 0 : half, 0, 0},
                        .on_b = {-half, 0, 0},
                        .axis_a = m.bodies[here - 1].local_direction(axis),
                        .axis_b = m.bodies[here].local_direction(axis)});
    end += 2 * arm;
    end_velocity += 2 * w.cross(arm);
  }
  return m;
}

// M a = Q + A'lambda on a chain without a ghost, where lambda follows from the tip inwards: each joint carries what the
// translations of its outer body ask for (phi = p_A - p_B: A is -I there), each norm row what is left along the
// quaternion.  What is left then must vanish.  In shares of the largest terms along the chain.
double force_residual(const System& system, const Evaluation& e, const VectorXd& a) {
  double worst = 0, terms = 0;
  Vec<double, 7> from_outside = Vec<double, 7>::Zero();   // A'lambda of the next joint, on this body
  const std::size_t bodies = system.bodies().size() - 1;  // the ground is the first
  std::vector<const System::ConstraintInfo*> joints;
  for (const auto& c : system.constraints())
    if (!c.own) joints.push_back(&c);
  for (std::size_t i = bodies; i > 0; --i) {
    const auto& body = system.bodies()[i];
    const auto& joint = *joints[i - 1];
    const Vec<double, 7> Ma = e.M(i) * a.segment<7>(body.first), Q = e.Q.segment<7>(body.first);
    const auto inner = e.A(joint.block), outer = e.A(joint.block + 1);
    const Vec3<double> lambda = -(Ma - Q - from_outside).head<3>();
    const Vec<double, 7> from_inside = outer.transpose() * lambda;
    Vec<double, 7> r = Ma - Q - from_outside - from_inside;
    const Quaternion<double> u = e.state.q.segment<4>(body.first + 3);
    r.tail<4>() -= u * (u.dot(r.tail<4>()) / u.squaredNorm());
    worst = std::max(worst, r.cwiseAbs().maxCoeff());
    terms = std::max({terms, Ma.cwiseAbs().maxCoeff(), Q.cwiseAbs().maxCoeff(), from_inside.cwiseAbs().maxCoeff()});
    if (i > 1) from_outside = inner.transpose() * lambda;
  }
  return worst / terms;
}

// Plane bodies in rows and columns, pinned to their neighbours and to the ground at one corner, at rest.
Mechanism grid(int rows, int columns) {
  Mechanism m;
  m.name = "grid";
  m.gravity = {0.3, -9.81, 0};
  m.bodies.push_back({.kind = Kind::ground});
  m.joints.push_back({.type = JointPlan::pin, .a = 0, .b = 1});
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      BodyPlan b{.kind = Kind::planar, .mass = 1 + 0.1 * ((3 * i + 7 * j) % 11), .q = Vec3<double>(j, i, 0)};
      b.inertia(2, 2) = 0.1 * b.mass;
      b.v = VectorXd::Zero(3);
      m.bodies.push_back(b);
      const std::size_t here = m.bodies.size() - 1;
      const auto pin = [&](std::size_t to, const Vec3<double>& on_a, const Vec3<double>& on_b) {
        m.joints.push_back({.type = JointPlan::pin, .a = to, .b = here, .on_a = on_a, .on_b = on_b});
      };
      if (j > 0) pin(here - 1, {0.4, 0.1, 0}, {-0.6, 0.1, 0});
      if (i > 0) pin(here - static_cast<std::size_t>(columns), {-0.2, 0.5, 0}, {-0.2, -0.5, 0});
    }
  return m;
}

template <class E> std::string refusal(const System& system, const State& s) {
  try {
    Solver(system).solve(s);
  } catch (const E& error) {
    return error.what();
  }
  return "not refused";
}
bool mentions(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

}  // namespace

TEST_CASE("Solver agrees with quadruple precision on 2000 random mechanisms") {
  Worst error, residual, gap;
  std::string wrong_refusals;  // of what check_rank finds nothing wrong with
  unsigned compared = 0, refused = 0, no_reference = 0, beyond = 0;
  unsigned redundant = 0, massless = 0, nonideal = 0, nonholonomic = 0, moving = 0, sprung = 0, uneven = 0;
  for (unsigned seed = 0; compared + beyond < mechanism_count; ++seed) {
    CAPTURE(seed);
    const Mechanism m = random_mechanism(seed);
    const Model model = build(m);
    const Evaluation e = model.system.evaluate(model.state);
    Solver solver(model.system);
    if (!check_rank(model.system, e).ok()) {
      CHECK_THROWS_AS(solver.solve(model.state), ReportedError);
      ++refused;
      continue;
    }
    const Reference reference = quad_reference(model.system, e);
    if (!reference.found) {
      ++no_reference;
      continue;
    }
    VectorXd a;
    try {
      a = solver.solve(model.state);
    } catch (const Error& thrown) {
      wrong_refusals += fmt::format("{}: {}\n", seed, thrown.what());
      continue;
    }
    if (reference.kappa > hopeless) {
      ++beyond;
      residual.take(row_residual(model.system, e, a), seed);
      continue;
    }
    ++compared;
    error.take(reference.error(a) / tolerance(reference.kappa), seed);
    gap.take(reference.gap, seed);

    const auto any = [](const auto& parts, const auto& is) { return std::any_of(parts.begin(), parts.end(), is); };
    double lightest = 1e300, heaviest = 0;
    for (const BodyPlan& b : m.bodies)
      if (b.mass > 0) lightest = std::min(lightest, b.mass), heaviest = std::max(heaviest, b.mass);
    uneven += heaviest > 1e4 * lightest;
    redundant += reference.dependent > 0;
    massless += any(m.bodies, [](const BodyPlan& b) { return b.mass == 0 && b.turns(); });
    nonideal += any(m.joints, [](const JointPlan& j) { return j.friction > 0; });
    nonholonomic += any(m.joints, [](const JointPlan& j) { return j.type >= JointPlan::skate; });
    moving += any(m.joints, [](const JointPlan& j) { return j.type < JointPlan::skate && j.rate != 0; });
    sprung += !m.forces.empty();
  }
  CAPTURE(error.seed);
  CAPTURE(residual.seed);
  CAPTURE(gap.seed);
  CHECK(error.value <= 1);       // in shares of tolerance(kappa)
  CHECK(residual.value < 1e-9);  // of the terms: what cannot be known may differ, what is asked for must hold
  CHECK(gap.value < 1e-11);      // the reference may leave rows out: they agree with the others
  CHECK(wrong_refusals == "");
  CHECK(refused <= mechanism_count / 50);
  CHECK(no_reference <= mechanism_count / 50);
  CHECK(beyond <= mechanism_count / 50);
  // The kinds all occur.
  CHECK(redundant > mechanism_count / 5);
  CHECK(massless > mechanism_count / 5);
  CHECK(nonideal > mechanism_count / 10);
  CHECK(nonholonomic > mechanism_count / 20);
  CHECK(moving > mechanism_count / 20);
  CHECK(sprung > mechanism_count / 5);
  CHECK(uneven > mechanism_count / 20);
}

TEST_CASE("Solver: the order of adding, names and units change accelerations by no more than round-off") {
  // Converted inputs are rounded anew, which a solution feels as much as its own round-off.
  Worst change;
  unsigned compared = 0;
  for (unsigned seed = 5000; compared < mechanism_count / 5; ++seed) {
    CAPTURE(seed);
    const Mechanism m = random_mechanism(seed);
    const Model model = build(m);
    const Reference reference = quad_reference(model.system, model.system.evaluate(model.state));
    if (!reference.found || reference.kappa > hopeless) continue;
    VectorXd a;
    try {
      a = Solver(model.system).solve(model.state);
    } catch (const Error&) {
      continue;
    }
    ++compared;
    Random random(seed);
    for (const Units& units : {Units{}, Units{.length = 1e3, .mass = 1e-3}, Units{1 / 0.3048, 1 / 0.45359237, 1e3}}) {
      const Model other = build(m, {.units = units, .prefix = "another_", .shuffle = &random});
      const VectorXd changed = in_plan(m, other, units, Solver(other.system).solve(other.state));
      change.take(reference.distance(changed, a) / tolerance(reference.kappa), seed);
    }
  }
  CAPTURE(change.seed);
  CHECK(change.value <= 1);  // in shares of tolerance(kappa)
}

TEST_CASE("Solver: one for evaluations and states in turn") {
  const Model model = build(random_mechanism(3));
  const Evaluation e = model.system.evaluate(model.state);
  Solver solver(model.system);
  const VectorXd a = solver.solve(model.state);
  for (int k = 0; k < 3; ++k) {
    CHECK(solver.solve(e) == a);
    CHECK(solver.solve(model.state) == a);
  }
}

// On both sides of any size, since there is none at which another way is taken.
TEST_CASE("solve: an evaluation that was changed counts as it stands, at every size") {
  for (const int n : {1, 59, 60, 61, 200, 201}) {
    CAPTURE(n);
    Assembly a("row");
    a.set_gravity({-10, 0, 0});
    for (int i = 0; i < n; ++i) a.add(fmt::format("p{}", i), Particle<1>{.mass = 1});
    const System system(a);
    Evaluation e = system.evaluate(system.state());
    e.M(0)(0, 0) = 2;
    const Solution s = solve(system, e);
    CHECK(s.a[0] == doctest::Approx(-5).epsilon(1e-14));
    CHECK(s.Qc.cwiseAbs().maxCoeff() < 1e-13);
    Solver solver(system);  // whose M is that of the parts: it says so
    CHECK_THROWS_WITH_AS(solver.solve(e), doctest::Contains("its M or A are not those of the system"), InvalidModel);
  }
  Worst error;
  unsigned compared = 0;
  for (unsigned seed = 40000; compared < many(100, 20); ++seed) {
    const Model model = build(random_mechanism(seed));
    Evaluation e = model.system.evaluate(model.state);
    const auto& constraints = model.system.constraints();
    if (std::any_of(constraints.begin(), constraints.end(), [](const auto& c) { return c.model->reacts(); })) continue;
    if (!check_rank(model.system, e).ok()) continue;
    // Other masses of the same null spaces, rows of other lengths.
    for (std::size_t i = 0; i < model.system.bodies().size(); ++i) e.M(i) *= 0.5 + 0.25 * static_cast<double>(i % 5);
    for (const auto& c : constraints)
      for (Index r = 0; r < c.rows; ++r) {
        const double longer = 1 + 0.5 * static_cast<double>((c.row + r) % 3);
        e.b[c.row + r] *= longer;
        for (std::size_t k = 0; k < c.bodies.size(); ++k) e.A(c.block + k).row(r) *= longer;
      }
    const Reference reference = quad_reference(model.system, e);
    if (!reference.found || reference.kappa > hopeless) continue;
    ++compared;
    error.take(reference.error(solve(model.system, e).a) / tolerance(reference.kappa), seed);
  }
  CAPTURE(error.seed);
  CHECK(error.value <= 1);
}

TEST_CASE("Solver: chains of 10 to 30000 bodies meet their equations to round-off") {
  constexpr double round_off = 1e-11;  // of a row's or of the chain's terms
  for (const Index n : {10, 100, 1000, 30000}) {
    if (n > largest_chain) continue;
    CAPTURE(n);
    const auto [system, s, first] = build(chain(n));
    const Evaluation e = system.evaluate(s);
    REQUIRE(e.phi.cwiseAbs().maxCoeff() < 1e-10);  // it is a chain
    Solver solver(system);
    const VectorXd& a = solver.solve(s);
    CHECK(row_residual(system, e, a) < round_off);
    CHECK(force_residual(system, e, a) < round_off);
    VectorXd wrong = a;
    wrong[7 * (n / 2) + 2] *= 1 + 1e-6;
    CHECK(force_residual(system, e, wrong) > round_off);  // the check sees what it should
  }
}

// Bodies whose size is known at run time only (`pairs` has some) hand over M and Q as matrices from the heap.
TEST_CASE("Solver: no heap allocation after the first solve") {
  const auto check = [](const System& system, State s) {
    Solver solver(system);
    solver.solve(s);
    s.v *= 0.5;  // another state, rows still agree
    const long before = allocations;
    const VectorXd& a = solver.solve(s);
    const long after = allocations;
    CHECK(after == before);
    CHECK(a.allFinite());
  };
  const long before = allocations;
  const VectorXd something = VectorXd::Zero(100);
  REQUIRE(allocations > before);  // they are counted
  for (const Mechanism& m : {chain(100), grid(5, 6)}) {
    const Model model = build(m);
    check(model.system, model.state);
  }
  for (unsigned kind = 0; kind < kinds.size(); ++kind) {
    const std::string name = kinds[kind];
    CAPTURE(name);
    if (name == "pairs") continue;
    MechanismOptions options;
    options.moving = 0;  // rates would not scale with v
    const Model model = build(random_mechanism(kind, options));
    check(model.system, model.state);
  }
}

TEST_CASE("Solver: two threads give the same bits as one") {
  const int side = largest_chain < 2000 ? 5 : 40;
  for (const Mechanism& m : {chain(std::min<Index>(2000, largest_chain / 4)), grid(side, side)}) {
    const Model model = build(m);
    Solver one(model.system), two(model.system, {.threads = 2});
    const VectorXd& a = one.solve(model.state);
    for (int again = 0; again < 3; ++again) CHECK(two.solve(model.state) == a);
  }
}

TEST_CASE("Solver: dense and sparse agree on well-conditioned mechanisms") {
  constexpr double well = 100, round_off = 1e-12;  // kappa eps = 2e-14, for each of the two
  Worst difference;
  unsigned compared = 0;
  for (unsigned seed = 9000; compared < mechanism_count / 10; ++seed) {
    CAPTURE(seed);
    const Model model = build(random_mechanism(seed));
    const Evaluation e = model.system.evaluate(model.state);
    const Reference reference = quad_reference(model.system, e);
    if (!reference.found || reference.kappa > well || !check_rank(model.system, e).ok()) continue;
    ++compared;
    const VectorXd dense = udwadia_schutte(model.system.equations(e)).a;
    difference.take(reference.distance(Solver(model.system).solve(model.state), dense), seed);
  }
  CAPTURE(difference.seed);
  CHECK(difference.value < round_off);
}

TEST_CASE(
    "Solver: masses of 1e-6 and 1e6 beside each other, doubled joints, massless links: right, or refused by name") {
  // With kappa of 1e12 and more little can be known; what is returned is as right as anywhere else.
  const auto right = [](const Reference& r) { return tolerance(r.kappa); };
  Worst error, plain;
  unsigned solved = 0, refused = 0, nameless = 0;
  for (unsigned seed = 20000; seed < 20000 + mechanism_count / 5; ++seed) {
    CAPTURE(seed);
    const MechanismOptions options{.decades = 12, .extremes = true, .massless = 0.5, .doubled = 0.3};
    const Model model = build(random_mechanism(seed, options), {.prefix = "part_"});
    const Reference reference = quad_reference(model.system, model.system.evaluate(model.state));
    if (!reference.found) continue;
    try {
      const VectorXd a = Solver(model.system).solve(model.state);
      ++solved;
      error.take(reference.error(a) / right(reference), seed);
      plain.take(reference.plain_error(a) / right(reference), seed);
    } catch (const Error& thrown) {
      ++refused;
      nameless += !mentions(thrown.what(), "part_");
    }
  }
  CAPTURE(error.seed);
  CAPTURE(plain.seed);
  CHECK(error.value <= 1);
  CHECK(plain.value <= 1);  // bodies 1e12 times lighter than their neighbours do not show in the norm of M
  CHECK(nameless == 0);
  CHECK(solved > 15 * refused);  // a refusal is the exception
}

TEST_CASE("Solver: a massless body that nothing holds is named, in the middle of a chain") {
  const Index n = std::min<Index>(largest_chain / 4, 1000);
  const std::string ghost = fmt::format("b{}", n / 2 + 1);
  const Model free = build(chain(n, true));
  try {
    Solver(free.system).solve(free.state);
    FAIL("solve must refuse");
  } catch (const UnderModelled& error) {
    CHECK(mentions(error.what(), ghost + " turns about"));
    REQUIRE(error.report().free.size() == 1);
    CHECK(mentions(error.report().free[0].parts[0].coordinate, ghost + "."));
  }
  const Model nearly_free = build(chain(n, true, 1e-10));
  CHECK(mentions(refusal<UnderModelled>(nearly_free.system, nearly_free.state), ghost + " turns about"));
  const Model held = build(chain(n, true, 0.5));
  CHECK_NOTHROW(Solver(held.system).solve(held.state));
}

TEST_CASE("Solver: rows that contradict each other are named, beside a chain") {
  const Mechanism m = chain(largest_chain / 4);
  Assembly assembly = assemble(m);
  const auto bead = assembly.add("bead", Particle<2>{.mass = 1});
  const auto state = [&](const System& system) {
    State s = system.state();
    const State of_chain = build(m).state;
    s.q.head(of_chain.q.size()) = of_chain.q;
    s.v.head(of_chain.v.size()) = of_chain.v;
    return s;
  };
  assembly.connect("slot", Coupling{.terms = {{0, "x", 1}}}, bead);
  assembly.connect("double", Coupling{.terms = {{0, "x", 2}}}, bead);
  const System agreeing(assembly);
  CHECK_NOTHROW(Solver(agreeing).solve(state(agreeing)));

  // x = 0 and x = t^2 / 2
  assembly.connect("drive", Holonomic{[](const auto& b, const auto& t) { return b.coordinate("x") - 0.5 * t * t; }},
                   bead);
  const System contradicting(assembly);
  const std::string text = refusal<ConflictingRows>(contradicting, state(contradicting));
  CHECK(mentions(text, "drive"));
  CHECK(mentions(text, "slot"));
}

TEST_CASE("Solver: rows that are nearly dependent give a warning by name, beside a chain") {
  const Mechanism m = chain(100);
  Assembly assembly = assemble(m);
  const auto bead = assembly.add("bead", Particle<2>{.mass = 1});
  assembly.connect("slot", Coupling{.terms = {{0, "x", 1}}}, bead);
  assembly.connect("nearly", Coupling{.terms = {{0, "x", 1}, {0, "y", 1e-6}}}, bead);  // together they hold y too
  const System system(assembly);
  State s = system.state();
  const State of_chain = build(m).state;
  s.q.head(of_chain.q.size()) = of_chain.q;
  s.v.head(of_chain.v.size()) = of_chain.v;
  Solver solver(system);
  const VectorXd a = solver.solve(s);
  constexpr double known = 1e-9;  // 1e-15 / 1e-6, of gravity
  CHECK(a.tail(2).norm() < known * 9.81);
  const auto warnings = solver.warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(mentions(warnings[0], "nearly dependent"));
  CHECK(mentions(warnings[0], "slot.sum"));
  CHECK(mentions(warnings[0], "nearly.sum"));
}

TEST_CASE("Solver: a body may occur twice in a joint") {
  // Beads on lines y = 2 x, told as x + (x - y) = 0 with each bead in both places: q'' = (1, 2) (1, 2) . g / 5.
  Assembly assembly("beads");
  const Vec2<double> g(1, -9.81);
  assembly.set_gravity({g[0], g[1], 0});
  for (int i = 0; i < 40; ++i) {  // as many as the dense solve does not take
    const auto bead = assembly.add(fmt::format("bead{}", i), Particle<2>{.mass = 1.0 + i});
    assembly.connect(fmt::format("line{}", i), Coupling{.terms = {{0, "x", 1}, {1, "x", 1}, {1, "y", -1}}}, bead, bead);
  }
  const System system(assembly);
  Solver solver(system);
  const VectorXd a = solver.solve(system.state());
  const double along = (g[0] + 2 * g[1]) / 5;  // of (1, 2)
  for (int i = 0; i < 40; ++i) CHECK((a.segment<2>(2 * i) - along * Vec2<double>(1, 2)).norm() < 1e-14 * g.norm());
}

TEST_CASE("Solver: a body with many joints moves as the rigid body that it and its parts make up") {
  // Pairs of particles on opposite sides of the centre: 100 joints on one body.
  Assembly assembly("wheel");
  assembly.set_gravity({0, 0, -9.81});
  const Vec3<double> J(0.3, 0.4, 0.6), w(1, -2, 0.5);
  Mat<double, 3> total = J.asDiagonal();
  const auto hub = assembly.add("hub", RigidBody{.mass = 5, .inertia = J.asDiagonal()});
  std::vector<Vec3<double>> arms;
  for (int i = 0; i < 100; ++i) {
    const double x = i / 2, sign = i % 2 == 0 ? 1 : -1, mass = 0.01 * (1 + i / 2);
    arms.push_back(sign * Vec3<double>(std::cos(x), std::sin(2 * x), 0.3 * std::sin(x)));
    const auto p = assembly.add(fmt::format("p{}", i), Particle<3>{.mass = mass});
    assembly.connect(fmt::format("j{}", i), Spherical{.on_a = arms.back()}, hub, p);
    total += mass * (arms.back().squaredNorm() * Mat<double, 3>::Identity() - arms.back() * arms.back().transpose());
  }
  const System system(assembly);
  State s = system.state();
  s.v.head<7>() = RigidBody::rates(s.q.head<7>(), {0, 0, 0}, w);
  for (Index i = 0; i < 100; ++i) {
    s.q.segment<3>(7 + 3 * i) = arms[static_cast<std::size_t>(i)];
    s.v.segment<3>(7 + 3 * i) = w.cross(arms[static_cast<std::size_t>(i)]);
  }
  const VectorXd a = Solver(system).solve(s);
  const Vec3<double> turning = total.inverse() * -w.cross(total * w), g(0, 0, -9.81);
  constexpr double round_off = 1e-13;
  CHECK((a.head<3>() - g).norm() < round_off * g.norm());
  for (Index i = 0; i < 100; ++i) {
    const Vec3<double>& r = arms[static_cast<std::size_t>(i)];
    const Vec3<double> expected = g + turning.cross(r) + w.cross(w.cross(r));
    CHECK((a.segment<3>(7 + 3 * i) - expected).norm() < round_off * expected.norm());
  }
}

TEST_CASE("Solver: parts that are not connected do not disturb each other, whatever their sizes") {
  // Pendulums of 1e-12 to 1e12 kg and 1e-6 to 1e6 m on one ground: theta'' = -m g l cos(theta) / (J + m l^2).
  Assembly assembly("pendulums");
  assembly.set_gravity({0, -9.81, 0});
  const auto ground = assembly.add("ground", Ground{});
  const int n = 25;
  const auto length = [](int i) { return std::pow(10, -6 + 0.5 * i); };
  const auto mass = [](int i) { return std::pow(10, i % 2 == 0 ? -12 + i : 12 - i); };
  for (int i = 0; i < n; ++i) {
    const double l = length(i), m = mass(i);
    const auto rod = assembly.add(fmt::format("rod{}", i), PlanarBody{.mass = m, .inertia = 0.2 * m * l * l});
    assembly.connect(fmt::format("pin{}", i), Pin{.on_b = {-l, 0}}, ground, rod);
  }
  const System system(assembly);
  REQUIRE(system.size() > 60);  // else it is not solved here
  State s = system.state();
  for (int i = 0; i < n; ++i) {
    const double theta = 0.1 * i, l = length(i);
    s.q.segment<3>(3 * i) = Vec3<double>(l * std::cos(theta), l * std::sin(theta), theta);
  }
  const VectorXd a = Solver(system).solve(s);
  constexpr double round_off = 1e-14;
  for (int i = 0; i < n; ++i) {
    CAPTURE(i);
    const double expected = -9.81 * std::cos(0.1 * i) / (1.2 * length(i));
    CHECK(std::abs(a[3 * i + 2] - expected) < round_off * std::abs(expected));
  }
}

TEST_CASE("Solver: projection brings positions and velocities back to the constraints") {
  const Model model = build(chain(20));
  State s = model.state;
  for (Index i = 0; i < s.q.size(); ++i) {
    s.q[i] += 1e-3 * std::sin(static_cast<double>(3 * i));
    s.v[i] += 1e-2 * std::cos(static_cast<double>(5 * i));
  }
  const auto off = [&](const State& x) {
    const Evaluation e = model.system.evaluate(x);
    return Vec2<double>(e.phi.cwiseAbs().maxCoeff(), (e.dense_A() * x.v).cwiseAbs().maxCoeff());
  };
  REQUIRE(off(s).minCoeff() > 1e-4);
  Solver solver(model.system);
  solver.project_positions(s);
  CHECK(off(s)[0] < 1e-12);
  solver.project_velocities(s);
  CHECK(off(s)[0] < 1e-12);
  CHECK(off(s)[1] < 1e-12);
  // A state that meets them stays where it is.
  const State before = s;
  solver.project_positions(s);
  solver.project_velocities(s);
  CHECK((s.q - before.q).norm() < 1e-12);
  CHECK((s.v - before.v).norm() < 1e-11);
}

TEST_CASE("Solver: a position that cannot meet the constraints is refused") {
  Assembly far("far");
  const auto ground = far.add("ground", Ground{});
  const auto a = far.add("a", Particle<2>{.mass = 1});
  far.connect("here", Pin{.on_a = {0, 0}}, ground, a);
  far.connect("there", Pin{.on_a = {1, 0}}, ground, a);
  const System system(far);
  State s = system.state();
  CHECK_THROWS_AS(Solver(system).project_positions(s), NotConverged);
}

namespace {

// Five rods along the edges of a cube and six hinges in its corners, as in examples/bricard.cpp: one of the 30 rows is
// redundant, and off the constraints it contradicts the others.
Assembly bricard() {
  using V = Vec3<double>;
  const std::array<V, 6> corner{V(0, 0, 0), V(1, 0, 0), V(1, -1, 0), V(1, -1, 1), V(0, -1, 1), V(0, 0, 1)};
  const std::array<V, 3> axes{V(0, 1, 0), V(0, 0, 1), V(1, 0, 0)};
  Assembly assembly("bricard");
  const auto ground = assembly.add("ground", Ground{});
  std::vector<Handle<RigidBody>> rod;
  for (std::size_t k = 0; k < 5; ++k) {
    const V along = corner[k + 1] - corner[k], edges = V(0.1, 0.1, 0.1) + 0.9 * along.cwiseAbs();
    rod.push_back(assembly.add(fmt::format("rod{}", k + 1), RigidBody::of(Inertia::box(1, edges))));
    assembly.place(rod[k], RigidBody::pose((corner[k] + corner[k + 1]) / 2, {1, 0, 0, 0}));
  }
  for (std::size_t k = 0; k < 6; ++k) {
    const auto hinge = at_world<Revolute>(corner[k], Axis(axes[k % 3]));
    const std::string name = fmt::format("hinge{}", k + 1);
    if (k == 0)
      assembly.connect(name, hinge, ground, rod[0]);
    else if (k < 5)
      assembly.connect(name, hinge, rod[k - 1], rod[k]);
    else
      assembly.connect(name, hinge, rod[4], ground);
  }
  return assembly;
}

}  // namespace

TEST_CASE("Solver: projection meets all rows of a redundant loop, from off the constraints") {
  const System system(bricard());
  Solver solver(system);
  constexpr double met = 1e-11;  // of 1 m; the rows contradict each other by the square of what they are off
  for (const double off : {1e-9, 1e-7, 1e-5, 1e-3})
    for (int draw = 0; draw < 10; ++draw) {
      CAPTURE(off);
      CAPTURE(draw);
      State s = system.state();
      for (Index i = 0; i < s.q.size(); ++i) s.q[i] += off * std::sin(static_cast<double>(7 * i + 11 * draw + 1));
      const State before = s;
      CHECK_NOTHROW(solver.project_positions(s));
      CHECK(system.evaluate(s).phi.cwiseAbs().maxCoeff() < met);
      CHECK((s.q - before.q).norm() < 30 * off);
      CHECK_NOTHROW(solver.project_velocities(s));
    }
}

TEST_CASE("Solver: light rods that carry heavy forces and may spin are solved, and named") {
  // Loops in space: the round-off of the forces of heavy rods is more than the light ones feel.
  for (const unsigned seed : {20209U, 20284U, 20299U}) {
    CAPTURE(seed);
    const MechanismOptions options{.decades = 12, .extremes = true, .massless = 0.5, .doubled = 0.3};
    const Model model = build(random_mechanism(seed, options));
    const Evaluation e = model.system.evaluate(model.state);
    Solver solver(model.system);
    const VectorXd a = solver.solve(model.state);
    const std::vector<std::string> doubtful = solver.doubtful_bodies();
    REQUIRE_FALSE(doubtful.empty());
    CHECK(mentions(doubtful.front(), "the acceleration of body 'b"));
    CHECK(mentions(doubtful.front(), "of itself only"));
    CHECK(solve(model.system, e).warnings == solver.warnings());
    CHECK(a.allFinite());
  }
}

TEST_CASE("Solver: momentum of a rigid body, a plane body and a particle") {
  Assembly three("three");
  const RigidBody top{.mass = 2, .inertia = Vec3<double>(0.3, 0.2, 0.4).asDiagonal(), .centre = {0.1, -0.2, 0.3}};
  (void)three.add("top", top);
  (void)three.add("plate", PlanarBody{.mass = 3, .inertia = 0.5, .centre = {0.2, 0}});
  (void)three.add("grain", Particle<3>{.mass = 0.5});
  const System system(three);
  State s = system.state();
  const Vec<double, 7> q = RigidBody::pose({1, 2, 3}, {1, 0.2, -0.3, 0.4});
  const Vec3<double> w_body(0.5, -1, 2);
  s.set("top", VectorXd(q));
  s.set("top'", VectorXd(RigidBody::rates(q, {1, -1, 0.5}, w_body)));
  s.set("plate", {1, 0, 0.7});
  s.set("plate'", {0.3, 0.1, 2});
  s.set("grain", {0, 1, 0});
  s.set("grain'", {2, 0, 1});
  Solver solver(system);
  solver.solve(s);
  const Mat<double, 3> R = rotation_matrix<double>(q.tail<4>());
  const Vec3<double> c = R * top.centre, v = 2 * (Vec3<double>(1, -1, 0.5) + (R * w_body).cross(c));
  const Vec3<double> d(0.2 * std::cos(0.7), 0.2 * std::sin(0.7), 0);
  const Vec3<double> u = 3 * (Vec3<double>(0.3, 0.1, 0) + Vec3<double>(0, 0, 2).cross(d)), g(1, 0, 0.5);
  CHECK((solver.momentum().linear - (v + u + g)).norm() < 1e-13);
  const Vec3<double> angular = (q.head<3>() + c).cross(v) + R * (top.inertia * w_body) +
                               (Vec3<double>(1, 0, 0) + d).cross(u) + Vec3<double>(0, 0, 1) +
                               Vec3<double>(0, 1, 0).cross(g);
  CHECK((solver.momentum().angular - angular).norm() < 1e-13);
}

TEST_CASE("solve: a large system tells what a small one would, reactions and their uniqueness included") {
  // Doors on two hinges, hung from each other: 70 coordinates, five redundant rows per door.
  Assembly doors("doors");
  doors.set_gravity({0, 0, -9.81});
  auto last = doors.add("wall", RigidBody{.mass = 1, .inertia = Mat<double, 3>::Identity()});
  for (int i = 0; i < 9; ++i) {
    const auto door = doors.add(fmt::format("door{}", i), RigidBody{.mass = 2, .inertia = Mat<double, 3>::Identity()});
    const auto with_drag = [](auto& a, auto& b, const auto&) {
      const auto m = (0.3 * (a.angular_velocity() - b.angular_velocity())).eval();
      b.apply_torque(m);
      a.apply_torque((-m).eval());
    };
    doors.connect(fmt::format("upper{}", i), Nonideal{Revolute{.on_a = {1, 0, 0.5}, .on_b = {-1, 0, 0.5}}, with_drag},
                  last, door);
    doors.connect(fmt::format("lower{}", i), Revolute{.on_a = {1, 0, -0.5}, .on_b = {-1, 0, -0.5}}, last, door);
    last = door;
  }
  const System system(doors);
  REQUIRE(system.size() == 70);
  State s = system.state();
  double speed = 0, last_spin = 0;  // of the centre along y
  for (Index i = 0; i < 10; ++i) {
    const double x = static_cast<double>(i), spin = i == 0 ? 0 : std::sin(x);
    const Vec<double, 7> q = RigidBody::pose({2 * x, 0, 0}, {1, 0, 0, 0});
    speed += i == 0 ? 0 : last_spin + spin;
    s.q.segment<7>(7 * i) = q;
    s.v.segment<7>(7 * i) = RigidBody::rates(q, {0, speed, 0}, {0, 0, spin});
    last_spin = spin;
  }
  const Evaluation e = system.evaluate(s);
  const Solution sparse = solve(system, e);
  const Motion dense = udwadia_schutte(system.equations(e));
  const double round_off = 1e-11 * dense.Qc.norm();
  REQUIRE(dense.Qc_nonideal.norm() > 0.1);
  CHECK((sparse.a - dense.a).norm() < 1e-12 * (1 + dense.a.norm()));
  CHECK((sparse.Qc - dense.Qc).norm() < round_off);
  CHECK((sparse.Qc_nonideal - dense.Qc_nonideal).norm() < round_off);
  VectorXd sum = VectorXd::Zero(70);
  for (const Reaction& r : sparse.reactions) sum += r.force;
  CHECK((sum - sparse.Qc).norm() < round_off);
  CHECK_FALSE(sparse.reaction("upper3").unique);
  CHECK(sparse.reaction("door3").unique);  // its norm row
  // A force added by hand counts.
  Evaluation pushed = e;
  pushed.Q[0] += 5;
  CHECK((solve(system, pushed).a - udwadia_schutte(system.equations(pushed)).a).norm() < 1e-11);
}
