#include <mortise/diagnosis/x.h>
#include <mortise/integrators/simulate.h>
