// The library's log: to stderr, at the level that FASTDISPATCH_LOG names; off unless it is set.
#pragma once

#include <optional>
#include <string_view>

#include <spdlog/logger.h>

namespace fastdispatch::detail {

/// The level of that name; an empty name is off. None for a name that is misspelt.
[[nodiscard]] std::optional<spdlog::level::level_enum> log_level(std::string_view name);

/// The logger, made at the first use. A misspelt level is told then, and nothing is logged.
spdlog::logger& log();

}  // namespace fastdispatch::detail
