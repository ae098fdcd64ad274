#pragma once
// #include <mortise/joints/x.h> in a comment is no include.
#include <mortise/bodies/x.h>
#include <mortise/core/x.h>
#include <mortise/version.h>
#include <Eigen/Core>
#include "../core/x.h"
