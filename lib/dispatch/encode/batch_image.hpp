// A recording encoded for one queue, ready to be copied into the ring.
#pragma once

#include <cstddef>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/encode/packet_stream.hpp"
#include "dispatch/memory/kernarg_chunks.hpp"
#include "dispatch/record/batch_recording.hpp"

namespace fastdispatch::detail {

// What a submission publishes. Any number of submissions to one queue share it unless it has copies or parameters;
// then each has its own until it completed.
struct BatchImage {
  PacketStream stream;
  KernargShare kernargs;
  std::vector<std::size_t> dispatches;  // the indices of the kernel dispatches among the packets
};

// Encodes the steps of `recording` for `queue`, which kernels may ask for, with their arguments in a share of
// `kernargs`.
[[nodiscard]] BatchImage make_image(const BatchRecording& recording, const hsa_queue_t* queue, KernargChunks& kernargs);

}  // namespace fastdispatch::detail
