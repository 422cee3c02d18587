#include "dispatch/encode/batch_image.hpp"

#include <algorithm>

namespace fastdispatch::detail {

BatchImage make_image(const BatchRecording& recording, const hsa_queue_t* queue, KernargChunks& kernargs) {
  BatchImage image;
  image.kernargs = kernargs.take(recording.kernargs().size());
  std::byte* const arguments = image.kernargs.bytes().data();
  std::copy(recording.kernargs().begin(), recording.kernargs().end(), arguments);
  for (const Step& step : recording.steps()) {
    const auto* dispatch = std::get_if<DispatchStep>(&step);
    if (dispatch != nullptr && dispatch->kernel->needs_queue)
      write_queue_arguments(*dispatch->kernel, queue, arguments + dispatch->kernarg);
  }
  image.kernargs.complete_writes();
  image.stream = encode(recording.steps(), recording.fences(), arguments);
  if (!recording.parameters().used()) return image;
  const std::vector<Packet>& packets = image.stream.packets;
  image.dispatches.reserve(recording.dispatches());
  for (std::size_t i = 0; i < packets.size(); ++i)
    if (packets[i].header().type == PacketType::kernel_dispatch) image.dispatches.push_back(i);
  return image;
}

}  // namespace fastdispatch::detail
