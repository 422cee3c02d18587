// One copy queue: SDMA packets carried out strictly in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "softgpu/command_processor/command_processor.hpp"
#include "softgpu/command_processor/queue.hpp"
#include "softgpu/command_processor/sdma_packets.hpp"

namespace softgpu::command_processor {

class SdmaQueue final : public Queue {
public:
  /// `host` must outlive it.
  SdmaQueue(std::uint64_t id, const SdmaQueueMemory& memory, Host& host);

  [[nodiscard]] std::uint64_t* read_index() noexcept { return &read_index_; }
  [[nodiscard]] std::uint64_t* write_index() noexcept { return &write_index_; }

private:
  void fetch(Progress& progress, Lookout& lookout) override;

  [[nodiscard]] sdma::Packet read_packet() const;
  /// The packet's length in dwords once it is carried out; none while it has to wait, or when it stopped the queue.
  [[nodiscard]] std::optional<unsigned> carry_out(const sdma::Packet& packet);
  [[nodiscard]] std::optional<unsigned> copy(const sdma::Packet& packet);
  void copy_rectangle(const sdma::Packet& packet) const;
  std::optional<unsigned> refuse(const sdma::Packet& packet, std::string_view what);

  std::uint64_t id_;
  SdmaQueueMemory memory_;
  Host& host_;
  // Byte offsets that only grow. The host writes the second one and polls the first.
  alignas(64) std::uint64_t read_index_ = 0;
  alignas(64) std::uint64_t write_index_ = 0;
};

}  // namespace softgpu::command_processor
