#pragma once
// Numbers and directions in words, and a check that bodies share.

#include <cmath>
#include <string>
#include <vector>

#include <mortise/core/errors.h>
#include <mortise/core/types.h>

namespace mortise {

// A direction, scaled so that its largest component is 1: "x", "-y" or "(1, 0.5, 0)".
std::string direction_in_words(const VectorXd& d);
// A point: "(0.5, 0, 1)".  What is round-off beside its largest number or beside `size` is 0.
std::string point_in_words(const VectorXd& p, double size = 0);
// "a, b, c"; "3 rows", "1 row".
std::string joined(const std::vector<std::string>& words, const char* separator = ", ");
std::string counted(Index n, const std::string& thing);
// Measures of error and singular values: "3.1e-03", and "<2e-16" below round-off.
std::string small_in_words(double x);

// About an origin off the centre of mass the moment is J + m |c|^2: a small J would drown in it, and accelerations with
// it.
void require_visible_inertia(const Label& label, double J, double mc2);

// "a, b and 3 more"
std::string some_of(const std::vector<std::string>& names, std::size_t most = 8);

}  // namespace mortise
