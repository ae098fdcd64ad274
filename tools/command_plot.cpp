// mortise plot: columns of a run against time.

#include "commands.h"
#include "plot.h"

namespace mortise::command {

int plot(const PlotOptions& o) {
  write_plot(read_csv(o.run), o.columns, o.out, {.title = o.title});
  fmt::print("{}\n", o.out);
  return healthy;
}

}  // namespace mortise::command
