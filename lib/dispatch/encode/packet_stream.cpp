#include "dispatch/encode/packet_stream.hpp"

#include <utility>
#include <variant>

#include "dispatch/encode/derived_fences.hpp"
#include "dispatch/record/fence_rules.hpp"

namespace fastdispatch::detail {
namespace {

// Encodes steps that run one after the other.
class Encoder {
public:
  Encoder(Fences fences, const std::byte* kernargs, std::size_t steps) : fences_(fences), kernargs_(kernargs) {
    stream_.packets.reserve(steps);
  }

  void add(const DispatchStep& step) {
    if (copying_) end_copies();
    const Ordering ordering = fences::dispatch_in_turn(fences_, first_);
    copy_new(stream_.packets.emplace_back(),
             dispatch_packet(*step.kernel, step.grid, step.local_memory, kernargs_ + step.kernarg, ordering));
    first_ = false;
  }

  void add(const CopyStep& step) {
    ScheduledCopy copy{.step = step};
    if (!copying_) {
      // The batch begins with a copy: wait for the queue's earlier packets, whose writes may be cached.
      if (first_) stream_.packets.push_back(encode(BarrierAnd{.ordering = fences::before_copies(fences_)}));
      release_to_system();
      copy.after = stream_.packets.size() - 1;
    } else {
      copy.after_copies.push_back(stream_.copies.size() - 1);
    }
    stream_.copies.push_back(copy);
    copying_ = true;
  }

  PacketStream finish() && {
    if (copying_) {
      end_copies();
    } else if (!stream_.packets.empty()) {
      release_to_system();
    }
    return std::move(stream_);
  }

private:
  // The next packets start once the last copy has ended.
  void end_copies() {
    stream_.copies.back().before = stream_.packets.size();
    stream_.packets.push_back(encode(BarrierAnd{.ordering = fences::after_copies(fences_)}));
    copying_ = false;
    first_ = true;
  }

  void release_to_system() {
    Packet& last = stream_.packets.back();
    last.set_ordering(fences::released_to_system(last.header().ordering));
  }

  Fences fences_;
  const std::byte* kernargs_;
  PacketStream stream_;
  bool first_ = true;     // no dispatch since the start or the last copy
  bool copying_ = false;  // the last step was a copy
};

}  // namespace

PacketStream encode(std::span<const Step> steps, Fences fences, const std::byte* kernargs) {
  if (fences == Fences::derived) return encode_derived(steps, kernargs);
  Encoder encoder(fences, kernargs, steps.size());
  for (const Step& step : steps) {
    std::visit([&](const auto& concrete) { encoder.add(concrete); }, step);
  }
  return std::move(encoder).finish();
}

}  // namespace fastdispatch::detail
