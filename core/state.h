#pragma once
// State {q, v, t}: coordinates, velocities and time, also by name.
//
//   state.set("arm/rod.theta", 0.3);      a coordinate
//   state.set("arm/rod.theta'", 1.0);     its velocity
//   state.set("arm/rod", {0, 0, 0.3});    all coordinates of a body (and "arm/rod'" all its velocities)

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <mortise/core/types.h>

namespace mortise {

// The names of a system's coordinates: path/to/body.coordinate.
class CoordinateTable {
 public:
  void add(const std::string& body, const std::vector<std::string>& coordinates);

  Index size() const { return static_cast<Index>(names_.size()); }
  const std::string& name(Index i) const { return names_[static_cast<std::size_t>(i)]; }
  const std::vector<std::string>& names() const { return names_; }

  struct Range {
    Index first = 0, size = 0;
  };
  // A coordinate or a whole body.  Throws InvalidModel with the nearest name if there is none.
  Range find(std::string_view name) const;
  Index find_one(std::string_view coordinate) const;  // a coordinate, not a body

 private:
  std::vector<std::string> names_;
  std::map<std::string, Range, std::less<>> ranges_;
};

struct State {
  VectorXd q, v;
  double t = 0;
  std::shared_ptr<const CoordinateTable> names;  // of the System that made this state

  double get(std::string_view name) const;
  void set(std::string_view name, double value);
  VectorXd get_all(std::string_view body) const;
  void set(std::string_view body, const VectorXd& values);
  void set(std::string_view body, std::initializer_list<double> values);
};

// The candidate closest to `name` in spelling, for "did you mean"; empty if there are none.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace mortise
