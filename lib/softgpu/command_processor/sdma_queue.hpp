// One copy queue: SDMA packets carried out strictly in order.
//
// A packet with an address that is not mapped is a memory fault and ends the queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "softgpu/command_processor/command_processor.hpp"
#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/command_processor/fault_watch.hpp"
#include "softgpu/command_processor/queue.hpp"
#include "softgpu/command_processor/sdma_packets.hpp"
#include "softgpu/compute/run_time/fault_guard.hpp"

namespace softgpu::command_processor {

class SdmaQueue final : public Queue {
public:
  /// `box_fields` are the GPU's; `host` must outlive it.
  SdmaQueue(std::uint64_t id, const SdmaQueueMemory& memory, const sdma::BoxFields& box_fields, Host& host);

  [[nodiscard]] std::uint64_t* read_index() noexcept { return read_index_; }
  [[nodiscard]] std::uint64_t* write_index() noexcept { return write_index_; }
  [[nodiscard]] bool is_in(std::uint64_t base, std::size_t size) const noexcept override {
    return is_within(memory_.ring, base, size) || is_within(read_index_, base, size) ||
           is_within(write_index_, base, size);
  }

private:
  void fetch(Progress& progress, Lookout& lookout) override;

  [[nodiscard]] sdma::Packet read_packet() const;
  /// The packet's length in dwords once it is carried out; nothing while it has to wait, or when it stopped the queue.
  [[nodiscard]] std::optional<unsigned> carry_out(const sdma::Packet& packet);
  /// Accesses the packet's addresses. A fault jumps out of `body`: nothing in it may have a destructor or take a lock.
  /// Returns `length`, or nothing if a fault stopped the queue.
  template <class Body>
  [[nodiscard]] std::optional<unsigned> access(const sdma::Packet& packet, unsigned length, const Body& body);
  [[nodiscard]] std::optional<unsigned> copy(const sdma::Packet& packet);
  [[nodiscard]] std::optional<unsigned> traced_copy(const sdma::Packet& packet);
  void copy_rectangle(const sdma::Packet& packet) const;
  [[nodiscard]] std::optional<unsigned> poll(const sdma::Packet& packet);
  std::optional<unsigned> refuse(const sdma::Packet& packet, std::string_view what);
  void stop_with_fault(const sdma::Packet& packet, const compute::EarlyExit& exit);

  std::uint64_t id_;
  SdmaQueueMemory memory_;
  sdma::BoxFields box_fields_;
  Host& host_;
  // Of the worker that is in fetch():
  compute::FaultGuard guard_;
  FaultWatch fault_watch_;
  alignas(64) std::uint64_t own_read_index_ = 0;
  alignas(64) std::uint64_t own_write_index_ = 0;
  std::uint64_t* read_index_;   ///< the host polls it
  std::uint64_t* write_index_;  ///< the host writes it
};

}  // namespace softgpu::command_processor
