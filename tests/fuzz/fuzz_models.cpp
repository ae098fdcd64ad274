// Reads whatever comes as a model file: it must be a model or be refused by an error of ours.  A model is written, and
// what is written is the same model; a small one is checked and run for a few steps.

#include <cstdint>
#include <cstdlib>

#include <mortise/diagnosis/rank_report.h>
#include <mortise/files/model.h>

using namespace mortise;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    Model model = parse_model(text, "fuzz.toml", "tests/models/bad");
    const System system(model.assembly);
    const State start = model.start(system);
    std::string written;
    try {
      written = write_model(model);
    } catch (const InvalidModel&) {
    }
    if (!written.empty() && write_model(parse_model(written, "fuzz.toml", "tests/models/bad")) != written) std::abort();
    constexpr Index small = 12;
    if (system.size() == 0 || system.size() > small || system.rows() > small) return 0;
    (void)check_model(system, start).text();
    int steps = 0;
    model.run.sample = 0;
    model.run.progress = [&](double, double) { return ++steps < 5; };
    (void)simulate(system, start, model.run).csv();
  } catch (const Error&) {
  }
  return 0;
}
