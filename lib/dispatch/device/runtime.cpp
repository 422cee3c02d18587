#include "fastdispatch/runtime.hpp"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/runtime_state.hpp"
#include "dispatch/device/system_events.hpp"
#include "dispatch/hsa/log.hpp"
#include "dispatch/hsa/runtime_use.hpp"
#include "dispatch/trace/trace_session.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/detail/forked_child.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {

namespace detail {

namespace {

// The one state of the process. Never destroyed: HSA's threads look for it while the process exits.
struct Current {
  std::mutex mutex;
  std::weak_ptr<RuntimeState> state;
  RuntimeState* alive = nullptr;                    // until its destructor has begun
  std::vector<std::unique_ptr<AgentState>> closed;  // views of these agents may still be there
};

Current& current() {
  static auto& instance = *new Current;
  return instance;
}

// Unless a handler takes the event, ROCr prints it and aborts the process.
hsa_status_t on_system_event(const hsa_amd_event_t* event, void*) noexcept {
  if (is_shutdown(*event)) return HSA_STATUS_SUCCESS;
  // The lock keeps the state alive. A shared_ptr to it could be the last one, and would then shut HSA down on this
  // thread, which is HSA's own.
  const std::scoped_lock lock(current().mutex);
  if (current().alive == nullptr) return HSA_STATUS_ERROR;
  return take_system_event(*event, current().alive->gpus) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

void start(const HsaLibrary& library) {
  const hsa_status_t status = library.api.init();
  if (status != HSA_STATUS_SUCCESS && library.softgpu)  // HSA's advice would be about AMD's driver
    throw Error(ErrorKind::runtime, status, "hsa_init",
                fmt::format("starting the HSA runtime on the soft GPU: hsa_init failed: {} (does a SOFTGPU_ variable "
                            "have a wrong value? standard error has a line of the soft GPU)",
                            status_text(library.api, status)));
  check(library.api, status, "hsa_init", "starting the HSA runtime");
  // One use more, which is never given back.
  static std::once_flag kept;
  if (!library.api.starts_again) std::call_once(kept, [&] { static_cast<void>(library.api.init()); });
}

std::shared_ptr<RuntimeState> share_state(HsaLibrary& library) {
  // Declared before the lock, so that a state is destroyed after it is released: ~RuntimeState takes the same mutex.
  std::unique_ptr<RuntimeState, DeleteUnlessForked> made;
  std::shared_ptr<RuntimeState> state;
  const std::scoped_lock lock(current().mutex);
  state = current().state.lock();
  if (state != nullptr) return state;
  made.reset(new RuntimeState(library));
  state = std::move(made);
  check(library.api, library.api.amd_register_system_event_handler(on_system_event, nullptr),
        "hsa_amd_register_system_event_handler", "asking to be told of faults");
  state->host->runtime = state;
  for (const auto& gpu : state->gpus) gpu->runtime = state;
  current().state = state;
  current().alive = state.get();
  return state;
}

}  // namespace

// A trace that cannot be written is told before anything is opened.
std::shared_ptr<RuntimeState> open_runtime(Device device) {
  TraceSession::instance().start_from_environment();
  HsaLibrary& library = open_hsa_library(device);
  // Behind ROCr's own: what is registered last goes first.
  static const bool ends_at_exit = (TraceSession::end_at_exit(), true);
  static_cast<void>(ends_at_exit);
  return share_state(library);
}

RuntimeState::RuntimeState(HsaLibrary& opened) : library(opened) {
  start(library);
  try {
    discover(*this);
  } catch (...) {
    library.api.shut_down();
    throw;
  }
  log().info("HSA runtime {} implements HSA {}, on {}, because {}; {} GPU(s), the first a {}", library.path, version,
             library.softgpu ? "the soft GPU" : "an AMD GPU", library.reason, gpus.size(),
             gpus.front()->properties.isa);
  begin_use(opened.api);
}

RuntimeState::~RuntimeState() {
  {
    const std::scoped_lock lock(current().mutex);
    if (current().alive == this) current().alive = nullptr;
  }
  TraceSession::instance().flush_quietly();
  for (const auto& gpu : gpus) gpu->close();
  host->close();
  library.api.shut_down();
  if (library.api.starts_again) end_use();
  const std::scoped_lock lock(current().mutex);
  for (auto& gpu : gpus) current().closed.push_back(std::move(gpu));
  current().closed.push_back(std::move(host));
}

}  // namespace detail

Runtime::Runtime(RuntimeOptions options) : state_(detail::open_runtime(options.device)) {}

std::span<const Agent> Runtime::gpus() const& noexcept { return state_->gpu_views; }

Agent Runtime::gpu(std::size_t index) const& {
  if (index >= gpus().size()) throw Error(fmt::format("there is no GPU {}: the runtime has {}", index, gpus().size()));
  return gpus()[index];
}

Agent Runtime::host() const& noexcept { return Agent(*state_->host); }
std::string_view Runtime::library_path() const noexcept { return state_->library.path; }
std::string_view Runtime::version() const noexcept { return state_->version; }
bool Runtime::on_softgpu() const noexcept { return state_->library.softgpu; }
std::string_view Runtime::thunk_path() const noexcept { return state_->library.thunk; }
std::string_view Runtime::device_reason() const noexcept { return state_->library.reason; }

}  // namespace fastdispatch
