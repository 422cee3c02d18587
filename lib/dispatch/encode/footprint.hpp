// The accesses of a batch with derived fences, for the batches next to it in its queue.
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
  // To be called after the last `add` and before the first `meets`.
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

  // `before` was submitted to the queue right before this batch. Tells whether this batch may begin while the last
  // packet of `before` runs: then the first packet needs no barrier bit. All other packets of `before` have completed
  // by that time, because the last packet waits for them. docs/fences.md has the proof.
  [[nodiscard]] bool may_begin_beside(const Footprint& before) const noexcept;

private:
  // The accesses of all steps except steps that acquire from the system behind a barrier bit of the batch's own.
  struct Begin {
    Begin(std::span<const Step> steps, const PacketStream& stream);

    AddressSet touched;
    AddressSet touched_for_others;       // the part that the host, other agents or copies may look at
    AddressSet touched_without_acquire;  // only by steps that do not acquire from the agent
    AddressSet wrote_without_order;      // only by steps in front of all such barrier bits
  };
  // The accesses of dispatches; empty if the last packet is not a dispatch.
  struct End {
    End(std::span<const Step> steps, const PacketStream& stream);

    AddressSet wrote;
    AddressSet wrote_for_others;  // the part that the host or other agents may look at
    AddressSet last_touched;
    AddressSet last_wrote;
  };

  bool has_several_packets_;
  Begin begin_;
  End end_;
};

}  // namespace fastdispatch::detail
