#include "measurements.hpp"

#include <array>
#include <cstdio>
#include <memory>

std::optional<std::string> measure_opencl(Samples& samples) {
#ifdef POCL_PEER
  struct Close {
    void operator()(std::FILE* pipe) const noexcept { ::pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe(::popen("'" POCL_PEER "'", "r"));
  if (!pipe) return std::nullopt;
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    output.append(buffer.data(), size);
  }
  const auto times = nlohmann::json::parse(output, nullptr, /*allow_exceptions=*/false);
  if (times.is_discarded()) return std::nullopt;  // the peer said why on standard error
  samples.add(series::round_trip_opencl, times.at("empty_round_trip"));
  samples.add(series::throughput_opencl, times.at("empty_batched"));
  samples.add(series::sort_opencl, times.at("sort_batched"));
  samples.add(series::sort_opencl_finish_each, times.at("sort_finish_each"));
  return times.at("platform").get<std::string>();
#else
  static_cast<void>(samples);
  return std::nullopt;
#endif
}
