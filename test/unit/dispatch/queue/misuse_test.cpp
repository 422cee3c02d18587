// Misuse that must not compile, because it would be wrong at run time.
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include "fastdispatch/fastdispatch.hpp"

namespace fastdispatch::test {
namespace {

template <class Runtime>
concept GivesAgents = requires(Runtime&& runtime) { std::forward<Runtime>(runtime).gpu(); };
template <class Module>
concept GivesKernels = requires(Module&& module) { std::forward<Module>(module).template kernel<void()>(""); };
template <class Memory>
concept CanBeRead = requires(Memory&& memory) { read(std::forward<Memory>(memory)); };
template <class Buffer>
concept MayBeWritten = requires(Buffer& buffer) {
                         { buffer.data() } -> std::same_as<unsigned*>;
                       };

TEST(Misuse, agents_of_a_runtime_that_is_gone_at_once_do_not_compile) {
  static_assert(GivesAgents<Runtime&>);
  static_assert(GivesAgents<const Runtime&>);
  static_assert(!GivesAgents<Runtime>);
}

TEST(Misuse, kernels_of_a_module_that_is_gone_at_once_do_not_compile) {
  static_assert(GivesKernels<Module&>);
  static_assert(GivesKernels<const Module&>);
  static_assert(!GivesKernels<Module>);
}

TEST(Misuse, owners_without_a_name_are_no_arguments_of_read_and_write) {
  static_assert(CanBeRead<DeviceBuffer<unsigned>&>);
  static_assert(CanBeRead<const DeviceBuffer<unsigned>&>);
  static_assert(CanBeRead<DeviceSpan<unsigned>>);
  static_assert(CanBeRead<MemoryView>);
  static_assert(CanBeRead<unsigned*>);
  static_assert(!CanBeRead<DeviceBuffer<unsigned>>);
  static_assert(!CanBeRead<PinnedBuffer<unsigned>>);
}

TEST(Misuse, const_buffers_are_of_const_elements) {
  static_assert(MayBeWritten<DeviceBuffer<unsigned>>);
  static_assert(!MayBeWritten<const DeviceBuffer<unsigned>>);
  static_assert(!MayBeWritten<const PinnedBuffer<unsigned>>);
  static_assert(std::is_same_v<decltype(std::declval<const DeviceBuffer<unsigned>&>().subspan(0, 1)),
                               DeviceSpan<const unsigned>>);
}

TEST(Misuse, kernel_arguments_have_one_owner) {
  static_assert(!std::is_copy_constructible_v<KernargSlot>);
  static_assert(!std::is_copy_assignable_v<KernargSlot>);
}

TEST(Misuse, a_batch_that_is_submitted_may_be_const) {
  static_assert(requires(Queue & queue, const Batch& batch) { queue.submit(batch); });
  static_assert(requires(Streams & streams, const Batch& batch) { streams.submit(batch); });
}

}  // namespace
}  // namespace fastdispatch::test
