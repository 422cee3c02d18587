// NumPy's file format for one array (numpy.lib.format, versions 1 to 3).
#pragma once

#include "matrix_source.hpp"

#include <filesystem>

/// Two dimensions of little-endian floats or integers, by rows or by columns; they become floats, rounded to nearest.
/// Reads the header now and the elements when they are asked for. Throws std::runtime_error with the byte of the fault.
[[nodiscard]] MatrixSource npy_matrix(const std::filesystem::path& path);
