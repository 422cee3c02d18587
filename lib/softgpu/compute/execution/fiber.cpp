#include "softgpu/compute/execution/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "softgpu/compute/run_time/sanitizers.hpp"

#if SOFTGPU_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if SOFTGPU_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace softgpu::compute {
namespace {

/// Tells the sanitizers which stack runs: they keep shadow state for each.
class SwitchAnnotation {
public:
#if SOFTGPU_ADDRESS_SANITIZER
  void leave_for(SwitchAnnotation& next) { __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.size_); }
  void leave_for_good(SwitchAnnotation& next) { __sanitizer_start_switch_fiber(nullptr, next.bottom_, next.size_); }
  void arrive_from(SwitchAnnotation& last) { __sanitizer_finish_switch_fiber(fake_stack_, &last.bottom_, &last.size_); }
  void own_stack(const void* bottom, std::size_t size) {
    bottom_ = bottom;
    size_ = size;
  }
  /// Frames that never returned have marked their memory, which another stack gets next.
  void disown_stack() { ASAN_UNPOISON_MEMORY_REGION(bottom_, size_); }
  void make_fiber() {}
  void destroy_fiber() {}

private:
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
#elif SOFTGPU_THREAD_SANITIZER
  void leave_for(SwitchAnnotation& next) {
    fiber_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(next.fiber_, 0);
  }
  void leave_for_good(SwitchAnnotation& next) { leave_for(next); }
  void arrive_from(SwitchAnnotation&) {}
  void own_stack(const void*, std::size_t) {}
  void disown_stack() {}
  void make_fiber() { fiber_ = __tsan_create_fiber(0); }
  void destroy_fiber() { __tsan_destroy_fiber(fiber_); }

private:
  void* fiber_ = nullptr;
#else
  void leave_for(SwitchAnnotation&) {}
  void leave_for_good(SwitchAnnotation& next) { leave_for(next); }
  void arrive_from(SwitchAnnotation&) {}
  void own_stack(const void*, std::size_t) {}
  void disown_stack() {}
  void make_fiber() {}
  void destroy_fiber() {}
#endif
};

/// Memory for a stack, above a page that may not be accessed.
class StackMemory {
public:
  StackMemory()
      : memory_(
            mmap(nullptr, Fiber::stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    if (mprotect(memory_, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE) == 0) return;
    munmap(memory_, Fiber::stack_bytes);
    throw std::bad_alloc();
  }
  ~StackMemory() { munmap(memory_, Fiber::stack_bytes); }
  StackMemory(const StackMemory&) = delete;
  StackMemory& operator=(const StackMemory&) = delete;

  [[nodiscard]] std::byte* bottom() const noexcept { return static_cast<std::byte*>(memory_); }
  [[nodiscard]] std::byte* top() const noexcept { return bottom() + Fiber::stack_bytes; }

private:
  void* memory_;
};

/// A fiber's stack, or that of a caller of resume.
struct Stack {
  LeftStack left{};  // while another stack runs
  SwitchAnnotation annotation{};
  Stack* last = nullptr;  // ran before this one

  /// Returns when something switches to this stack.
  void switch_to(Stack& next) {
    next.last = this;
    annotation.leave_for(next.annotation);
    softgpu_switch_stack(&left, &next.left);
    arrive();
  }

  [[noreturn]] void leave_for_good(Stack& next) {
    next.last = this;
    annotation.leave_for_good(next.annotation);
    softgpu_switch_stack(&left, &next.left);
    __builtin_unreachable();
  }

  void arrive() { annotation.arrive_from(last->annotation); }
};

/// The caller of resume, of whichever fiber runs on this thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local Stack* resuming = nullptr;

}  // namespace

struct Fiber::State {
  Body body;
  void* argument;
  StackMemory memory{};
  Stack own{.left = {.pointer = memory.top()}};
  bool ending = false;
  Call call = nullptr;  // where it was suspended
  void* call_argument = nullptr;

  [[noreturn]] void run() {
    own.arrive();
    while (!ending) {
      Fiber* next = body(argument);
      own.switch_to(next != nullptr ? next->state_->own : *resuming);
    }
    own.leave_for_good(*resuming);
  }

  [[noreturn]] void run_call() {
    own.arrive();
    call(call_argument);
    __builtin_unreachable();
  }
};

Fiber::Fiber(Body body, void* argument) : state_(new State{body, argument}) {
  Stack& own = state_->own;
  own.annotation.make_fiber();
  own.annotation.own_stack(state_->memory.bottom(), stack_bytes);
  go_on_with(
      own.left, [](void* state) { static_cast<State*>(state)->run(); }, state_.get());
}

Fiber::~Fiber() {
  state_->ending = true;
  resume();
  state_->own.annotation.destroy_fiber();
  state_->own.annotation.disown_stack();
}

void Fiber::resume() {
  Stack caller;
  Stack* outer = std::exchange(resuming, &caller);
  caller.switch_to(state_->own);
  resuming = outer;
}

void Fiber::suspend() { state_->own.switch_to(*resuming); }

void Fiber::hand_over_to(Fiber& next) { state_->own.switch_to(next.state_->own); }

void Fiber::call_when_resumed(Call function, void* argument) noexcept {
  state_->call = function;
  state_->call_argument = argument;
  go_on_with(
      state_->own.left, [](void* state) { static_cast<State*>(state)->run_call(); }, state_.get());
}

LeftStack& Fiber::left_stack() noexcept { return state_->own.left; }

}  // namespace softgpu::compute
