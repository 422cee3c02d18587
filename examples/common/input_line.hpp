// Lines of a text file that may be no text at all, such as /dev/zero.
#pragma once

#include <cstddef>
#include <filesystem>
#include <istream>
#include <string>

inline constexpr std::size_t longest_input_line = 65536;            ///< bytes
inline constexpr std::size_t largest_input = std::size_t{2} << 30;  ///< bytes that a program reads of a file at most

/// Drops the byte-order mark of UTF-8, which some editors put in front of a text.
void drop_byte_order_mark(std::string& first_line);

/// As std::getline. Throws std::runtime_error, which names `path`, if the line has more than `longest_input_line`
/// bytes.
bool read_input_line(std::istream& stream, std::string& line, const std::filesystem::path& path);
