#pragma once
// The models of examples/models, built in C++.

#include <map>
#include <string>

#include <mortise/assembly/assembly.h>

// By the name of the file.
const std::map<std::string, mortise::Assembly (*)()>& twins();
