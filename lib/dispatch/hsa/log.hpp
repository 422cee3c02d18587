// The library's log: to stderr, at the level that FASTDISPATCH_LOG names; off unless it is set.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <spdlog/logger.h>

namespace fastdispatch::detail {

/// FASTDISPATCH_LOG=packets, below debug: a line for each packet that is published.
inline constexpr spdlog::level::level_enum packets_level = spdlog::level::trace;

/// The level of that name: off, error, warning, info, debug or packets; an empty name is off. None for a name that is
/// misspelt.
[[nodiscard]] std::optional<spdlog::level::level_enum> log_level(std::string_view name) noexcept;

/// What a user is told of a name that is misspelt.
[[nodiscard]] std::string misspelt_level(std::string_view name);

/// The logger, made at the first use. A misspelt level is told then, and nothing is logged.
spdlog::logger& log();

/// Changes the level. Submissions are watched while it is packets_level.
void set_log_level(spdlog::level::level_enum level);

}  // namespace fastdispatch::detail
