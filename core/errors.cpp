#include <mortise/core/errors.h>

namespace mortise {

Error::Error(const std::string& kind, const std::string& name, const std::string& fact, const std::string& remedy)
    : std::runtime_error(fmt::format("{} '{}': {}; {}", kind, name, fact, remedy)) {}

void Label::require(bool ok, const std::string& fact, const std::string& remedy) const {
  if (!ok) fail<InvalidModel>(fact, remedy);
}

}  // namespace mortise
