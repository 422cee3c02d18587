#include "dispatch/batch_image.hpp"

#include "dispatch/derived_fences.hpp"

namespace fastdispatch::detail {
namespace {

class Encoder {
public:
  Encoder(Fences fences, const std::byte* kernargs) : fences_(fences), kernargs_(kernargs) {}

  void add(const DispatchStep& step) {
    if (copying_) end_copies();
    Ordering ordering{BarrierBit::set, FenceScope::system, FenceScope::system};
    if (fences_ == Fences::minimal) {
      // The host or a copy wrote what the first reads; from then on caches of the device know all. The release is
      // widened where it turns out to be the last.
      ordering.acquire = first_ ? FenceScope::system : FenceScope::agent;
      ordering.release = FenceScope::agent;
    }
    stream_.packets.push_back(
        dispatch_packet(*step.kernel, step.grid, step.local_memory, kernargs_ + step.kernarg, ordering));
    first_ = false;
  }

  void add(const CopyStep& step) {
    ScheduledCopy copy{.step = step};
    if (!copying_) {
      // Nothing to wait for in this batch: wait for what the queue had before it, whose writes may be cached.
      if (first_) stream_.packets.push_back(encode(BarrierAnd{.ordering = barrier(FenceScope::system)}));
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
    stream_.packets.push_back(encode(BarrierAnd{.ordering = barrier(FenceScope::none)}));
    copying_ = false;
    first_ = true;
  }

  void release_to_system() {
    Packet& last = stream_.packets.back();
    Ordering ordering = last.header().ordering;
    ordering.release = FenceScope::system;
    last.set_ordering(ordering);
  }

  [[nodiscard]] Ordering barrier(FenceScope release) const {
    if (fences_ == Fences::conservative) return {};
    return {BarrierBit::set, FenceScope::none, release};
  }

  Fences fences_;
  const std::byte* kernargs_;
  PacketStream stream_;
  bool first_ = true;     // no dispatch since the start or the last copy
  bool copying_ = false;  // the last step was a copy
};

}  // namespace

std::vector<Access> accesses_of(const Step& step) {
  if (const auto* dispatch = std::get_if<DispatchStep>(&step)) return dispatch->accesses;
  const auto& copy = std::get<CopyStep>(step);
  return {access_by_copy(copy.source, AccessMode::read), access_by_copy(copy.destination, AccessMode::write)};
}

PacketStream encode(std::span<const Step> steps, Fences fences, const std::byte* kernargs) {
  if (fences == Fences::derived) return encode_derived(steps, kernargs);
  Encoder encoder(fences, kernargs);
  for (const Step& step : steps) {
    std::visit([&](const auto& concrete) { encoder.add(concrete); }, step);
  }
  return std::move(encoder).finish();
}

}  // namespace fastdispatch::detail
