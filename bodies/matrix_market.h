#pragma once
// Matrix Market files: the text format in which finite-element programs write M, C and K.
//
//   %%MatrixMarket matrix coordinate real symmetric      coordinate or array, real or integer, general or symmetric
//   % comments
//   3 3 2                                                rows columns entries; an array has rows columns
//   1 1 2.5                                              row column value, from 1; an array has one value a line
//   2 1 -1
//
// A symmetric file holds the lower triangle.  Entries of the same place are added.  Memory grows with what the file
// really holds, not with what its size line says.

#include <iosfwd>
#include <string>

#include <Eigen/SparseCore>

#include <mortise/core/types.h>

namespace mortise {

struct MatrixMarketLimits {
  Index size = 1'000'000;       // rows and columns
  Index entries = 100'000'000;  // in the file
};

// Throws InvalidModel with the file, the line and what was expected there.
Eigen::SparseMatrix<double> read_matrix_market(const std::string& path, const MatrixMarketLimits& limits = {});
Eigen::SparseMatrix<double> read_matrix_market(std::istream& in, const std::string& name,
                                               const MatrixMarketLimits& limits = {});

}  // namespace mortise
