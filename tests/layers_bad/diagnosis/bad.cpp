#include <mortise/engine/x.h>
#include <mortise/solve/solver.h>
