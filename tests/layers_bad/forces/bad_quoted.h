#pragma once
#include "good.h"
  #  include   "../core/../bodies/x.h"
