#include "experiment.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <variant>

#include "arena.hpp"
#include "assembler.hpp"
#include "evaluation.hpp"
#include "host_thread.hpp"
#include "litmus_kernel.hpp"
#include "processor.hpp"
#include "tested_target.hpp"

namespace softgpu::litmus {
namespace {

[[noreturn]] void fail(const compute::Failure& failure) { throw std::runtime_error("a litmus test: " + failure.text); }

/// Of a work-group.
std::uint32_t lds_bytes() { return isa::tested_target().architecture->compute_unit->lds_bytes; }

hsa_kernel_dispatch_packet_t packet_for(const Setup& setup, const isa::KernelImage& image, std::uint64_t& kernarg) {
  const bool one_group = setup.side == Side::wavefront || setup.side == Side::lane;
  const std::uint32_t waves = setup.side == Side::wavefront ? setup.device_threads() : 1;
  hsa_kernel_dispatch_packet_t packet = {};
  packet.setup = 1;
  packet.workgroup_size_x = static_cast<std::uint16_t>(lanes() * waves);
  packet.workgroup_size_y = packet.workgroup_size_z = packet.grid_size_y = packet.grid_size_z = 1;
  packet.grid_size_x = packet.workgroup_size_x * (one_group ? 1 : setup.device_threads());
  packet.group_segment_size = setup.memory == Memory::lds ? lds_bytes() : 0;
  packet.kernel_object = image.kernel_object();
  packet.kernarg_address = &kernarg;
  return packet;
}

compute::QueueView queue() {
  compute::QueueView view;
  view.shared_aperture_high = 0x20000;
  view.private_aperture_high = 0x10000;
  return view;
}

/// Remembers the first exception of several threads.
///
/// Thread safety: every member may be called from any thread.
class FirstError {
public:
  void keep(const std::exception_ptr& error) {
    const std::lock_guard lock(mutex_);
    if (error_ == nullptr) error_ = error;
  }
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

Experiment::Experiment(compute::Engine& engine, const Setup& setup)
    : engine_(engine), setup_(setup), image_(isa::assemble(kernel_text(setup_))), arena_(std::make_unique<Arena>()),
      kernarg_(arena_->arguments()), arguments_(std::make_unique<ThreadArguments[]>(most_threads)) {
  const hsa_kernel_dispatch_packet_t packet = packet_for(setup_, image_, kernarg_);
  auto kernel = engine_.kernel(packet);
  if (const auto* failure = std::get_if<compute::Failure>(&kernel)) fail(*failure);
  auto launch = compute::Launch::make(std::get<0>(kernel), packet, queue());
  if (const auto* failure = std::get_if<compute::Failure>(&launch)) fail(*failure);
  launch_ = std::get<0>(std::move(launch));
  for (std::uint32_t group = 0; group < launch_->group_count(); ++group)
    runners_.push_back(std::make_unique<compute::WorkGroupRunner>(group));
}

Experiment::~Experiment() { engine_.forget(image_.kernel_object(), image_.size()); }

std::uint32_t Experiment::slot_bytes() const {
  return setup_.test->values == Values::flags ? elements_per_lane * lanes() * setup_.element.bytes : 0;
}

std::uint32_t Experiment::most_rounds_of_launch() const {
  if (setup_.memory != Memory::lds || slot_bytes() == 0) return most_rounds;
  return std::min(most_rounds, lds_bytes() / variable_count / slot_bytes());
}

void Experiment::prepare(LanePattern pattern, std::uint32_t rounds_of_launch) {
  arena_->clear();
  const auto threads = static_cast<unsigned>(setup_.test->threads.size());
  const bool in_lds = setup_.memory == Memory::lds;
  for (unsigned thread = 0; thread < threads; ++thread) {
    ThreadArguments& arguments = arguments_[thread];
    for (unsigned variable = 0; variable < variable_count; ++variable)
      arguments.variables[variable] = in_lds ? variable * (lds_bytes() / variable_count) : arena_->variable(variable);
    arguments.results = arena_->results(thread);
    arguments.progress = arena_->progress();
    arguments.lane_offsets = arena_->lane_offsets() + thread * lane_offsets_stride;
    arguments.execution_mask = execution_mask(pattern, lanes());
    arguments.rounds = rounds_of_launch;
    arguments.slot_bytes = slot_bytes();
    // Counters need no meeting: now and then, so that none is done before the others begin.
    arguments.pace = setup_.test->values == Values::flags ? 0 : 31;
    auto* offsets = reinterpret_cast<std::uint32_t*>(arguments.lane_offsets);  // NOLINT(performance-no-int-to-ptr)
    const bool all_lanes = execution_mask(pattern, lanes()) == execution_mask(LanePattern::consecutive, lanes());
    for (std::uint32_t lane = 0; lane < lanes(); ++lane) {
      const std::uint32_t other = setup_.side == Side::lane && all_lanes ? (lane + thread) % lanes() : lane;
      offsets[lane] = offset_of_lane(pattern, other, lanes(), setup_.element.bytes);
    }
  }
}

Tally Experiment::run(LanePattern pattern, std::uint64_t rounds) {
  const std::uint32_t of_launch =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(most_rounds_of_launch(), std::max<std::uint64_t>(rounds, 1)));
  const auto launches = static_cast<std::uint32_t>((rounds + of_launch - 1) / of_launch);
  const std::uint32_t warm_up = setup_.memory == Memory::lds ? 1 : 0;  // it finds LDS as others left it
  prepare(pattern, of_launch);
  Tally tally;
  for (std::uint32_t launch = 0; launch < launches + warm_up; ++launch) {
    launch_once(setup_.test->values == Values::flags ? 4 * (launch + 1) : launch * of_launch);
    if (launch >= warm_up) evaluate(tally);
  }
  return tally;
}

void Experiment::run_device_thread(unsigned thread) {
  const unsigned group = thread - setup_.first_device_thread();
  if (auto failure = runners_[group]->run(*launch_, group)) fail(*failure);
}

void Experiment::launch_once(std::uint32_t first_value) {
  const auto threads = static_cast<unsigned>(setup_.test->threads.size());
  for (unsigned thread = 0; thread < threads; ++thread) arguments_[thread].first_value = first_value;
  std::memcpy(reinterpret_cast<void*>(arena_->arguments()), arguments_.get(),  // NOLINT(performance-no-int-to-ptr)
              threads * sizeof(ThreadArguments));
  const auto set_progress = [&](std::uint32_t round) {
    for (unsigned thread = 0; thread < threads; ++thread)
      std::atomic_ref(*reinterpret_cast<std::uint32_t*>(  // NOLINT(performance-no-int-to-ptr)
                          arena_->progress() + std::uint64_t{thread} * progress_stride))
          .store(round);
  };
  set_progress(0);
  FirstError error;
  const auto run = [&](unsigned thread) {
    stay_on_processor(thread);
    try {
      setup_.is_on_host(thread) ? run_host_thread(setup_, thread, arguments_[thread]) : run_device_thread(thread);
    } catch (...) {
      error.keep(std::current_exception());
      set_progress(~0U);  // nobody is to wait for it
    }
  };
  {
    const bool one_group = setup_.side == Side::wavefront || setup_.side == Side::lane;
    std::vector<std::jthread> running;
    for (unsigned thread = 0; thread < (one_group ? 1 : threads); ++thread) running.emplace_back(run, thread);
  }
  error.rethrow();
}

void Experiment::evaluate(Tally& tally) const {
  Evaluation(setup_, {arguments_.get(), setup_.test->threads.size()}).add_to(tally);
}

}  // namespace softgpu::litmus
