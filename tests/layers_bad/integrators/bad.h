#pragma once
#include <mortise/files/model.h>
