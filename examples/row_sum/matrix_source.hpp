// A matrix whose size is known first. Its elements then go into memory that the caller made for this size.
#pragma once

#include "trips_columns.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

inline constexpr std::size_t most_rows = std::size_t{1} << 31U;  ///< and columns: kernels count with 32 bits

struct MatrixSource {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<std::string> row_names;  ///< empty if rows have numbers only
  /// Writes all elements, row after row, each a finite number. Throws std::runtime_error.
  std::function<void(std::span<float>)> write_to;
};

/// Random numbers from 0 to 1.
[[nodiscard]] MatrixSource random_matrix(std::size_t rows, std::size_t columns, std::uint32_t seed);

/// An array of NumPy's (.npy), or a table of origins, destinations and counts (.csv), as the name says; `columns` are
/// the table's, see trips_matrix. Throws std::runtime_error with the byte or the line of the fault.
[[nodiscard]] MatrixSource matrix_file(const std::filesystem::path& path, const std::optional<TripsColumns>& columns);
