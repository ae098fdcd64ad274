#pragma once
#include <mortise/assembly/x.h>
