// The HSA functions that the library calls, as a table of typed pointers filled when the runtime is opened.
//
// The library does not link against ROCr: one binary runs with the system's runtime or on the soft GPU, and a unit test
// passes a mock table to make any call fail.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

namespace fastdispatch::detail {

// The one list of functions, each without its prefix `hsa_`.
#define FASTDISPATCH_HSA_FUNCTIONS(X)                                                                                  \
  X(init)                                                                                                              \
  X(shut_down)                                                                                                         \
  X(status_string)                                                                                                     \
  X(system_get_info)                                                                                                   \
  X(iterate_agents)                                                                                                    \
  X(agent_get_info)                                                                                                    \
  X(agent_iterate_isas)                                                                                                \
  X(isa_get_info_alt)                                                                                                  \
  X(queue_create)                                                                                                      \
  X(queue_destroy)                                                                                                     \
  X(signal_create)                                                                                                     \
  X(signal_destroy)                                                                                                    \
  X(signal_store_screlease)                                                                                            \
  X(signal_wait_scacquire)                                                                                             \
  X(code_object_reader_create_from_memory)                                                                             \
  X(code_object_reader_destroy)                                                                                        \
  X(executable_create_alt)                                                                                             \
  X(executable_load_agent_code_object)                                                                                 \
  X(executable_freeze)                                                                                                 \
  X(executable_destroy)                                                                                                \
  X(executable_get_symbol_by_name)                                                                                     \
  X(executable_symbol_get_info)                                                                                        \
  X(executable_iterate_agent_symbols)                                                                                  \
  X(amd_register_system_event_handler)                                                                                 \
  X(amd_queue_set_priority)                                                                                            \
  X(amd_queue_cu_set_mask)                                                                                             \
  X(amd_signal_create)                                                                                                 \
  X(amd_signal_wait_any)                                                                                               \
  X(amd_agent_iterate_memory_pools)                                                                                    \
  X(amd_agent_memory_pool_get_info)                                                                                    \
  X(amd_memory_pool_get_info)                                                                                          \
  X(amd_memory_pool_allocate)                                                                                          \
  X(amd_memory_pool_free)                                                                                              \
  X(amd_agents_allow_access)                                                                                           \
  X(amd_memory_async_copy)                                                                                             \
  X(amd_memory_fill)                                                                                                   \
  X(amd_memory_lock)                                                                                                   \
  X(amd_memory_unlock)                                                                                                 \
  X(amd_pointer_info)                                                                                                  \
  X(amd_profiling_set_profiler_enabled)                                                                                \
  X(amd_profiling_get_dispatch_time)                                                                                   \
  X(amd_profiling_async_copy_enable)                                                                                   \
  X(amd_profiling_get_async_copy_time)

struct HsaApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration names its variable without
#define FASTDISPATCH_HSA_MEMBER(name) decltype(&::hsa_##name) name = nullptr;
  FASTDISPATCH_HSA_FUNCTIONS(FASTDISPATCH_HSA_MEMBER)
#undef FASTDISPATCH_HSA_MEMBER

  /// Whether amd_signal_wait_any may be called with a time limit. From the release on that also waits for all of
  /// several signals (hsa_amd_signal_wait_all), ROCr reads beyond its lists when the time is up, and crashes.
  bool wait_any_keeps_time = true;
  /// Whether hsa_init starts HSA again after hsa_shut_down. A ROCr with the thunk built in, 6.3 and later, leaves the
  /// driver open when it shuts down, and refuses to start where it is open (icl-utk-edu/papi#407).
  bool starts_again = true;
  /// How many signals amd_memory_async_copy takes. A ROCr with the thunk built in has room for 5 on its stack, and
  /// writes beyond it (HSA_MAX_DEP_SIGNALS in BlitSdma::SubmitCommand).
  std::size_t most_copy_dependencies = SIZE_MAX;
};

}  // namespace fastdispatch::detail
