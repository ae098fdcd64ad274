#include <mortise/core/errors.h>

namespace mortise {

Error::Error(const std::string& kind, const std::string& name, const std::string& fact, const std::string& remedy)
    : std::runtime_error(fmt::format("{} '{}': {}; {}", kind, name, fact, remedy)),
      parts_(std::make_shared<const ErrorParts>(ErrorParts{kind, name, fact, remedy})) {}
Error::Error(const std::string& text)
    : std::runtime_error(text), parts_(std::make_shared<const ErrorParts>(ErrorParts{"", "", text, ""})) {}

void Label::require(bool ok, const std::string& fact, const std::string& remedy) const {
  if (!ok) fail<InvalidModel>(fact, remedy);
}

}  // namespace mortise
