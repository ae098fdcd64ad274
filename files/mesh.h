#pragma once
// Surfaces of triangles from STL (binary and ASCII), OBJ and COLLADA (DAE), as robots' files name them for pictures.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <mortise/core/types.h>

namespace mortise::files {

struct Mesh {
  // What has one colour.
  struct Part {
    std::vector<Vec3<double>> points;  // [m], or in the unit of a file that tells none
    std::vector<std::array<std::uint32_t, 3>> triangles;
    std::string colour;  // "#rrggbb", or empty
  };
  std::vector<Part> parts;

  std::size_t triangles() const;
};

// The file that a robot's file means: relative to it, or package://NAME/... and model://NAME/... in one of the
// packages' folders, or in a folder NAME around the robot's file.  "" if there is none.
std::string mesh_file(const std::string& named, const std::string& robot, const std::vector<std::string>& packages);

// By the ending of its name.  Throws ModelError for what cannot be read, is empty, or is larger than 100 MB.
Mesh read_mesh(const std::string& path);

// The same surface with at most so many triangles: points in one cell of a grid become one.
Mesh thinned(const Mesh& mesh, std::size_t triangles);

// What a closed surface encloses, of density 1: its volume, centre, and inertia about the centre.
struct Enclosed {
  double volume = 0;
  Vec3<double> centre{0, 0, 0};
  Mat<double, 3> inertia = Mat<double, 3>::Zero();
};
Enclosed enclosed(const Mesh& mesh, const Vec3<double>& scale);

}  // namespace mortise::files
