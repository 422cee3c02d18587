#include "softgpu/compute/execution/fiber.hpp"

#include <utility>

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include "softgpu/compute/execution/sanitizers.hpp"

#if SOFTGPU_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if SOFTGPU_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace softgpu::compute {
namespace context = boost::context;

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

/// Boost's guarded stack, remembering where it is for the annotation.
class AnnotatedStack {
public:
  explicit AnnotatedStack(SwitchAnnotation& annotation) : annotation_(&annotation) {}
  context::stack_context allocate() {
    context::stack_context stack = memory_.allocate();
    annotation_->own_stack(static_cast<const std::byte*>(stack.sp) - stack.size, stack.size);
    return stack;
  }
  void deallocate(context::stack_context& stack) {
    annotation_->disown_stack();
    memory_.deallocate(stack);
  }

private:
  context::protected_fixedsize_stack memory_{Fiber::stack_bytes};
  SwitchAnnotation* annotation_;
};

/// A fiber's stack, or that of a caller of resume.
struct Stack {
  SwitchAnnotation annotation{};
  context::fiber self{};  // valid while another stack runs
  Stack* last = nullptr;  // ran before this one

  /// Returns when something switches to this stack. What is left behind is stored on the stack that comes next: the
  /// switch returns to where that one called it, and leaves the processor's stack of return addresses in order.
  void switch_to(Stack& next) {
    next.last = this;
    annotation.leave_for(next.annotation);
    std::move(next.self).resume_with([this](context::fiber&& left) {
      self = std::move(left);
      return context::fiber();
    });
    arrive();
  }

  void arrive() { annotation.arrive_from(last->annotation); }

  [[nodiscard]] context::fiber leave_for_good(Stack& next) {
    next.last = this;
    annotation.leave_for_good(next.annotation);
    return std::move(next.self);
  }
};

}  // namespace

struct Fiber::State {
  Body body;
  void* argument;
  bool ending = false;
  Stack own{};
  Stack* caller = nullptr;  // of resume, while the body runs
};

Fiber::Fiber(Body body, void* argument) : state_(new State{body, argument}) {
  Stack& own = state_->own;
  own.annotation.make_fiber();
  own.self = context::fiber(std::allocator_arg, AnnotatedStack(own.annotation), [this](context::fiber&&) {
    State& mine = *state_;
    mine.own.arrive();
    while (!mine.ending) {
      Fiber* next = mine.body(mine.argument);
      next != nullptr ? hand_over_to(*next) : suspend();
    }
    return mine.own.leave_for_good(*mine.caller);
  });
}

Fiber::~Fiber() {
  state_->ending = true;
  resume();
  state_->own.annotation.destroy_fiber();
}

void Fiber::resume() {
  Stack caller;
  state_->caller = &caller;
  caller.switch_to(state_->own);
}

void Fiber::suspend() { state_->own.switch_to(*state_->caller); }

void Fiber::hand_over_to(Fiber& next) {
  next.state_->caller = state_->caller;
  state_->own.switch_to(next.state_->own);
}

}  // namespace softgpu::compute
