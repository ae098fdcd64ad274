#pragma once
// Other programs that draw: gnuplot, dot.

#include <string>
#include <vector>

namespace mortise {

std::string find_program(const std::string& name);  // its path, or "" if it is not installed
// Runs a program without a shell and without output; true if it ended well.
bool runs(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace mortise
