// A recording encoded for one queue, ready to be copied into the ring.
#pragma once

#include <cstddef>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/encode/packet_stream.hpp"
#include "dispatch/memory/kernarg_chunks.hpp"
#include "dispatch/record/batch_recording.hpp"

namespace fastdispatch::detail {

// What a submission publishes. All submissions to one queue share an image without copies and parameters. Otherwise
// each submission has its own image until it completed.
struct BatchImage {
  PacketStream stream;
  KernargShare kernargs;
  std::vector<std::size_t> dispatches;  // for parameters: the indices of the kernel dispatches among the packets
};

// Encodes the steps of `recording` for `queue`, which is an implicit argument of some kernels. The kernels' arguments
// get a share of `kernargs`.
[[nodiscard]] BatchImage make_image(const BatchRecording& recording, const hsa_queue_t* queue, KernargChunks& kernargs);

}  // namespace fastdispatch::detail
