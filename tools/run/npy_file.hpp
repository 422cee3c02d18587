// NumPy's file format for one array (numpy.lib.format, version 1.0), little-endian and row after row.
#pragma once

#include "array.hpp"

#include <filesystem>
#include <string>

/// Throws std::runtime_error, with the file and what is wrong with it, for a file that cannot be read, is damaged, or
/// has another version, byte order, element type or order of elements.
[[nodiscard]] Array read_npy(const std::filesystem::path& path);

/// The file's contents.
[[nodiscard]] std::string npy_of(const Array& array);
