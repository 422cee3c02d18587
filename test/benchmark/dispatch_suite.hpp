// `benchmarks dispatch`: the cost of the submit path, and the least possible cost.
#pragma once

#include "hip_peer.hpp"
#include "samples.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <array>
#include <cstddef>
#include <string>

namespace dispatch_series {

inline constexpr std::array<std::size_t, 4> batch_lengths = {1, 16, 120, 1024};
inline constexpr std::array<std::size_t, 6> in_flight_levels = {1, 10, 100, 1'000, 10'000, 100'000};
inline constexpr std::array<std::size_t, 4> producer_counts = {1, 2, 4, 8};
inline constexpr std::size_t sort_length = 120;  // packets of the bitonic sort of 32768 numbers

// Microseconds that the host spends on a packet.
inline std::string floor_of(std::size_t packets) { return "host_memcpy_" + std::to_string(packets); }
inline constexpr const char* drained_memcpy = "drained_memcpy_120";
inline constexpr const char* drained_replay = "drained_replay_120";
inline constexpr const char* streamed = "host_streamed_120";
inline std::string replay_of(std::size_t packets) { return "host_replay_" + std::to_string(packets); }
inline constexpr const char* replay_shared = "host_replay_120_multiple_producers";
inline constexpr const char* replay_parameters = "host_replay_120_parameters";
inline constexpr const char* replay_device_parameters = "host_replay_120_device_parameters";
inline constexpr const char* fresh_batch = "host_fresh_batch_120";
inline constexpr const char* dispatches = "host_dispatch_120";
inline constexpr const char* device_dispatches = "host_dispatch_120_device_kernargs";
inline constexpr const char* bare = "host_hsa_api_120";
inline constexpr const char* article = "host_article_120";
inline constexpr const char* hip_launches = "host_hip_module_launch_kernel_120";
inline constexpr const char* hip_graph = "host_hip_graph_launch_120";
// The same with packets that wait before them in the queue.
inline std::string dispatches_behind(std::size_t packets) {
  return "host_dispatch_in_flight_" + std::to_string(packets);
}
inline std::string replays_behind(std::size_t packets) { return "host_replay_in_flight_" + std::to_string(packets); }
// Microseconds a packet until the last of several threads has published, and until all completed.
inline std::string published_by(std::size_t threads) { return "published_by_" + std::to_string(threads); }
inline std::string completed_of(std::size_t threads) { return "completed_of_" + std::to_string(threads); }
// Microseconds from one thread's question to another one's answer.
inline constexpr const char* thread_round_trip = "thread_round_trip";

}  // namespace dispatch_series

void measure_drained_rings(Samples& samples);
/// `hip` may be null.
void measure_host_cost(const fastdispatch::Runtime& runtime, fastdispatch::Agent gpu, HipPeer* hip, Samples& samples);
void measure_in_flight(fastdispatch::Agent gpu, Samples& samples);
void measure_producers(fastdispatch::Agent gpu, Samples& samples);
void measure_thread_round_trip(Samples& samples);

void run_dispatch_suite(int rounds, const std::string& json);
