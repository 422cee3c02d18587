#include "measurements.hpp"

#include "peer_process.hpp"

std::optional<std::string> measure_opencl(Samples& samples) {
#ifdef POCL_PEER
  const auto times = output_of("'" POCL_PEER "'");
  if (!times) return std::nullopt;
  samples.add(series::round_trip_opencl, times->at("empty_round_trip"));
  samples.add(series::throughput_opencl, times->at("empty_batched"));
  samples.add(series::sort_opencl, times->at("sort_batched"));
  samples.add(series::sort_opencl_finish_each, times->at("sort_finish_each"));
  return times->at("platform").get<std::string>();
#else
  static_cast<void>(samples);
  return std::nullopt;
#endif
}
