#pragma once
// Plots of columns of a run, as SVG of our own, or as PNG by gnuplot where it is installed.
//
//   write_plot(read_csv("run.csv"), {"rod.theta", "tip.*"}, "run.svg");
//
// Columns of one unit share a panel.  The SVG follows the light or dark scheme of who looks at it.

#include <string>
#include <string_view>
#include <vector>

#include "table.h"

namespace mortise {

struct PlotOptions {
  std::string title = {};  // "": the name of the file
  int width = 960;         // [px]
  int panel = 260;         // [px] height of a panel
};

// The columns that names and patterns with * stand for, in their order, each once; without any, all but the time and
// rates.  Throws InvalidModel with the nearest name for one that stands for none.
std::vector<Index> chosen_columns(const RunTable& run, const std::vector<std::string>& names);

// Throws InvalidModel for columns that are not there, or more curves than can be told apart.
std::string plot_svg(const RunTable& run, const std::vector<std::string>& columns, const PlotOptions& options = {});

bool gnuplot_installed();

// By the end of the path: .svg or .png.  Throws FileError if it cannot be written, or for .png without gnuplot.
void write_plot(const RunTable& run, const std::vector<std::string>& columns, const std::string& path,
                const PlotOptions& options = {});

}  // namespace mortise
