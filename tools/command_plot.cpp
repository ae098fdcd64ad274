// mortise plot: columns of a run against time.

#include "commands.h"
#include "plot.h"

namespace mortise::command {

int plot(const PlotOptions& o) {
  require_apart({o.run}, {{"-o", o.out}}, o.force);
  const RunTable run = read_csv(o.run);
  try {
    write_plot(run, o.columns, o.out, {.title = o.title});
  } catch (const InvalidModel& error) {  // columns that are not there
    throw WrongUsage(error.what());
  }
  say("{}\n", o.out);
  return healthy;
}

}  // namespace mortise::command
