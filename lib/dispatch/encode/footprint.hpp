// What a batch with derived fences touches, for the batches next to it in its queue.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dispatch/encode/packet_stream.hpp"

namespace fastdispatch::detail {

// Bytes of memory, as sorted intervals that don't meet.
class AddressSet {
public:
  void add(const Access& access);
  // Between the last `add` and the first question.
  void sort();
  // Cost: linear in the number of intervals. It allocates nothing.
  [[nodiscard]] bool meets(const AddressSet& other) const noexcept;

private:
  struct Interval {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  std::vector<Interval> intervals_;
};

class Footprint {
public:
  // `stream` is what the steps were encoded to.
  Footprint(std::span<const Step> steps, const PacketStream& stream);

  // Whether the batch may begin while the last packet of `before` runs, which was submitted to the queue right before:
  // its first packet needs no barrier bit then. All other packets of `before` have completed by that time, as the last
  // one waits for them. docs/fences.md has the proof.
  [[nodiscard]] bool may_begin_beside(const Footprint& before) const noexcept;

private:
  // What steps touch that do not, behind a barrier bit of the batch's own, acquire from the system.
  struct Begin {
    Begin(std::span<const Step> steps, const PacketStream& stream);

    AddressSet touched;
    AddressSet touched_for_others;       // of that, what the host, other agents or copies may look at
    AddressSet touched_without_acquire;  // by steps that do not acquire from the agent, either
    AddressSet wrote_without_order;      // by steps in front of all such barrier bits
  };
  // What dispatches touch, where the last packet is one.
  struct End {
    End(std::span<const Step> steps, const PacketStream& stream);

    AddressSet wrote;
    AddressSet wrote_for_others;  // of that, what the host or other agents may look at
    AddressSet last_touched;
    AddressSet last_wrote;
  };

  bool has_several_packets_;
  Begin begin_;
  End end_;
};

}  // namespace fastdispatch::detail
