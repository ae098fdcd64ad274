#pragma once
#include "../tools/table.h"
#include <mortise/integrators/x.h>
