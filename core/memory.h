#pragma once
// What would not fit into memory is refused before it is asked for: systems that have little left may end the program
// instead of saying no.

#include <mortise/core/errors.h>

namespace mortise {

// Something needs more memory than is left.
struct TooLarge : Error {
  using Error::Error;
};

// [bytes] What this process can still get, as far as the system tells it: memory of the machine that is free or can be
// freed, of its group (cgroup), and of its own limit (ulimit -v).  Infinite where nothing is told.
double free_memory();
std::string memory_text(double bytes);  // "3.2 GB"

// Throws TooLarge with both figures if so many bytes are not left.  `what`: "its mass matrix".  Costs nothing below 64
// MB.
void require_memory(const Label& label, const std::string& what, double bytes, const std::string& remedy);

}  // namespace mortise
