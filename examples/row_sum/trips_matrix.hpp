// Origin-destination files: how many people travel from where to where.
#pragma once

#include "matrix_source.hpp"
#include "trips_columns.hpp"

#include <filesystem>
#include <optional>

/// Comma-separated text with an origin, a destination and a count in each line: the only columns unless `columns` says
/// where they are. If a column is given by its name, the first line is the header; else it is one if its count is no
/// number. Places have any names, quoted where they have commas. The matrix is square over all places, in the order in
/// which they first appear; pairs that do not appear are 0, and counts of one pair add up. Throws std::runtime_error
/// with the line, and the column if there is one, of the fault.
[[nodiscard]] MatrixSource trips_matrix(const std::filesystem::path& path, const std::optional<TripsColumns>& columns);
