#include <mortise/assembly/x.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/solve/solver.h>
