// Files of unsigned 32-bit integers: text with one number a line, or raw little-endian if the name ends in .u32.
#pragma once

#include "output_file.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

/// Throws std::runtime_error with the line and column of text that is not a number.
[[nodiscard]] std::vector<std::uint32_t> read_numbers(const std::filesystem::path& path);

/// The format is that of `path`, the name that `file` will have.
void write_numbers(OutputFile& file, const std::filesystem::path& path, std::span<const std::uint32_t> numbers);
