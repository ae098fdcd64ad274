#pragma once
#include <mortise/engine/engine.h>
#include <mortise/diagnosis/rank_report.h>
#include <mortise/solve/solver.h>
