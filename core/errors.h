#pragma once
// Errors: every one says kind, 'name', fact (with its numbers) and remedy.
//
//   body 'rod': mass = -1 kg is negative; give a mass >= 0 (0 makes the body massless)
//
// Library code throws these and nothing else; it never prints, aborts or repairs.

#include <memory>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace mortise {

// What the text of an error is made of; a report as a whole has a fact alone.
struct ErrorParts {
  std::string kind, name, fact, remedy;
};

class Error : public std::runtime_error {
 public:
  Error(const std::string& kind, const std::string& name, const std::string& fact, const std::string& remedy);
  const ErrorParts& parts() const { return *parts_; }

 protected:
  explicit Error(const std::string& text);  // a whole report

 private:
  std::shared_ptr<const ErrorParts> parts_;
};

// A part, a name or a connection that cannot be.
struct InvalidModel : Error {
  using Error::Error;
};
// A vector or matrix of the wrong size.
struct WrongSize : Error {
  using Error::Error;
};
// NaN or Inf, from the caller or out of a functor.
struct NonFinite : Error {
  using Error::Error;
};
// A mass matrix that is not symmetric, or not positive semi-definite.
struct InvalidMass : Error {
  using Error::Error;
};
struct NotSymmetric : InvalidMass {
  using InvalidMass::InvalidMass;
};
// A form of the equations that needs M > 0 was given a singular M.
struct SingularMass : Error {
  using Error::Error;
};
// [M; A] lacks column rank: the accelerations are not determined.
struct NotDetermined : Error {
  using Error::Error;
};
// No acceleration satisfies the equations: conflicting rows, or a force on a massless direction that nothing holds.
struct NoMotion : Error {
  using Error::Error;
};
// A functor threw something that is none of these.
struct FunctorFailed : Error {
  using Error::Error;
};
// Accelerations that could not be found to the accuracy the state allows.
struct NotConverged : Error {
  using Error::Error;
};
// A derivative was asked of a function that takes double only.
struct NoDerivative : Error {
  using Error::Error;
};

// Who is speaking, for messages: Label{"body", "arm/rod"}.
struct Label {
  std::string kind, name;

  template <class E> [[noreturn]] void fail(const std::string& fact, const std::string& remedy) const {
    throw E(kind, name, fact, remedy);
  }
  void require(bool ok, const std::string& fact, const std::string& remedy) const;  // throws InvalidModel if not
};

// Inside a catch: throws what is caught again; FunctorFailed, naming the part, if it is none of ours.
[[noreturn]] void rethrow_named(const char* kind, const std::string& name);

}  // namespace mortise
