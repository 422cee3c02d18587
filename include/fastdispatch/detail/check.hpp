// Turns HSA's statuses into exceptions.
#pragma once

#include <string>
#include <string_view>

#include <hsa/hsa.h>

#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/hsa_api.hpp"

namespace fastdispatch::detail {

/// Throws the Error for a failed `call` ("hsa_queue_create") while `doing` ("creating a queue of 64 packets").
[[noreturn]] FASTDISPATCH_EXPORT void throw_hsa_error(const HsaApi& api, hsa_status_t status, std::string_view call,
                                                      std::string_view doing);

/// HSA's own text for `status`, or its number where the runtime has none.
[[nodiscard]] FASTDISPATCH_EXPORT std::string status_text(const HsaApi& api, hsa_status_t status);

/// What usually causes `status` and what to do about it; empty where there is nothing to add.
[[nodiscard]] FASTDISPATCH_EXPORT std::string_view advice(hsa_status_t status);

/// Throws unless `status` is a success. `doing` completes the sentence "... failed while ..."; it is a string, or a
/// callable that returns one, so that no text is built when nothing failed.
template <class Doing>
void check(const HsaApi& api, hsa_status_t status, std::string_view call, Doing&& doing) {
  if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) [[likely]]
    return;
  if constexpr (requires { std::string_view(doing); })
    throw_hsa_error(api, status, call, std::string_view(doing));
  else
    throw_hsa_error(api, status, call, doing());
}

}  // namespace fastdispatch::detail
