// CSV files, checkpoints, matrices, expressions.

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <mortise/bodies/matrix_market.h>
#include <mortise/core/file.h>
#include <mortise/core/json.h>
#include <mortise/core/taylor.h>
#include <mortise/core/text.h>
#include <mortise/files/expression.h>
#include <mortise/integrators/checkpoint.h>

#include "markup.h"
#include "table.h"
#include "targets.h"

namespace mortise::fuzz {
namespace {

// A file of this process, which is gone at the end.
struct OwnFile {
  std::string path = (std::filesystem::temp_directory_path() / fmt::format("mortise_fuzz_{}.run", ::getpid())).string();
  ~OwnFile() {
    std::error_code none;
    std::filesystem::remove(path, none);
  }
};

}  // namespace

void feed_table(std::string_view bytes) {
  (void)printable(bytes);
  (void)Json(std::string(bytes)).text();
  (void)escaped_markup(std::string(bytes));
  try {
    const RunTable table = parse_csv(bytes, "fuzz.csv");
    Trajectory run;
    run.columns = table.columns;
    run.values = table.values;
    const std::string csv = run.csv();
    const RunTable again = [&] {
      try {
        return parse_csv(csv, "again.csv");
      } catch (const Error& error) {
        fault(std::string("a table that we wrote is refused, ") + error.what() + "\n" + csv);
      }
    }();
    if (again.values != table.values || again.columns.size() != table.columns.size())
      fault("a table has other numbers");
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (again.columns[i].name != table.columns[i].name || again.columns[i].unit != table.columns[i].unit)
        fault("a table has other names");
  } catch (const Error&) {
  }
}

void feed_checkpoint(std::string_view bytes) {
  static const OwnFile file;
  const std::string text(bytes);
  std::ofstream(file.path, std::ios::binary)
      << fmt::format("mortise checkpoint 2 {} {:016x}\n{}", text.size(), fingerprint(text), text);
  try {
    const CheckpointReader reader(file.path);
    for (const char* key : {"q", "left_out", "counts"}) {
      (void)reader.numbers(key);
      (void)reader.counts(key, 5);
    }
    (void)reader.words("notes");
  } catch (const Error&) {
  }
}

void feed_matrix(std::string_view bytes) {
  try {
    std::istringstream in{std::string(bytes)};
    const Eigen::SparseMatrix<double> M = read_matrix_market(in, "fuzz.mtx", {.size = 10000, .entries = 100000});
    for (Index k = 0; k < M.outerSize(); ++k)
      for (Eigen::SparseMatrix<double>::InnerIterator it(M, k); it; ++it)
        if (it.row() < 0 || it.row() >= M.rows()) fault("an entry of a matrix stands outside of it");
  } catch (const Error&) {
  }
}

void feed_expression(std::string_view bytes) {
  const files::Names names{[](std::string_view name) -> std::optional<files::Meaning> {
                             if (name == "L") return files::Meaning{0.5, -1};
                             if (name == "t") return files::Meaning{std::nullopt, 0};
                             if (name == "x") return files::Meaning{std::nullopt, 1};
                             return std::nullopt;
                           },
                           [] {
                             return std::vector<std::string>{"L", "t", "x"};
                           }};
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  try {
    std::string_view unit;
    const files::Expression e = files::Expression::parse(bytes, names, &unit);
    const std::vector<double> at{0.25, 0.75};
    const double value = e(at);
    (void)e(std::vector<SecondOrder>{SecondOrder(0.25), SecondOrder(0.75)});
    const std::string text = e.text([](int i) { return i == 0 ? "t" : "x"; });
    const files::Expression again = [&] {
      try {
        return files::Expression::parse(text, names);
      } catch (const files::ExpressionError& error) {
        fault(std::string("a formula that we wrote is refused, ") + error.what() + "\n" + text);
      }
    }();
    if (!same(again(at), value)) fault("a formula has another value when it is written and read: " + text);
    (void)e.times(2)(at);
    (void)e.constant();
    double last = -1;
    for (const double t : e.switches(0, 0, 1)) {
      if (!(t >= last && t >= 0 && t <= 1)) fault("switches are out of order: " + text);
      last = t;
    }
  } catch (const files::ExpressionError&) {
  } catch (const Error&) {
  }
}

}  // namespace mortise::fuzz
