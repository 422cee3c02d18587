#include "softgpu/compute/run_time/stack_switch.hpp"

#include <bit>
#include <cstdint>

// System V's ABI for AMD64: rbx, rbp and r12 to r15 are the caller's. fault_guard.cpp has the guard in force.
asm(R"(
.pushsection .text, "ax", @progbits
.p2align 4
.hidden softgpu_wait_at_barrier
.globl softgpu_wait_at_barrier
.type softgpu_wait_at_barrier, @function
softgpu_wait_at_barrier:
  movq (%rdi), %rsi
  testq %rsi, %rsi
  jz softgpu_ask_at_barrier
  movq 8(%rdi), %rdi
  jmp softgpu_switch_stack
.size softgpu_wait_at_barrier, . - softgpu_wait_at_barrier

.p2align 4
.hidden softgpu_switch_stack
.globl softgpu_switch_stack
.type softgpu_switch_stack, @function
softgpu_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq softgpu_guard_in_force@gottpoff(%rip), %rdx
  movq %fs:(%rdx), %rcx
  movq %rsp, (%rdi)
  movq %rcx, 8(%rdi)
  movq $0, %fs:(%rdx)
  movq (%rsi), %rsp
  movq 8(%rsi), %rax
  movq %rax, %fs:(%rdx)
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size softgpu_switch_stack, . - softgpu_switch_stack

.p2align 4
.hidden softgpu_begin_stack
.globl softgpu_begin_stack
.type softgpu_begin_stack, @function
softgpu_begin_stack:
  movq %rbx, %rdi
  callq *%rbp
  ud2
.size softgpu_begin_stack, . - softgpu_begin_stack
.popsection
)");

/// Calls the function in rbp with the argument in rbx.
extern "C" void softgpu_begin_stack();

namespace softgpu::compute {
namespace {

/// On top of a stack that was left.
struct KeptRegisters {
  std::uint64_t r15 = 0, r14 = 0, r13 = 0, r12 = 0, rbx = 0, rbp = 0;
  void (*goes_on_at)() = nullptr;
};

}  // namespace

// The address sanitizer may still take the memory for a frame that was left by a jump.
__attribute__((no_sanitize("address", "thread"))) void go_on_with(LeftStack& stack, void (*function)(void*),
                                                                  void* argument) noexcept {
  constexpr std::uint64_t alignment = 16;        // where a function is called
  constexpr std::uint64_t outermost_frame = 16;  // which returns to nowhere
  const std::uint64_t top = (std::bit_cast<std::uint64_t>(stack.pointer) & ~(alignment - 1)) - outermost_frame;
  auto* registers = std::bit_cast<KeptRegisters*>(top) - 1;
  *registers = {.rbx = std::bit_cast<std::uint64_t>(argument),
                .rbp = std::bit_cast<std::uint64_t>(function),
                .goes_on_at = softgpu_begin_stack};
  stack.pointer = registers;
}

}  // namespace softgpu::compute
