#include "fastdispatch/batch.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "dispatch/memory/copy_engine.hpp"
#include "dispatch/record/batch_recording.hpp"

namespace fastdispatch {

Batch::Batch(Agent agent, BatchOptions options)
    : derives_fences_(options.fences == Fences::derived),
      recording_(std::make_unique<detail::BatchRecording>(agent, options), "batch") {
  static_cast<void>(detail::state_of(agent));  // throws if its runtime was closed
}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

detail::ParameterId Batch::add_parameter(std::string name) { return recording_->add_parameter(std::move(name)); }

std::byte* Batch::record(const detail::KernelInfo& kernel, const BatchGrid& grid, std::uint64_t local_memory,
                         std::span<const detail::ParameterUse> parameters,
                         std::span<const detail::StatedAccess> accesses) {
  return recording_->add_dispatch(kernel, grid, local_memory, parameters, accesses);
}

void Batch::dispatch(const DynamicKernel& kernel, const BatchGrid& grid,
                     std::span<const std::span<const std::byte>> arguments) {
  const std::uint64_t local_memory = kernel.local_memory(arguments);
  std::vector<detail::StatedAccess> accesses;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (kernel.signature()[i].kind != detail::ParameterKind::pointer) continue;
    const void* pointer = nullptr;
    std::memcpy(static_cast<void*>(&pointer), arguments[i].data(), sizeof pointer);
    accesses.push_back({.memory = detail::memory_behind(pointer), .mode = AccessMode::read_write});
  }
  kernel.write_arguments(record(kernel.info(), grid, local_memory, {}, accesses), arguments);
}

void Batch::add_accesses(std::span<const detail::StatedAccess> accesses) { recording_->add_accesses(accesses); }

void Batch::copy(const MemoryView& destination, const MemoryView& source) {
  detail::check_ranges(destination, source);
  detail::make_reachable(destination, source);
  if (source.size != 0) recording_->add(detail::CopyStep{.destination = destination, .source = source});
}

void Batch::fill(const MemoryView& destination, std::span<const std::byte> element) {
  constexpr std::size_t most_bytes = std::size_t{4} << 20U;
  if (destination.size == 0) return;
  const std::size_t elements = std::max<std::size_t>(most_bytes / element.size(), 1);
  const std::size_t size = std::min(destination.size, elements * element.size());
  const auto block = std::make_shared<const detail::PoolMemory>(detail::PoolMemory::device(agent(), size, 1));
  detail::fill(block->view(), element);
  for (std::size_t at = 0; at < destination.size; at += size) {
    const std::size_t bytes = std::min(size, destination.size - at);
    const detail::CopyStep copy{destination.subview(at, bytes), block->view().subview(0, bytes), block};
    detail::check_ranges(copy.destination, copy.source);
    detail::make_reachable(copy.destination, copy.source);
    recording_->add(copy);
  }
}

void Batch::clear() { recording_->clear(); }
std::size_t Batch::dispatches() const { return recording_->dispatches(); }
std::size_t Batch::copies() const { return recording_->copies(); }
Agent Batch::agent() const { return recording_->agent(); }

}  // namespace fastdispatch
