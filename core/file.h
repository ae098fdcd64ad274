#pragma once
// Files that are read and written as a whole.

#include <cstdint>
#include <string>
#include <string_view>

#include <mortise/core/errors.h>

namespace mortise {

// A file that cannot be read or written.
struct FileError : Error {
  using Error::Error;
};

// Writes a file as a whole or not at all, also if the power fails: beside it first, under a name of its own, then renamed.
// Symbolic links are followed; pipes and devices are written to, and never replaced.  Throws FileError.
void replace_file(const std::string& path, const std::string& text);

// The bytes of a plain file.  Throws FileError if it is a pipe, a device or a folder, or has more than `most` bytes.
std::string read_file(const std::string& path, std::size_t most = std::size_t{1} << 32);

// Whether two paths lead to one plain file: the same device and inode, or the same place where none is yet.
bool same_file(const std::string& a, const std::string& b);

// Tells texts apart (FNV-1a); texts that differ in one byte never have the same one.
std::uint64_t fingerprint(std::string_view text);

}  // namespace mortise
