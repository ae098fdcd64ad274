#include <mortise/core/errors.h>

#include <new>

namespace mortise {

Error::Error(const std::string& kind, const std::string& name, const std::string& fact, const std::string& remedy)
    : std::runtime_error(fmt::format("{} '{}': {}; {}", kind, name, fact, remedy)),
      parts_(std::make_shared<const ErrorParts>(ErrorParts{kind, name, fact, remedy})) {}
Error::Error(const std::string& text)
    : std::runtime_error(text), parts_(std::make_shared<const ErrorParts>(ErrorParts{"", "", text, ""})) {}

void Label::require(bool ok, const std::string& fact, const std::string& remedy) const {
  if (!ok) fail<InvalidModel>(fact, remedy);
}

void rethrow_named(const char* kind, const std::string& name) {
  const auto fail = [&](const std::string& fact) {
    Label{kind, name}.fail<FunctorFailed>(fact, "look into its functions, or let them take such states");
  };
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(fmt::format("it threw '{}'", error.what()));
  } catch (...) {
    fail("it threw something that is no std::exception");
  }
  throw;  // not reached
}

}  // namespace mortise
