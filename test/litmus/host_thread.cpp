#include "host_thread.hpp"

#include <atomic>
#include <thread>
#include <type_traits>
#include <vector>

#include "tested_target.hpp"

namespace softgpu::litmus {
namespace {

template <class T>
T& at(std::uint64_t address) {
  return *reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

std::memory_order cpp_order(Order order) {
  switch (order) {
  case Order::relaxed:
    return std::memory_order_relaxed;
  case Order::acquire:
    return std::memory_order_acquire;
  case Order::release:
    return std::memory_order_release;
  case Order::sequential:
    break;
  }
  return std::memory_order_seq_cst;
}

/// T is a variable's type.
template <class T>
class HostThread {
public:
  HostThread(const Setup& setup, unsigned thread, const ThreadArguments& arguments)
      : setup_(setup), thread_(thread), arguments_(arguments), next_result_(arguments.results) {
    for (std::uint32_t lane = 0; lane < isa::tested_target().wavefront_size; ++lane)
      if ((arguments.execution_mask >> lane & 1) != 0) lanes_.push_back(lane);
  }

  void run() {
    for (std::uint32_t round = 0; round < arguments_.rounds; ++round) {
      if ((round & arguments_.pace) == 0) meet_others(round + 1);
      be_late(round);
      for (const Event& event : setup_.test->threads[thread_]) carry_out(event, round);
    }
  }

private:
  [[nodiscard]] std::atomic_ref<std::uint32_t> progress(unsigned thread) const {
    return std::atomic_ref(at<std::uint32_t>(arguments_.progress + std::uint64_t{thread} * progress_stride));
  }

  void meet_others(std::uint32_t round) {
    progress(thread_).store(round, std::memory_order_relaxed);
    constexpr unsigned patience = 2048;
    unsigned polls = 0;
    for (unsigned other = 0; other < setup_.test->threads.size(); ++other)
      while (progress(other).load(std::memory_order_relaxed) < round)
        if (++polls % patience == 0)
          std::this_thread::yield();
        else
          __builtin_ia32_pause();
  }

  void be_late(std::uint32_t round) {
    std::uint32_t repeats = round_hash(round, arguments_.first_value, thread_) >> (32 - delay_bits);
    for (; repeats != 0; --repeats) __builtin_ia32_pause();
  }

  template <class Access>
  void for_each_variable(const Event& event, std::uint32_t round, Access&& access) {
    const std::uint64_t slot = arguments_.variables[event.variable] + std::uint64_t{round} * arguments_.slot_bytes;
    for (const std::uint32_t lane : lanes_)
      for (std::uint32_t part = 0; part < setup_.element.variables(); ++part)
        access(at<T>(slot + at<std::uint32_t>(arguments_.lane_offsets + 4 * lane) + part * sizeof(T)),
               std::uint64_t{lane} * setup_.element.variables() + part);
  }

  void carry_out(const Event& event, std::uint32_t round) {
    const std::memory_order order = cpp_order(event.order);
    switch (event.kind) {
    case Event::Kind::load:
      for_each_variable(event, round, [&](T& variable, std::uint64_t place) {
        at<Result>(next_result_ + place * sizeof(Result)) = std::atomic_ref(variable).load(order);
      });
      next_result_ += std::uint64_t{isa::tested_target().wavefront_size} * setup_.element.result_bytes();
      break;
    case Event::Kind::store:
      for_each_variable(event, round, [&, value = stored_value(event, round)](T& variable, std::uint64_t) {
        std::atomic_ref(variable).store(value, order);
      });
      break;
    case Event::Kind::fence:
      std::atomic_thread_fence(order);
      break;
    }
  }

  [[nodiscard]] T stored_value(const Event& event, std::uint32_t round) const {
    const Values values = setup_.test->values;
    std::uint64_t value = arguments_.first_value + (values == Values::flags ? event.value : round + 1);
    value &= 0xffffffff;
    constexpr unsigned half = 4 * sizeof(T);
    if (values == Values::patterns || sizeof(T) == 8) {
      value &= (std::uint64_t{1} << half) - 1;
      value |= value << half;
    }
    return static_cast<T>(value);
  }

  using Result = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

  const Setup& setup_;
  unsigned thread_;
  const ThreadArguments& arguments_;
  std::uint64_t next_result_;
  std::vector<std::uint32_t> lanes_;
};

}  // namespace

void run_host_thread(const Setup& setup, unsigned thread, const ThreadArguments& arguments) {
  switch (setup.element.variable_bytes()) {  // NOLINT(bugprone-branch-clone): other types
  case 1:
    return HostThread<std::uint8_t>(setup, thread, arguments).run();
  case 2:
    return HostThread<std::uint16_t>(setup, thread, arguments).run();
  case 4:
    return HostThread<std::uint32_t>(setup, thread, arguments).run();
  default:
    return HostThread<std::uint64_t>(setup, thread, arguments).run();
  }
}

}  // namespace softgpu::litmus
