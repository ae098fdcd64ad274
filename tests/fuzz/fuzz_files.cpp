// Reads whatever comes as a CSV file, a checkpoint or a matrix: it must be one or be refused by an error of ours, and a
// table that is read is written and read back as the same.  The first byte says which.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <sstream>

#include <mortise/bodies/matrix_market.h>
#include <mortise/core/file.h>
#include <mortise/core/text.h>
#include <mortise/integrators/checkpoint.h>

#include "table.h"

using namespace mortise;

namespace {

void csv(const std::string& text) {
  const RunTable table = parse_csv(text, "fuzz.csv");
  Trajectory run;
  run.columns = table.columns;
  run.values = table.values;
  const RunTable again = parse_csv(run.csv(), "again.csv");
  if (again.values != table.values || again.columns.size() != table.columns.size()) std::abort();
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (again.columns[i].name != table.columns[i].name || again.columns[i].unit != table.columns[i].unit) std::abort();
}

void checkpoint(const std::string& text) {
  static const std::string path = "/tmp/mortise_fuzz_" + std::to_string(::getpid());
  replace_file(path, fmt::format("mortise checkpoint 2 {} {:016x}\n{}", text.size(), fingerprint(text), text));
  const CheckpointReader reader(path);
  for (const char* key : {"q", "left_out", "counts"}) {
    (void)reader.numbers(key);
    (void)reader.counts(key, 5);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  (void)printable(text);
  try {
    if (data[0] % 3 == 0) csv(text);
    if (data[0] % 3 == 1) checkpoint(text);
    if (data[0] % 3 == 2) {
      std::istringstream in(text);
      (void)read_matrix_market(in, "fuzz.mtx", {});
    }
  } catch (const Error&) {
  }
  return 0;
}
