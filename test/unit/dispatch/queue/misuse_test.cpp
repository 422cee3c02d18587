// Misuse that must not compile, because it would be wrong at run time.
#include <cstddef>
#include <cstdint>
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

using Sort = Kernel<void(unsigned*, unsigned, float)>;
template <class... Arguments>
concept BatchTakes = requires(Batch& batch, const Sort& sort, Arguments&&... arguments) {
                       batch.dispatch(sort, grid(1), std::forward<Arguments>(arguments)...);
                     };
template <class... Arguments>
concept QueueTakes = requires(Queue& queue, const Sort& sort, Arguments&&... arguments) {
                       queue.dispatch(sort, grid(1), std::forward<Arguments>(arguments)...);
                     };
template <class... Arguments>
concept QueueTakesWithOptions =
    requires(Queue& queue, const Sort& sort, Arguments&&... arguments) {
      queue.dispatch(sort, grid(1), {.completion = nullptr}, std::forward<Arguments>(arguments)...);
    };
template <class... Arguments>
concept AllTake = BatchTakes<Arguments...> && QueueTakes<Arguments...> && QueueTakesWithOptions<Arguments...>;
template <class... Arguments>
concept NoneTakes = !
BatchTakes<Arguments...> && !QueueTakes<Arguments...> && !QueueTakesWithOptions<Arguments...>;
template <class T, class Value>
concept CanBeSet =
    requires(const BatchParameter<T>& parameter, Value&& value) { set(parameter, std::forward<Value>(value)); };
struct Left {
  int left;
};
struct Right {
  int right;
};
struct Both : Left, Right {};

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

TEST(Misuse, arguments_that_narrow_do_not_compile) {
  static_assert(AllTake<unsigned*, unsigned, float>);
  static_assert(AllTake<unsigned*, int, float>, "the width is the same");
  static_assert(AllTake<unsigned*, std::uint16_t, int>);
  static_assert(AllTake<std::nullptr_t, const unsigned&, float&>);
  static_assert(AllTake<DeviceBuffer<unsigned>&, unsigned, float>);
  static_assert(NoneTakes<unsigned*, double, float>);
  static_assert(NoneTakes<unsigned*, float, float>);
  static_assert(NoneTakes<unsigned*, std::size_t, float>);
  static_assert(NoneTakes<unsigned*, const std::int64_t&, float>);
  static_assert(NoneTakes<unsigned*, unsigned, double>);
  static_assert(NoneTakes<unsigned*, unsigned, std::size_t>);
  static_assert(detail::narrows<int, std::uint16_t> && detail::narrows<int, bool> && detail::narrows<int*, bool>);
  static_assert(!detail::narrows<bool, bool> && !detail::narrows<std::size_t, double>);
  static_assert(detail::first_narrowed<void(unsigned*, unsigned, float), unsigned*&, int&, double> == 3);
  static_assert(detail::first_narrowed<void(unsigned*, unsigned, float), unsigned*, int, float> == 0);
}

TEST(Misuse, arguments_of_another_type_or_count_are_refused_by_batch_and_queue_alike) {
  static_assert(NoneTakes<float*, unsigned, float>);
  static_assert(NoneTakes<const unsigned*, unsigned, float>);
  static_assert(NoneTakes<DeviceBuffer<float>&, unsigned, float>);
  static_assert(NoneTakes<const DeviceBuffer<unsigned>&, unsigned, float>);
  static_assert(NoneTakes<unsigned*, unsigned>);
  static_assert(NoneTakes<unsigned*, unsigned, float, float>);
  static_assert(NoneTakes<unsigned*, unsigned*, float>);
  static_assert(BatchTakes<BatchParameter<unsigned*>, unsigned, float>);
  static_assert(!QueueTakes<BatchParameter<unsigned*>, unsigned, float>);
}

TEST(Misuse, parameters_of_a_batch_keep_their_type) {
  static_assert(CanBeSet<float*, DeviceBuffer<float>&> && CanBeSet<const float*, const DeviceBuffer<float>&>);
  static_assert(!CanBeSet<float*, DeviceBuffer<unsigned>&> && !CanBeSet<float*, const DeviceBuffer<float>&>);
  static_assert(!CanBeSet<float*, unsigned*> && !CanBeSet<float*, DeviceSpan<double>>);
  static_assert(CanBeSet<unsigned, int> && !CanBeSet<unsigned, std::size_t> && !CanBeSet<unsigned, float>);
  static_assert(BatchArgument<BatchParameter<float*>, const float*>);
  static_assert(BatchArgument<BatchParameter<float*>, void*>);
  static_assert(!BatchArgument<BatchParameter<float*>, unsigned*>);
  static_assert(!BatchArgument<BatchParameter<const float*>, float*>);
  static_assert(!BatchArgument<BatchParameter<void*>, float*>);
  static_assert(!BatchArgument<BatchParameter<int>, unsigned>);
  static_assert(std::is_convertible_v<Both*, Right*> && !BatchArgument<BatchParameter<Both*>, Right*>,
                "the conversion changes the address");
}

}  // namespace
}  // namespace fastdispatch::test
