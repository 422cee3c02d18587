// What the queues carry out, as a trace for a viewer: SOFTGPU_TRACE.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace_format/lanes.hpp"
#include "trace_format/trace_event.hpp"
#include "trace_format/trace_file.hpp"

namespace softgpu::command_processor {

/// Owns the file. Events are added when their packet completes, before the program can know of it.
///
/// Thread safety: every member may be called from any thread.
class PacketTrace {
public:
  /// A packet's time on the GPU's clock (gpu_clock).
  struct Time {
    std::uint64_t begin;
    std::uint64_t end;
  };
  struct Place {
    std::uint32_t gpu;
    std::uint64_t queue;
    std::uint64_t packet;  ///< of a copy queue: where it begins, in bytes
  };
  struct Kernel {
    std::uint64_t object;
    std::uint64_t groups;
    std::string_view failure;  ///< empty if there is none
  };

  /// Throws std::runtime_error with the reason if the file cannot be written. `gpu_name` is what the viewer calls them.
  PacketTrace(const std::filesystem::path& file, std::string_view gpu_name);

  void add_kernel(const Place& place, const Kernel& kernel, const Time& time);
  void add_barrier(const Place& place, std::string_view type, const Time& time);
  void add_copy(const Place& place, std::string_view what, std::uint64_t bytes, const Time& time);
  /// Looks up the kernel's name, which takes up to some milliseconds for one that is new.
  void learn_name(std::uint64_t kernel_object);
  /// Code within the range is about to go away.
  void forget_names(std::uint64_t base, std::size_t size);
  void flush();

private:
  enum class Row : std::uint8_t { kernels, barriers, copies };
  static constexpr std::size_t rows = 3;

  // The caller holds mutex_:
  [[nodiscard]] trace_format::TraceEvent span(const Place& place, Row row, std::string_view category,
                                              std::string_view name, const Time& time);
  [[nodiscard]] trace_format::Track new_track(const Place& place, Row row, std::size_t lane);
  void write(trace_format::TraceEvent event) { file_.add(std::move(event).text()); }

  std::mutex mutex_;
  trace_format::TraceFile file_;
  std::string gpu_name_;
  std::uint64_t start_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::array<trace_format::Lanes, rows>> lanes_;  // by GPU and queue
  std::map<std::uint32_t, bool> named_;                                                             // GPUs
  int tracks_ = 0;
  std::unordered_map<std::uint64_t, std::string> names_;  // by kernel object
};

}  // namespace softgpu::command_processor
