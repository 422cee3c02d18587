// The bytes of a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

/// Throws std::runtime_error with the reason, not with the file's name, where the file cannot be read or is larger than
/// 2 GiB.
[[nodiscard]] std::vector<std::uint8_t> read_file(const std::filesystem::path& path);
