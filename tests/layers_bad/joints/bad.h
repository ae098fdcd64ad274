#pragma once
#include <mortise/core/x.h>

#include <mortise/bodies/x.h>  // [kg; m]
#include <mortise/mortise.h>
