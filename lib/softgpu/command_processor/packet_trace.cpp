#include "softgpu/command_processor/packet_trace.hpp"

#include <sstream>

#include "softgpu/command_processor/command_processor.hpp"
#include "softgpu/compute/program/kernel_name.hpp"

namespace softgpu::command_processor {
namespace {

using trace_format::TraceEvent;
using trace_format::TraceTime;
using trace_format::Track;

constexpr int first_process = 1;  // the number of the first GPU in the trace

std::string in_hex(std::uint64_t value) {
  std::ostringstream text;
  text << std::showbase << std::hex << value;
  return text.str();
}

}  // namespace

PacketTrace::PacketTrace(const std::filesystem::path& file, std::string_view gpu_name)
    : file_(file, "soft GPU"), gpu_name_(gpu_name), start_(gpu_clock()) {}

void PacketTrace::add_kernel(const Place& place, const Kernel& kernel, const Time& time) {
  const std::lock_guard lock(mutex_);
  const auto known = names_.find(kernel.object);
  const bool has_name = known != names_.end() && !known->second.empty();
  TraceEvent event =
      span(place, Row::kernels, "kernel", has_name ? known->second : "kernel object " + in_hex(kernel.object), time);
  event.arg("work-groups", kernel.groups);
  if (!kernel.failure.empty()) event.arg("failed", kernel.failure);
  write(std::move(event));
}

void PacketTrace::add_barrier(const Place& place, std::string_view type, const Time& time) {
  const std::lock_guard lock(mutex_);
  write(span(place, Row::barriers, "barrier", type, time));
}

void PacketTrace::add_copy(const Place& place, std::string_view what, std::uint64_t bytes, const Time& time) {
  const std::lock_guard lock(mutex_);
  TraceEvent event = span(place, Row::copies, "copy", what, time);
  event.arg("bytes", bytes);
  write(std::move(event));
}

TraceEvent PacketTrace::span(const Place& place, Row row, std::string_view category, std::string_view name,
                             const Time& time) {
  const auto since_start = [&](std::uint64_t clock) { return TraceTime(static_cast<std::int64_t>(clock - start_)); };
  const TraceTime begin = since_start(time.begin);
  const TraceTime end = since_start(time.end);
  const Track track = lanes_[{place.gpu, place.queue}][static_cast<std::size_t>(row)].track_for(
      begin, end, [&](std::size_t lane) { return new_track(place, row, lane); });
  TraceEvent event = TraceEvent::span(track, category, name, begin, end);
  event.arg("queue", place.queue).arg("packet", place.packet);
  return event;
}

Track PacketTrace::new_track(const Place& place, Row row, std::size_t lane) {
  constexpr std::array<std::string_view, rows> names = {"kernels", "barriers", "copies"};
  const auto number = static_cast<std::size_t>(row);
  const Track track{.process = first_process + static_cast<int>(place.gpu), .thread = ++tracks_};
  if (!std::exchange(named_[place.gpu], true))
    write(TraceEvent::process_name(track.process, "GPU " + std::to_string(place.gpu) + ": " + gpu_name_));
  const std::string name = "queue " + std::to_string(place.queue) + ": " + std::string(names[number]);
  write(TraceEvent::thread_name(track, trace_format::lane_name(name, lane)));
  write(TraceEvent::sort_index(track, static_cast<int>(place.queue * rows + number)));
  return track;
}

void PacketTrace::learn_name(std::uint64_t kernel_object) {
  {
    const std::lock_guard lock(mutex_);
    if (names_.contains(kernel_object)) return;
  }
  std::string name = compute::kernel_name(kernel_object);
  const std::lock_guard lock(mutex_);
  names_.emplace(kernel_object, std::move(name));
}

void PacketTrace::forget_names(std::uint64_t base, std::size_t size) {
  const std::lock_guard lock(mutex_);
  std::erase_if(names_, [&](const auto& named) { return named.first >= base && named.first - base < size; });
}

void PacketTrace::flush() {
  const std::lock_guard lock(mutex_);
  file_.flush();
}

}  // namespace softgpu::command_processor
