#include "fastdispatch/batch.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "dispatch/memory/copy_engine.hpp"
#include "dispatch/record/batch_recording.hpp"

namespace fastdispatch {

Batch::Batch(Agent agent, BatchOptions options)
    : recording_(std::make_unique<detail::BatchRecording>(agent, options), "batch") {
  static_cast<void>(detail::state_of(agent));  // throws if its runtime was closed
}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

detail::ParameterId Batch::add_parameter(std::string name) { return recording_->add_parameter(std::move(name)); }

std::byte* Batch::record(const detail::KernelInfo& kernel, const BatchGrid& grid, std::uint64_t local_memory,
                         std::span<const detail::ParameterUse> parameters) {
  return recording_->add_dispatch(kernel, grid, local_memory, parameters);
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
  kernel.write_arguments(record(kernel.info(), grid, local_memory, {}), arguments);
  add_accesses(accesses);
}

void Batch::add_accesses(std::span<const detail::StatedAccess> accesses) { recording_->add_accesses(accesses); }

void Batch::copy(const MemoryView& destination, const MemoryView& source) {
  detail::check_ranges(destination, source);
  detail::make_reachable(destination, source);
  if (source.size != 0) recording_->add(detail::CopyStep{.destination = destination, .source = source});
}

void Batch::clear() { recording_->clear(); }
std::size_t Batch::dispatches() const { return recording_->dispatches(); }
std::size_t Batch::copies() const { return recording_->copies(); }
Agent Batch::agent() const { return recording_->agent(); }

}  // namespace fastdispatch
