#pragma once
// Our factorisation beside Eigen's, and orders of elimination beside each other, on the matrices that mechanisms have.

#include "report.h"

namespace bench {

void factorisations(Report& report);

}  // namespace bench
