// What is measured. Each function runs a measurement once and adds its time to the samples under the names below.
#pragma once

#include "samples.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace series {

// Microseconds that the host spends on a packet, from the first packet's making to the last doorbell.
inline constexpr const char* host_bare = "host_bare";
inline constexpr const char* host_article = "host_article";
inline constexpr const char* host_dispatch = "host_dispatch";
inline constexpr const char* host_replay = "host_replay";
// Microseconds a kernel until the last of many has completed.
inline constexpr const char* throughput_bare = "throughput_bare";
inline constexpr const char* throughput_article = "throughput_article";
inline constexpr const char* throughput_dispatch = "throughput_dispatch";
inline constexpr const char* throughput_replay = "throughput_replay";
inline constexpr const char* throughput_opencl = "throughput_opencl";
// Microseconds from making a packet until the host knows that its kernel completed.
inline constexpr const char* round_trip_bare = "round_trip_bare";
inline constexpr const char* round_trip_dispatch = "round_trip_dispatch";
inline constexpr const char* round_trip_replay = "round_trip_replay";
inline constexpr const char* round_trip_opencl = "round_trip_opencl";
// Microseconds for sorting 32768 integers, both copies included.
inline constexpr const char* sort_host = "sort_host";
inline constexpr const char* sort_replay = "sort_replay";
inline constexpr const char* sort_opencl = "sort_opencl";
inline constexpr const char* sort_opencl_finish_each = "sort_opencl_finish_each";

}  // namespace series

inline constexpr std::size_t packets_per_batch = 256;
inline constexpr std::size_t sort_length = 32768;

void measure_dispatch(const fastdispatch::Runtime& runtime, fastdispatch::Agent gpu, Samples& samples);
void measure_sort(fastdispatch::Agent gpu, Samples& samples);
/// Runs the program `pocl_peer`. Returns the OpenCL platform's name, or nothing where there is no OpenCL device.
[[nodiscard]] std::optional<std::string> measure_opencl(Samples& samples);
