#include "fastdispatch/detail/forked_child.hpp"

#include <type_traits>

#include <pthread.h>

#include "dispatch/hsa/runtime_use.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {

constexpr const char* what_happened =
    "this process was forked from one that used the GPU, which it cannot use: open the Runtime after the fork";

std::atomic<HsaApi*> api_in_use{nullptr};
std::atomic<int> uses{0};  // one runtime may open while the last one closes

// HSA's threads did not follow the child, its locks may be held for ever, and it aborts where the driver refuses.
template <class Function>
struct Refusal;

template <class... Arguments>
struct Refusal<hsa_status_t (*)(Arguments...)> {
  static hsa_status_t refuse(Arguments...) { return HSA_STATUS_ERROR; }
  static hsa_status_t do_nothing(Arguments...) { return HSA_STATUS_SUCCESS; }
};

template <class Result, class... Arguments>
struct Refusal<Result (*)(Arguments...)> {
  static Result refuse(Arguments...) { return Result(); }
};

hsa_status_t tell_what_happened(hsa_status_t, const char** text) {
  *text = what_happened;
  return HSA_STATUS_SUCCESS;
}

void refuse_all(HsaApi& api) noexcept {
#define FASTDISPATCH_HSA_REFUSE(name) api.name = Refusal<decltype(api.name)>::refuse;
  FASTDISPATCH_HSA_FUNCTIONS(FASTDISPATCH_HSA_REFUSE)
#undef FASTDISPATCH_HSA_REFUSE
  // What destructors call: the child ends with what it has.
  const auto ignore = [](auto& function) {
    function = Refusal<std::remove_reference_t<decltype(function)>>::do_nothing;
  };
  ignore(api.shut_down);
  ignore(api.queue_destroy);
  ignore(api.signal_destroy);
  ignore(api.executable_destroy);
  ignore(api.code_object_reader_destroy);
  ignore(api.amd_memory_pool_free);
  ignore(api.amd_memory_unlock);
  api.status_string = tell_what_happened;
}

}  // namespace

std::atomic<bool> is_forked_child{false};

void throw_forked_child() { throw Error(ErrorKind::runtime, what_happened); }

void begin_use(HsaApi& api) noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    if (uses.load(std::memory_order_acquire) == 0) return;
    is_forked_child.store(true, std::memory_order_relaxed);
    refuse_all(*api_in_use.load(std::memory_order_relaxed));
  });
  static_cast<void>(registered);
  api_in_use.store(&api, std::memory_order_relaxed);
  uses.fetch_add(1, std::memory_order_release);
}

void end_use() noexcept { uses.fetch_sub(1, std::memory_order_relaxed); }

}  // namespace fastdispatch::detail
