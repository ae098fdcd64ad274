#pragma once
// State {q, v, t}: coordinates, velocities and time, also by name; and which joints are switched off.
//
//   state.set("arm/rod.theta", 0.3);      a coordinate
//   state.set("arm/rod.theta'", 1.0);     its velocity
//   state.set("arm/rod", {0, 0, 0.3});    all coordinates of a body (and "arm/rod'" all its velocities)

#include <cstdint>
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
  void finish();  // after the last add()

  Index size() const { return size_; }
  std::uint64_t layout() const { return layout_; }  // tells tables with other names apart
  std::string name(Index i) const;                  // throws InvalidModel if there is none
  std::vector<std::string> names() const;

  struct Range {
    Index first = 0, size = 0;
  };
  // A coordinate or a whole body.  Throws InvalidModel with the nearest name if there is none.
  Range find(std::string_view name) const;
  Index find_one(std::string_view coordinate) const;  // a coordinate, not a body

 private:
  // Many bodies have the same coordinates: their names are kept once, and put together when asked for.
  struct Entry {
    std::string body;
    Index first;
    std::size_t list;  // in lists_
  };
  Index size_ = 0;
  std::uint64_t layout_ = 0;
  std::vector<std::vector<std::string>> lists_;
  std::vector<Entry> bodies_;        // by first coordinate
  std::vector<std::size_t> sorted_;  // the same, by name
};

struct State {
  VectorXd q, v;
  double t = 0;
  std::shared_ptr<const CoordinateTable> names;  // of the System that made this state
  std::vector<std::size_t> off = {};             // joints that do not act now, see System::switch_off; ascending

  double get(std::string_view name) const;
  void set(std::string_view name, double value);
  VectorXd get_all(std::string_view body) const;
  void set(std::string_view body, const VectorXd& values);
  void set(std::string_view body, std::initializer_list<double> values);
};

// The candidate closest to `name` in spelling, for "did you mean"; empty if there are none.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace mortise
