#pragma once
// Geometry: what joints, forces and sensors may ask of a body, whatever its type is.
//
// A body's points and directions are functions of its coordinates q.  They are asked for
//   by coordinates   as numbers, or as numbers that vary with q (Taylor, TaylorDual)
//   by unknowns y    q'' = T y + z (core/marker.h), where one frame carries all of them: differentiated by the body
// Bodies without such a frame (structures, whose nodes move each by itself; users' bodies) differentiate a point with
// respect to their coordinates.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mortise/core/dual.h>
#include <mortise/core/taylor.h>

namespace mortise {

// A Taylor number that varies in one more direction: the scalar of potentials, whose derivatives are forces.
using TaylorDual = Dual<Taylor, 1>;

enum class Ask { point, direction };
using LocalVector = std::span<const double>;  // of a point or a direction in the body's frame: 1, 2 or 3 numbers

// A point or direction of a body in its unknowns, with as many components as its place.
struct Mark {
  static constexpr int most_unknowns = 6;
  double value[3], velocity[3], acceleration[3];  // in time, with y = 0
  double jacobian[3 * most_unknowns];             // components x unknowns, column by column
};

class Geometry {
 public:
  virtual ~Geometry() = default;

  virtual std::string kind() const = 0;
  virtual std::vector<std::string> coordinates() const = 0;
  virtual Index size() const = 0;
  virtual Index find(std::string_view coordinate) const = 0;  // -1 if there is none of this name
  Index require(std::string_view coordinate) const;           // throws InvalidModel instead

  // In 1, 2 or 3 dimensions.
  virtual bool has(Ask what, int dimension) const = 0;
  virtual bool turns(int dimension) const = 0;

  virtual void locate(Ask what, LocalVector r, const double* q, double* out) const = 0;
  virtual void locate(Ask what, LocalVector r, const Taylor* q, Taylor* out) const = 0;
  virtual void locate(Ask what, LocalVector r, const TaylorDual* q, TaylorDual* out) const = 0;
  // In world axes: one number in the plane, three in space; linear in v.
  virtual void angular_velocity(int dimension, const double* q, const double* v, double* w) const = 0;
  virtual void angular_velocity(int dimension, const Taylor* q, const Taylor* v, Taylor* w) const = 0;
  // The inverse of locate: a place of the world in the frame of the body.
  virtual void find_local(Ask what, LocalVector world, const double* q, double* out) const = 0;

  // A body whose points are r + S q with a constant S tells the entries of S; the others return false.
  struct Entry {
    int component;
    Index coordinate;
    double factor;
  };
  virtual bool linear(LocalVector, std::vector<Entry>&) const { return false; }

  // What follows from these: velocities, forces on the coordinates, Q += (d point/dq)'f, and derivatives.
  void velocity(Ask what, LocalVector r, const double* q, const double* v, double* out) const;
  void velocity(Ask what, LocalVector r, const Taylor* q, const Taylor* v, Taylor* out) const;
  void push(LocalVector r, const double* q, const double* f, double* Q) const;
  void push(LocalVector r, const Taylor* q, const Taylor* f, Taylor* Q) const;
  void twist(int dimension, const double* q, const double* torque, double* Q) const;
  void twist(int dimension, const Taylor* q, const Taylor* torque, Taylor* Q) const;
  // value, and velocity and acceleration along q + s v; jacobian: one row of size() numbers per component.
  void differentiate(Ask what, LocalVector r, const double* q, const double* v, Mark& along, double* jacobian) const;
  void differentiate_spin(int dimension, const double* q, const double* v, double* w, double* rate,
                          double* jacobian) const;

  // By unknowns.  frame() is their number if one frame carries all points, else -1.
  virtual int frame() const = 0;
  virtual void mark(const void* motion, Ask what, LocalVector r, Mark& out) const = 0;
  virtual void spin(const void* motion, int dimension, double* w, double* jacobian) const = 0;     // its rate is 0
  virtual void coordinate_row(const void* motion, Index i, double* row, double& drift) const = 0;  // of T, and of z
  virtual void project(const void* motion, const double* Q, double* y) const = 0;                  // adds T'Q

 protected:
  [[noreturn]] void refuse(const char* what, int dimension) const;
};

}  // namespace mortise
