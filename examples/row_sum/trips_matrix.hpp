// Origin-destination files: how many people travel from where to where.
#pragma once

#include "matrix_source.hpp"

#include <filesystem>

/// Comma-separated text with an origin, a destination and a count in each line, behind a header line or not. Places
/// have any names, quoted where they have commas. The matrix is square over all places, in the order in which they
/// first appear; pairs that do not appear are 0, and counts of one pair add up. Throws std::runtime_error with the line
/// of the fault.
[[nodiscard]] MatrixSource trips_matrix(const std::filesystem::path& path);
