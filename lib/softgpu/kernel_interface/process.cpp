#include "softgpu/kernel_interface/process.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "softgpu/thunk/caller.hpp"
#include "softgpu/thunk/rocr_releases.hpp"

namespace softgpu::kernel_interface {
namespace {

struct State {
  explicit State(thunk::SoftGpu& gpu) : driver(gpu), files(gpu.topology) {}

  Driver driver;
  SystemFiles files;
};

/// Never destroyed, as the soft GPU itself: programs exit without closing.
struct Current {
  std::mutex mutex;
  std::atomic<State*> state{nullptr};
  std::atomic<const void*> caller{nullptr};
  Folders folders;
  Views views;
};

Current& current() {
  static Current& instance = *new Current;
  return instance;
}

/// Null if there is none, or it is that of the process that this one was forked from.
State* state() noexcept {
  State* state = current().state.load(std::memory_order_acquire);
  return state != nullptr && &state->driver.gpu() == thunk::soft_gpu() ? state : nullptr;
}

/// Says once if this is a ROCr that was not tested.
void warn_of_unknown_rocr(thunk::SoftGpu& gpu) {
  static std::once_flag once;
  const auto rocr = thunk::library_of(current().caller.load(std::memory_order_relaxed));
  if (!rocr) return;
  if (const auto warning = thunk::unknown_rocr_warning(*rocr))
    std::call_once(once, [&] { gpu.host.report_error(*warning); });
}

}  // namespace

void Process::set_caller(const void* code) noexcept { current().caller.store(code, std::memory_order_relaxed); }

Driver* Process::open() {
  const std::lock_guard lock(current().mutex);
  if (State* opened = state()) return &opened->driver;
  if (!thunk::open()) {
    errno = EACCES;
    return nullptr;
  }
  try {
    auto opened = std::make_unique<State>(*thunk::soft_gpu());
    current().state.store(opened.release(), std::memory_order_release);
  } catch (const std::system_error& error) {
    thunk::soft_gpu()->host.report_error(std::string("the driver's interface cannot be stood in for: ") + error.what());
    static_cast<void>(thunk::close());
    errno = error.code().value();
    return nullptr;
  }
  warn_of_unknown_rocr(*thunk::soft_gpu());
  return &state()->driver;
}

Driver* Process::driver() noexcept {
  State* opened = state();
  return opened != nullptr ? &opened->driver : nullptr;
}

const SystemFiles& Process::system_files() {
  static const SystemFiles none;
  const State* opened = state();
  return opened != nullptr ? opened->files : none;
}

Folders& Process::folders() { return current().folders; }
Views& Process::views() { return current().views; }

DIR* Folders::open(std::vector<std::string> names) {
  if (names.empty()) {
    errno = ENOENT;
    return nullptr;
  }
  auto listing = std::make_unique<Listing>(Listing{.names = std::move(names)});
  DIR* folder = handle_of(listing.get());
  const std::lock_guard lock(mutex_);
  listings_[folder] = std::move(listing);
  return folder;
}

bool Folders::has(const DIR* folder) {
  const std::lock_guard lock(mutex_);
  return listings_.contains(folder);
}

dirent* Folders::next(DIR* folder) {
  const std::lock_guard lock(mutex_);
  Listing& listing = *listings_.at(folder);
  if (listing.next == listing.names.size()) return nullptr;
  const std::string& name = listing.names[listing.next++];
  listing.entry.d_type = DT_DIR;
  name.copy(listing.entry.d_name, sizeof(listing.entry.d_name) - 1);
  listing.entry.d_name[std::min(name.size(), sizeof(listing.entry.d_name) - 1)] = '\0';
  return &listing.entry;
}

bool Folders::close(DIR* folder) {
  const std::lock_guard lock(mutex_);
  return listings_.erase(folder) != 0;
}

void Views::add(void* address, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  sizes_[address] = size;
}

bool Views::remove(void* address, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = sizes_.find(address);
  if (found == sizes_.end() || found->second != size) return false;
  sizes_.erase(found);
  return true;
}

}  // namespace softgpu::kernel_interface
