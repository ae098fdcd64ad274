#include <mortise/solve/solve.h>  // Moved: this old path is removed in release 0.2
