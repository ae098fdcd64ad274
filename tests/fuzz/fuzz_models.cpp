// Reads whatever comes as a model file: it must be a model or be refused by ModelError, nothing else.

#include <cstdint>

#include <mortise/files/model.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const mortise::Model model = mortise::parse_model(text, "fuzz.toml", "tests/models/bad");
    const mortise::System system(model.assembly);
    (void)model.start(system);
    (void)mortise::write_model(model);
  } catch (const mortise::Error&) {
  }
  return 0;
}
