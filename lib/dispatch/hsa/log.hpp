// The library's log: to stderr, at the level that FASTDISPATCH_LOG names; off unless it is set.
#pragma once

#include <spdlog/logger.h>

namespace fastdispatch::detail {

/// The logger, made at the first use.
spdlog::logger& log();

}  // namespace fastdispatch::detail
