#pragma once
// The page that shows a run: one HTML file that needs nothing else, to be turned and played in a browser.
//
//   ViewOptions options;
//   show_report(options, system, check_rank(system, system.evaluate(system.state())));
//   write_view(system, read_csv("run.csv"), "run.html", options);
//
// Bodies move by their recorded coordinates.  They are drawn as the box or rod of their inertia, as links between their
// joints where inertia tells no shape, or as they are given; without mass they are outlined.  Joints and forces are
// drawn where their sketches (core/sketch.h) put them.  Systems of the plane are seen in their plane.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <mortise/diagnosis/rank_report.h>

#include "table.h"

namespace mortise {

// A surface of triangles, counter-clockwise from outside.
struct ViewMesh {
  std::vector<Vec3<double>> points;
  std::vector<std::array<std::uint32_t, 3>> triangles;
};

// How a body is drawn, in its frame.
struct ViewShape {
  std::string type = "box";    // box, sphere, cylinder, rod (a cylinder with round ends), line, mesh, none
  Vec3<double> size{1, 1, 1};  // [m] of a box: edges; sphere: diameter; cylinder, rod: diameter, length; mesh: scale
  Vec3<double> at{0, 0, 0};    // [m] its middle; of a mesh: its origin
  Vec3<double> axis{0, 0, 1};             // of a cylinder or rod: its axis; of a box: its third edge
  std::vector<Vec3<double>> points = {};  // [m] of a line, from point to point, as thick as links are
  std::string colour = {};                // "#4477aa"; "": chosen
  Vec3<double> rotation{0, 0, 0};         // [rad] of a box or mesh, in place of an axis: turned about this vector
  std::shared_ptr<const ViewMesh> mesh = {};  // bodies may share one
};

// Something to point out on the page, such as a finding of a report.
struct Highlight {
  std::string kind;  // free, redundant, conflicting, remark
  std::string text;
  std::vector<std::string> bodies = {}, joints = {};  // by path
  VectorXd direction = {};                            // of a free direction: changes of all coordinates, or empty
};

// Poses for a joint to be dragged through.
struct ViewSlider {
  std::string joint, unit;
  double start = 0;
  std::vector<double> positions;          // ascending
  std::vector<std::string> bodies;        // by path
  std::vector<std::vector<float>> poses;  // at each position: x, y, z, and the quaternion w, x, y, z of every body
};

struct ViewOptions {
  std::vector<ViewSlider> sliders = {};
  std::string title = {};                        // "": the name of the system
  std::map<std::string, std::vector<ViewShape>> shapes = {};  // by path of body
  std::string verdict = {}, report = {};         // one line, and the whole text
  std::vector<Highlight> highlights = {};
  // What the run was made of, by name, for those who read the page's data.
  std::vector<std::pair<std::string, std::string>> identity = {};
  std::vector<std::string> plots = {};  // columns plotted at first, patterns with * allowed
  // Numbers in the page, 11 bytes each.  Coordinates of bodies are always there; beyond it, other columns are left out.
  std::size_t numbers = 1'000'000;
};

// Puts verdict, text, free directions and redundant or conflicting rows of a report into the options.
void show_report(ViewOptions& options, const System& system, const RankReport& report);

// Throws InvalidModel, naming the column, if the run has not recorded what moves a body, and for shapes of bodies that
// are not there.  Bodies of kinds that tell no position are not drawn.
std::string view_page(const System& system, const RunTable& run, const ViewOptions& options = {});
void write_view(const System& system, const RunTable& run, const std::string& path, const ViewOptions& options = {});

}  // namespace mortise
