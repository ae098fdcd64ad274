// The small loops of the engine and the numbers of jets, in memory that is aligned as single numbers are, no better.
// A compiler that takes them for aligned to 16 or 32 bytes makes programs that end here.

#include <array>
#include <cmath>
#include <new>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include <mortise/core/jet.h>
#include <mortise/engine/engine_kernels.h>
#include <mortise/engine/fronts.h>

using namespace mortise;
namespace {

constexpr double round_off = 1e-14;   // of sums of a few products of numbers below 1
constexpr std::size_t positions = 8;  // of a number in a line of 64 bytes

struct alignas(64) Line {
  double x[8];
};

// Random numbers that begin at a given position of a line.
class Numbers {
 public:
  Numbers(std::size_t size, std::size_t position, unsigned seed) : lines_((size + position) / 8 + 1), size_(size) {
    begin_ = lines_[0].x + position;
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::size_t i = 0; i < size; ++i) begin_[i] = uniform(random);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  double* data() { return begin_; }
  double operator[](std::size_t i) const { return begin_[i]; }
  std::vector<double> copy() const { return {begin_, begin_ + size_}; }

 private:
  std::vector<Line> lines_;
  double* begin_;
  std::size_t size_;
};

template <class F> void everywhere(const F& f) {
  for (std::size_t position = 0; position < positions; ++position)
    for (std::size_t other = 0; other < positions; ++other) {
      CAPTURE(position);
      CAPTURE(other);
      f(position, other);
    }
}

struct Touch {
  int A, row, rows, stride;
};
struct Product {
  int left_rows, right_rows, columns, left_stride, right_stride, stride;
};

// to += X Y' of R x K and S x K, beside what add_product makes.
template <int R, int S, int K> void check_product() {
  everywhere([](std::size_t position, std::size_t other) {
    constexpr int left = K + 1, right = K + 2, stride = R + 1;
    Numbers X(R * left, position, 1), Y(S * right, other, 2), to(S * stride, position + 1, 3);
    const std::vector<double> before = to.copy();
    engine::add_product<R, S, K>(Product{R, S, K, left, right, stride}, X.data(), Y.data(), to.data());
    for (std::size_t c = 0; c < S; ++c)
      for (std::size_t r = 0; r < R; ++r) {
        double sum = before[r + c * stride];
        for (std::size_t k = 0; k < K; ++k) sum += X[r * left + k] * Y[c * right + k];
        CHECK(std::abs(to[r + c * stride] - sum) < round_off);
      }
  });
}

template <int K> void check_jets() {
  constexpr std::size_t size = sizeof(Jet<K>) / sizeof(double);
  static_assert(alignof(Jet<K>) == alignof(double));
  everywhere([](std::size_t position, std::size_t other) {
    Numbers x(size, position, 1), y(size, other, 2), z(size, position + other, 3);
    const auto set = [](Numbers& at, double value) {
      return new (at.data()) Jet<K>(
          Jet<K>::make(value, 0.5 * value, 0.25 * value, [&](auto k) { return value + static_cast<double>(k); }));
    };
    const Jet<K>*a = set(x, 0.5), *b = set(y, 2);
    Jet<K>* c = new (z.data()) Jet<K>(*a * *b + 3.0 * *a);
    *c -= *b / 2.0;
    // 0.5 * 2 + 1.5 - 1, and the same rules by hand
    CHECK(c->v == 1.5);
    for (std::size_t k = 0; k < K; ++k) {
      const double da = 0.5 + static_cast<double>(k), db = 2 + static_cast<double>(k);
      CHECK(c->slope(k) == da * 2 + 0.5 * db + 3 * da - db / 2);
    }
    CHECK(c->rate() == 0.25 * 2 + 0.5 * 1 + 3 * 0.25 - 0.5);
    CHECK(c->acceleration() == 0.125 * 2 + 0.5 * 0.5 + 2 * 0.25 * 1 + 3 * 0.125 - 0.25);
  });
}

}  // namespace

TEST_CASE("kernels: sums of products are right wherever the numbers stand") {
  everywhere([](std::size_t position, std::size_t other) {
    Numbers a(6, position, 1), b(6, other, 2);
    double two = 0, six = 0;
    for (std::size_t i = 0; i < 6; ++i) (i < 2 ? two : six) += a[i] * b[i];
    CHECK(std::abs(engine::dot<2>(a.data(), b.data(), 2) - two) < round_off);
    CHECK(std::abs(engine::dot<6>(a.data(), b.data(), 6) - two - six) < round_off);

    Numbers A(3 * 12, position, 3), y(12, other, 4), rest(3, other + 1, 5);
    std::vector<double> expected = rest.copy();
    engine::subtract_rows<3, 2, 6>(
        A.data(), [&](int e) { return y.data() + 6 * e; }, rest.data());
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t k = 0; k < 12; ++k) expected[r] -= A[12 * r + k] * y[k];
      CHECK(std::abs(rest[r] - expected[r]) < round_off);
    }

    Numbers X(3 * 6, position, 6), square(3 * 4, other, 7);
    expected = square.copy();
    engine::add_square<3, 6>(X.data(), 3, 6, square.data(), 4, true);
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t r = c; r < 3; ++r) {
        for (std::size_t k = 0; k < 6; ++k) expected[r + 4 * c] += X[6 * r + k] * X[6 * c + k];
        CHECK(std::abs(square[r + 4 * c] - expected[r + 4 * c]) < round_off);
      }
  });
}

TEST_CASE("kernels: products of rows are right wherever they stand") {
  check_product<2, 2, 6>();
  check_product<3, 3, 6>();
  check_product<5, 3, 6>();
  check_product<3, 5, 2>();
}

TEST_CASE("kernels: rows weighted by lambda are right wherever they stand") {
  for (const int k : {3, 6, 7})
    everywhere([k](std::size_t position, std::size_t other) {
      const auto n = static_cast<std::size_t>(k);
      constexpr std::size_t rows = 5;
      const std::array<Touch, 2> touches{{{0, 0, 2, k}, {2 * k, 2, 3, k}}};
      Numbers A(rows * n, position, 1), lambda(rows, other, 2), f(n, other + 1, 3), x(n, position + other, 4);
      engine::add_transposed(touches.data(), touches.data() + 2, A.data(), lambda.data(), k, f.data(), x.data());
      for (std::size_t i = 0; i < n; ++i) {
        double sum = f[i];
        for (std::size_t r = 0; r < rows; ++r) sum += lambda[r] * A[r * n + i];
        CHECK(std::abs(x[i] - sum) < round_off);
      }
    });
}

TEST_CASE("jets: they are right wherever they stand") {
  check_jets<1>();
  check_jets<2>();
  check_jets<3>();
  check_jets<12>();
}

// Fronts stand one behind the other in memory, so that after one of odd size the next begins anywhere.
TEST_CASE("fronts: chains of blocks of all small sizes are solved as dense matrices are") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> rows(1, 6);
    constexpr std::size_t nodes = 20;
    FrontTree::Graph graph{{}, {0}, {}};
    std::array<Index, nodes + 1> first{};
    for (std::size_t i = 0; i < nodes; ++i) {
      graph.size.push_back(rows(random));
      first[i + 1] = first[i] + graph.size[i];
      if (i > 0) graph.neighbour.push_back(static_cast<int>(i) - 1);
      if (i + 1 < nodes) graph.neighbour.push_back(static_cast<int>(i) + 1);
      graph.start.push_back(static_cast<int>(graph.neighbour.size()));
    }
    const Index n = first[nodes];
    MatrixXd K = MatrixXd::Zero(n, n);
    const FrontTree tree(graph);
    Fronts fronts(tree);
    std::vector<std::vector<std::pair<Index, double>>> entries(static_cast<std::size_t>(tree.count()));
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto add = [&](std::size_t i, std::size_t k) {
      const auto row = static_cast<int>(i), column = static_cast<int>(k);
      const FrontTree::Place p = tree.place(row, column);
      const int front = tree.front_of(tree.position(row) < tree.position(column) ? row : column);
      for (Index c = 0; c < graph.size[k]; ++c)
        for (Index r = 0; r < graph.size[i]; ++r)
          entries[static_cast<std::size_t>(front)].emplace_back(
              p.offset + (p.transposed ? c + r * p.stride : r + c * p.stride), K(first[i] + r, first[k] + c));
    };
    for (std::size_t i = 0; i < nodes; ++i)
      for (std::size_t k = i > 0 ? i - 1 : i; k <= i; ++k) {
        for (Index c = first[k]; c < first[k + 1]; ++c)
          for (Index r = first[i]; r < first[i + 1]; ++r) K(r, c) = K(c, r) = uniform(random);
        if (i == k) K.diagonal().segment(first[i], graph.size[i]).array() += 20;  // positive definite
        add(i, k);
      }
    for (Index i = 0; i < n; ++i) fronts.floor(i) = 1e-14;
    Workers workers{1};
    fronts.factor(workers, [&](int front) {
      for (const auto& [offset, value] : entries[static_cast<std::size_t>(front)]) *fronts.value(offset) += value;
    });
    const VectorXd b = VectorXd::NullaryExpr(n, [&] { return uniform(random); });
    VectorXd ordered(n), x(n);
    const auto each = [&](const auto& f) {
      for (std::size_t i = 0; i < nodes; ++i)
        for (Index r = 0; r < graph.size[i]; ++r) f(first[i] + r, tree.position(static_cast<int>(i)) + r);
    };
    each([&](Index own, Index in_order) { ordered[in_order] = b[own]; });
    fronts.solve(ordered.data());
    each([&](Index own, Index in_order) { x[own] = ordered[in_order]; });
    CHECK((x - K.llt().solve(b)).norm() < round_off);
  }
}
