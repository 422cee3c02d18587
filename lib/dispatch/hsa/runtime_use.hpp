// Whether the process uses the HSA runtime now: a child that is forked meanwhile cannot use it.
#pragma once

#include "fastdispatch/detail/hsa_api.hpp"

namespace fastdispatch::detail {

/// In a child that is forked from here on until as many calls of end_use(), `api`'s functions refuse, or do nothing
/// where they give something back. There is one `api` in a process.
void begin_use(HsaApi& api) noexcept;
void end_use() noexcept;

}  // namespace fastdispatch::detail
