// The rank verdict: ranks, free directions, dependent rows, and that none of them depends on units.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <mortise/core/decompositions.h>
#include <mortise/core/fundamental.h>
#include <mortise/core/rank.h>

#include "counts.h"
#include "random_equations.h"

using namespace mortise;
using namespace mortise::testing;

namespace {

const unsigned system_count = many(6000, 400);

// What is 0 or equal in exact arithmetic: condition 1e4 times eps, with room.
constexpr double round_off_tolerance = 1e-9;

Equations with_rows(const MatrixXd& A, const VectorXd& b, const MatrixXd& M) {
  return {.M = M, .Q = VectorXd::Zero(M.rows()), .A = A, .b = b};
}

// M > 0, so that only the rows are in question.
Rank rank_of_rows(const MatrixXd& A, const VectorXd& b) {
  return numerical_rank(with_rows(A, b, MatrixXd::Identity(A.cols(), A.cols())));
}

double parallel(const VectorXd& x, const VectorXd& y) { return std::abs(x.normalized().dot(y.normalized())); }

}  // namespace

TEST_CASE("whether rows depend on each other has nothing to do with masses") {
  for (unsigned seed = 0; seed < many(200, 40); ++seed) {
    CAPTURE(seed);
    const RandomEquations s = random_equations(seed, {.thinnest = 0});
    const Rank rank = numerical_rank(s.e);
    Equations other = s.e;  // masses over 24 decades
    const Index n = other.M.rows();
    other.M.setZero();
    for (Index i = 0; i < n; ++i) other.M(i, i) = std::pow(10.0, static_cast<double>((7 * i + seed) % 25) - 12);
    other.massless.reset();
    const Rank again = numerical_rank(other);
    CHECK(again.rank_A == rank.rank_A);
    CHECK(again.smallest_row == rank.smallest_row);
    REQUIRE(again.redundant.size() == rank.redundant.size());
    for (std::size_t k = 0; k < rank.redundant.size(); ++k) CHECK(again.redundant[k].row == rank.redundant[k].row);
  }
}

TEST_CASE("every rank of 6000 random systems is right, whatever their units") {
  unsigned redundant = 0, deficient = 0;
  Worst dropped, null, values, sets;
  double kept = 1, smallest_row = 1;
  for (unsigned seed = 0; seed < system_count; ++seed) {
    const RandomEquations s = random_equations(seed, {.thinnest = 0});
    const Rank rank = numerical_rank(s.e);
    CAPTURE(seed);
    REQUIRE(rank.rank_M == s.rank_M);
    REQUIRE(rank.rank_A == s.rank_A);
    REQUIRE(rank.rank_MA == s.rank_MA);
    CHECK(rank.determined() == (s.F.cols() == 0));
    CHECK(rank.consistent());
    CHECK(static_cast<Index>(rank.redundant.size()) == rank.m - rank.rank_A);
    CHECK(rank.nearly.size() == 0);
    redundant += !rank.redundant.empty();
    deficient += !rank.determined();

    if (rank.kept) kept = std::min(kept, *rank.kept);
    if (rank.dropped) dropped.take(*rank.dropped, seed);
    if (rank.smallest_row) smallest_row = std::min(smallest_row, *rank.smallest_row);

    REQUIRE(rank.N.cols() == s.F.cols());
    for (const VectorXd N : rank.N.colwise()) {
      const VectorXd x = s.S.cwiseProduct(N).normalized();
      null.take((s.M * x).norm(), seed);
      if (s.A.rows() > 0) null.take((s.A * x).norm(), seed);
    }
    for (const RowSet& set : rank.redundant) {
      const VectorXd y = s.R.cwiseProduct(set.y).normalized();
      sets.take((s.A.transpose() * y).norm(), seed);
      CHECK(set.y.cwiseAbs().maxCoeff() == doctest::Approx(1));
      CHECK(set.y[set.row] != 0);
      CHECK(std::ranges::count_if(rank.redundant, [&](const RowSet& o) { return o.y[set.row] != 0; }) == 1);
    }

    Equations before_units = s.e;
    before_units.M = s.M, before_units.A = s.A, before_units.Q = s.Q, before_units.b = s.b, before_units.C = s.C;
    const Rank plain = numerical_rank(before_units);
    REQUIRE(plain.values.size() == rank.values.size());
    values.take((plain.values - rank.values).norm(), seed);
  }
  CHECK(redundant > system_count / 10);
  CHECK(deficient > system_count / 10);
  // Both sides keep away from the thresholds 1e-9 (determined) and 1e-8 .. 1e-5 (redundant); of the rows no mass tells
  // which coordinates belong together, so theirs come nearer.
  CHECK(kept > 1e-5);
  CHECK(dropped.value < 1e-10);
  CHECK(smallest_row > 3e-5);
  CHECK(null.value < round_off_tolerance);
  CHECK(sets.value < round_off_tolerance);
  CAPTURE(values.seed);
  CHECK(values.value < round_off_tolerance);
}

TEST_CASE("lengths in millimetres and masses in tonnes: same ranks, same values, same motion") {
  // A planar body (x, y, angle) carries a massless rod (x, y, angle) at a pin; the rod's other end slides along x; the
  // pin's second row is given twice.
  const double c = 0.4, s = 0.7;
  Equations si;
  si.M = MatrixXd::Zero(6, 6);
  si.M.topLeftCorner(3, 3) << 3, 0, -3 * 0.2, 0, 3, 3 * 0.1, -3 * 0.2, 3 * 0.1, 0.5;
  si.Q = (VectorXd(6) << 1, -29.4, 0.3, 0, 0, 0).finished();
  si.A.resize(4, 6);
  si.A << 1, 0, -s, -1, 0, 0,  //
      0, 1, c, 0, -1, 0,       //
      0, 1, c, 0, -1, 0,       //
      0, 0, 0, 0, 1, 0.9;
  si.b = (VectorXd(4) << 0.3, -0.2, -0.2, 0.5).finished();

  const auto convert = [](const Equations& e) {
    const VectorXd S = (VectorXd(6) << 1e-3, 1e-3, 1, 1e-3, 1e-3, 1).finished();  // metre per millimetre
    Equations out = e;                                                            // t mm^2 / s^2 = 1e-3 J
    out.M = 1e3 * S.asDiagonal() * e.M * S.asDiagonal();
    out.Q = 1e3 * S.cwiseProduct(e.Q);
    out.A = 1e3 * e.A * S.asDiagonal();  // rows of lengths, in millimetres
    out.b = 1e3 * e.b;
    return std::pair(out, S);
  };
  const auto [mm, S] = convert(si);
  const Rank a = numerical_rank(si), b = numerical_rank(mm);
  CHECK(a.rank_M == 3);
  CHECK(a.rank_A == 3);
  CHECK(a.rank_MA == 6);
  CHECK(std::tuple(b.rank_M, b.rank_A, b.rank_MA) == std::tuple(a.rank_M, a.rank_A, a.rank_MA));
  CHECK((a.values - b.values).norm() < round_off_tolerance);
  CHECK(*a.kept == doctest::Approx(*b.kept).epsilon(round_off_tolerance));
  REQUIRE(b.redundant.size() == 1);
  CHECK((a.redundant[0].y - b.redundant[0].y).norm() < round_off_tolerance);
  const VectorXd x = udwadia_schutte(si).a, converted = S.cwiseProduct(udwadia_schutte(mm).a);
  CHECK((x - converted).norm() < round_off_tolerance * x.norm());

  // Without the slider row the rod's angle is free, in either unit.
  for (Equations e : {si, mm}) {
    e.A.conservativeResize(3, 6);
    e.b.conservativeResize(3);
    const Rank open = numerical_rank(e);
    CHECK(open.rank_MA == 5);
    REQUIRE(open.N.cols() == 1);
    CHECK(parallel(open.N, VectorXd::Unit(6, 5)) == doctest::Approx(1).epsilon(round_off_tolerance));
  }
}

TEST_CASE("massless directions are directions: [m m; m m] has (-1, 1)") {
  for (const double m : {1e-9, 1.0, 1e9}) {
    const Massless massless = massless_directions(MatrixXd::Constant(2, 2, m), {"body", "rod"});
    CHECK(massless.rank() == 1);
    REQUIRE(massless.N0.cols() == 1);
    CHECK(massless.N0(0, 0) == doctest::Approx(-1));
    CHECK(massless.N0(1, 0) == 1);
    CHECK(massless.pivot == std::vector<int>{1});
  }
}

TEST_CASE("a light mass beside a heavy one is not massless, a zero one is") {
  const auto rank = [](double light) {
    return massless_directions(Eigen::Vector3d(1e6, light, 1).asDiagonal().toDenseMatrix(), {"body", "rod"}).rank();
  };
  CHECK(rank(1e-6) == 3);
  CHECK(rank(1e-300) == 3);
  CHECK(rank(0) == 2);
  // coupled: determinant 1e6 * 1e-6 (1 - 0.99^2)
  const double coupling = 0.99;
  CHECK(massless_directions((MatrixXd(2, 2) << 1e6, coupling, coupling, 1e-6).finished(), {"body", "rod"}).rank() == 2);
}

TEST_CASE("massless directions of zero blocks, of turned blocks, and of blocks side by side") {
  CHECK(massless_directions(MatrixXd::Zero(3, 3), {"body", "rod"}).N0 == MatrixXd::Identity(3, 3));
  CHECK(massless_directions(MatrixXd(0, 0), {"body", "rod"}).N0.size() == 0);
  Random random(6);
  for (int rank = 0; rank <= 6; ++rank) {
    const MatrixXd V = random.orthonormal(6, 6);
    const MatrixXd M =
        V.leftCols(rank) * random.uniform_vector(rank, 0.1, 1).asDiagonal() * V.leftCols(rank).transpose();
    const Massless massless = massless_directions(0.5 * (M + M.transpose()), {"body", "rod"});
    CHECK(massless.rank() == rank);
    CHECK((M * massless.N0).norm() < round_off_tolerance);
    for (Index k = 0; k < massless.N0.cols(); ++k)
      CHECK(massless.N0(massless.pivot[static_cast<std::size_t>(k)], k) == 1);
    const Massless two = stack({massless, massless});
    CHECK(two.rank() == 2 * rank);
    CHECK(two.N0.topLeftCorner(6, 6 - rank) == massless.N0);
    CHECK(two.N0.bottomRightCorner(6, 6 - rank) == massless.N0);
    CHECK(two.N0.topRightCorner(6, 6 - rank).isZero(0));
    if (rank < 6) CHECK(two.pivot.back() == 6 + massless.pivot.back());
  }
}

TEST_CASE("mass matrices that cannot be are refused, with the names of the coordinates") {
  const Label rod{"body", "rod"};
  const std::vector<std::string> names{"x", "angle"};
  const auto directions = [&](double xx, double xa, double ax, double aa) {
    return massless_directions((MatrixXd(2, 2) << xx, xa, ax, aa).finished(), rod, names);
  };
  const std::string energy = "; no motion may have negative kinetic energy; correct the masses";
  CHECK_THROWS_WITH_AS(directions(1, 0.5, 0.25, 1),
                       "body 'rod': the mass matrix is not symmetric: (x, angle) = 0.5 but (angle, x) = 0.25; give a "
                       "symmetric matrix",
                       InvalidMass);
  CHECK_THROWS_WITH_AS(
      directions(1, 0, 0, -2),
      ("body 'rod': the mass matrix is not positive semi-definite: (angle, angle) = -2 is negative" + energy).c_str(),
      InvalidMass);
  CHECK_THROWS_WITH_AS(
      directions(1, 0.5, 0.5, 0),
      ("body 'rod': the mass matrix is not positive semi-definite: (angle, angle) is 0 but (x, angle) = 0.5" + energy)
          .c_str(),
      InvalidMass);
  CHECK_THROWS_WITH_AS(
      directions(1, 2, 2, 1),
      ("body 'rod': the mass matrix is not positive semi-definite: scaled to unit diagonal it has a pivot "
       "near -3.0e+00 at (angle, angle)" +
       energy)
          .c_str(),
      InvalidMass);
  CHECK_THROWS_WITH_AS(directions(std::numeric_limits<double>::quiet_NaN(), 0, 0, 1),
                       "body 'rod': mass matrix entry (x, x) is nan; give finite masses", NonFinite);
}

TEST_CASE("a row given twice is redundant; the motion is unique, those reactions are not") {
  const MatrixXd A = (MatrixXd(3, 3) << 1, 2, 0, 0, 0, 1, 1, 2, 0).finished();
  const Rank rank = rank_of_rows(A, Eigen::Vector3d(3, 5, 3));
  CHECK(rank.rank_A == 2);
  REQUIRE(rank.redundant.size() == 1);
  const RowSet& set = rank.redundant[0];
  CHECK(parallel(set.y, Eigen::Vector3d(1, 0, -1)) == doctest::Approx(1).epsilon(round_off_tolerance));
  CHECK(set.y[1] == 0);
  CHECK(set.row == 2);  // the later one is too many
  CHECK(set.consistent);
  CHECK(set.gap < round_off_tolerance);
  CHECK(!rank.unique_reaction(0));
  CHECK(rank.unique_reaction(1));
  CHECK(!rank.unique_reaction(2));
}

TEST_CASE("a row that is the sum of two others conflicts by its gap") {
  const MatrixXd A = (MatrixXd(4, 4) << 1, 0, 2, 0, 0, 1, -1, 0, 1, 1, 1, 0, 0, 0, 0, 1).finished();
  for (const double gap : {0.0, 0.25}) {
    const Rank rank = rank_of_rows(A, Eigen::Vector4d(1, 2, 3 + gap, 7));
    REQUIRE(rank.redundant.size() == 1);
    const RowSet& set = rank.redundant[0];
    CHECK(parallel(set.y, Eigen::Vector4d(1, 1, -1, 0)) == doctest::Approx(1).epsilon(round_off_tolerance));
    CHECK(set.gap == doctest::Approx(gap).epsilon(round_off_tolerance));
    CHECK(set.consistent == (gap == 0));
    CHECK(rank.consistent() == (gap == 0));
    CHECK(rank.unique_reaction(3));
  }
}

TEST_CASE("a row of zeros is redundant by itself, and conflicts unless its b is 0") {
  const MatrixXd A = (MatrixXd(2, 2) << 1, 1, 0, 0).finished();
  CHECK(rank_of_rows(A, Eigen::Vector2d(1, 0)).consistent());
  const Rank rank = rank_of_rows(A, Eigen::Vector2d(1, 0.5));
  CHECK(rank.rank_A == 1);
  REQUIRE(rank.redundant.size() == 1);
  CHECK((rank.redundant[0].y - Eigen::Vector2d(0, 1)).norm() < round_off_tolerance);
  CHECK(rank.redundant[0].gap == doctest::Approx(0.5));
  CHECK(!rank.consistent());
}

TEST_CASE("nearly dependent rows, 1e-7 apart, count as independent and are reported") {
  const double apart = 1e-7;
  const MatrixXd A = (MatrixXd(3, 3) << 1, 1, 0, 1, 1 + apart, 0, 0, 0, 1).finished();
  const Rank rank = rank_of_rows(A, Eigen::Vector3d::Zero());
  CHECK(rank.rank_A == 3);
  CHECK(rank.redundant.empty());
  REQUIRE(rank.nearly.size() == 3);
  CHECK(rank.nearly[0] > 0.5);
  CHECK(rank.nearly[1] > 0.5);
  CHECK(rank.nearly[2] < 1e-3);  // this row has no part in it
  CHECK(*rank.smallest_row < rank.options.doubtful);
  CHECK(*rank.smallest_row > rank.options.determined);
  // Closer than 1e-9, they are one row.
  const MatrixXd closer = (MatrixXd(2, 2) << 1, 1, 1, 1 + 1e-10).finished();
  CHECK(rank_of_rows(closer, Eigen::Vector2d::Zero()).rank_A == 1);
}

TEST_CASE("an entry cos(90 deg) = 6e-17 holds a coordinate only where nothing in its group tells its scale") {
  const double dust = 6e-17;
  Equations e = with_rows((MatrixXd(2, 2) << 1, dust, 1, 0).finished(), Eigen::Vector2d::Zero(), MatrixXd::Zero(2, 2));
  CHECK(numerical_rank(e).rank_MA == 2);  // by itself the coordinate might be in parsecs
  e.groups = {0, 0};
  const Rank rank = numerical_rank(e);
  CHECK(rank.rank_MA == 1);
  CHECK(rank.rank_A == 1);
  REQUIRE(rank.N.cols() == 1);
  CHECK(parallel(rank.N, Eigen::Vector2d(0, 1)) == doctest::Approx(1).epsilon(round_off_tolerance));
}

TEST_CASE("a group also tells the scale of a coordinate with a trace of mass") {
  // Massive along (1, dust): the second coordinate is massless but for rounding.
  const double dust = 1e-9;
  Equations e = with_rows((MatrixXd(1, 2) << 1, 1).finished(), VectorXd::Zero(1),
                          (MatrixXd(2, 2) << 1, dust, dust, dust * dust).finished());
  e.groups = {0, 0};
  const Rank rank = numerical_rank(e);
  CHECK(rank.rank_M == 1);
  CHECK(rank.rank_MA == 2);
  CHECK(*rank.kept > 0.1);
}

TEST_CASE("null(M) given from outside is used") {
  Equations e =
      with_rows((MatrixXd(1, 2) << 0, 1).finished(), VectorXd::Zero(1), (MatrixXd(2, 2) << 1, 0, 0, 1e-13).finished());
  CHECK(numerical_rank(e).rank_M == 2);
  e.massless = Massless{(MatrixXd(2, 1) << 0, 1).finished(), {1}};
  CHECK(numerical_rank(e).rank_M == 1);
  CHECK(numerical_rank(e).rank_MA == 2);
}

TEST_CASE("blocks, groups and massless directions that do not fit the equations are refused") {
  const Equations good = with_rows(MatrixXd(0, 2), VectorXd(0), (MatrixXd(2, 2) << 1, 0.5, 0.5, 1).finished());
  const auto rank = [&](const auto& change) {
    Equations e = good;
    change(e);
    return numerical_rank(e);
  };
  CHECK_THROWS_WITH_AS(rank([](Equations& e) {
                         e.blocks = {1, 2};
                       }),
                       "list 'blocks': the block sizes add up to 3; they must add up to 2, the size of M", WrongSize);
  CHECK_THROWS_WITH_AS(rank([](Equations& e) {
                         e.blocks = {3, -1};
                       }),
                       "list 'blocks': has a block of size -1; give sizes >= 1", WrongSize);
  CHECK_THROWS_WITH_AS(
      rank([](Equations& e) {
        e.blocks = {1, 1};
      }),
      "matrix 'M': has an entry 0.5 outside the diagonal block of coordinates 0 to 0; give the blocks of this "
      "M, or none",
      InvalidMass);
  CHECK_THROWS_WITH_AS(rank([](Equations& e) { e.groups = {0}; }),
                       "list 'groups': has 1 entries; give 2 (one per coordinate)", WrongSize);
  CHECK_THROWS_WITH_AS(rank([](Equations& e) {
                         e.groups = {0, -1};
                       }),
                       "list 'groups': has the number -1; number from 0", InvalidModel);
  CHECK_THROWS_WITH_AS(rank([](Equations& e) {
                         e.massless = Massless{MatrixXd::Zero(3, 1), {0}};
                       }),
                       "basis 'massless': is 3 x 1 with 1 pivots; give 2 rows and one pivot per column", WrongSize);
}

TEST_CASE("the singular value decomposition is one, also of block-diagonal matrices") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const RandomEquations s = random_equations(seed);
    const MatrixXd M = s.M;
    const Svd svd(M);
    CHECK((svd.U * svd.s.asDiagonal() * svd.V.transpose() - M).norm() < round_off_tolerance);
    CHECK((svd.V.transpose() * svd.V - MatrixXd::Identity(M.rows(), M.rows())).norm() < round_off_tolerance);
    CHECK(svd.count_above(1e-6) == s.rank_M);
    CHECK((M * svd.null_space(s.rank_M)).norm() < round_off_tolerance);
    CHECK((M * svd.pseudo_inverse(s.rank_M) * M - M).norm() < round_off_tolerance);
  }
}
