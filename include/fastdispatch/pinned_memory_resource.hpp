// Pinned memory for std::pmr containers.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <string>
#include <string_view>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/runtime_share.hpp"

namespace fastdispatch {

/// Pinned host memory for std::pmr containers: `std::pmr::vector<float> v(n, &resource)` can be copied from and to
/// without staging. Each allocation goes to HSA; put a std::pmr pool resource in front for many small ones.
///
/// Thread safety: as HSA's pools, allocate and deallocate may be called from any thread.
class FASTDISPATCH_EXPORT PinnedMemoryResource final : public std::pmr::memory_resource {
public:
  /// `name` is what messages and traces call its allocations.
  explicit PinnedMemoryResource(Agent agent, std::string_view name = {})
      : runtime_(detail::share_runtime_of(agent)), agent_(agent), name_(name) {}

private:
  /// Throws std::bad_alloc, as a memory resource must, when the memory is exhausted or the alignment is over a page.
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;

  detail::RuntimeShare runtime_;
  Agent agent_;
  std::string name_;
};

}  // namespace fastdispatch
