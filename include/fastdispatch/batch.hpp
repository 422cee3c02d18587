// Dispatches and copies recorded once and submitted any number of times.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "fastdispatch/access.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/batch_parameter.hpp"
#include "fastdispatch/copy.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/owner.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/dynamic_kernel.hpp"
#include "fastdispatch/fill.hpp"
#include "fastdispatch/grid.hpp"
#include "fastdispatch/kernel.hpp"
#include "fastdispatch/memory_view.hpp"

namespace fastdispatch {

/// How the packets of a batch are ordered, and which caches they write back and drop.
enum class Fences : std::uint8_t {
  /// Every packet waits for the one before and acquires and releases at system scope.
  conservative,
  /// Every packet waits for the packet before. The first packet after the start or a copy acquires at system scope. The
  /// last packet before a copy or the end releases at system scope. All other fences are at agent scope, so that data
  /// stays in the device's caches.
  minimal,
  /// A packet waits only for packets that wrote memory which it reads or writes, or that read memory which it writes.
  /// Independent packets and copies overlap. The arguments say what a packet touches: see Batch::dispatch.
  derived,
};

struct BatchOptions {
  Fences fences = Fences::minimal;
};

class Batch;

namespace detail {
class BatchRecording;
/// For the library itself.
[[nodiscard]] const BatchRecording& recording_of(const Batch& batch);
}  // namespace detail

/// Owner of a sequence of dispatches and copies, recorded once and submitted any number of times; move-only. Its first
/// submission to a queue encodes it to an image: packets and kernel arguments. Later submissions to the queue share the
/// image. If parameters or the signals of copies change between submissions, each submission in flight has an image of
/// its own. Recording may go on afterwards: submissions in flight do not change.
///
/// The steps run as if one after the other, and each step sees the writes of the steps before. The same holds for
/// submissions to one queue. With Fences::derived a submission may begin beside the last packet of the submission
/// before, if their accesses do not conflict. Modules and memory named in a batch must outlive its submissions; the
/// Batch itself need not. A batch that was moved from may be destroyed and assigned to; all else throws Error.
///
/// Thread safety:
/// - recording needs external synchronization
/// - several threads may submit a batch while nobody records it
class FASTDISPATCH_EXPORT Batch {
public:
  explicit Batch(Agent agent, BatchOptions options = {});
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  /// Declares a value of type T that each submission sets: an argument of kernels, or with T = Grid the grid of
  /// dispatches. One parameter may be used any number of times. `name` appears in messages.
  template <class T>
  [[nodiscard]] BatchParameter<T> parameter(std::string name = {}) {
    return BatchParameter<T>(add_parameter(std::move(name)));
  }

  /// Each argument is a KernelArgument for its parameter in the signature, or a BatchParameter of its type. Arguments
  /// are taken by value now, except for parameters: memory behind a pointer may still change, the pointer itself not.
  /// Throws Error when grid, group or group memory are more than kernel or agent allow (for a grid that is a parameter,
  /// the submission does), or when a parameter is another batch's; nothing is recorded then.
  ///
  /// With Fences::derived the arguments say what the kernel touches: `fd::read(a)`, `fd::write(b, {0, n})`,
  /// `fd::read_write(c)`. Without these words, a buffer is read for a parameter `const T*`, read and written for a
  /// `T*`. A pointer stands for the whole allocation that HSA finds it in, and for all memory where HSA finds none.
  template <class... Parameters, class... Arguments>
    requires(sizeof...(Arguments) == sizeof...(Parameters) && (BatchArgument<Arguments, Parameters> && ...))
  void dispatch(const Kernel<void(Parameters...)>& kernel, const BatchGrid& grid, Arguments&&... arguments);
  /// The same for a kernel whose signature was put together while the program ran. Each argument is the bytes of a
  /// value of its parameter's type. With Fences::derived, a pointer stands for an allocation that is read and written.
  /// Throws Error likewise, and when the number of arguments or the size of one is wrong.
  void dispatch(const DynamicKernel& kernel, const BatchGrid& grid,
                std::span<const std::span<const std::byte>> arguments);
  /// An argument is wider than its parameter, or floating-point where the parameter is an integer: cast it.
  template <class... Parameters, class... Arguments,
            std::size_t narrowed_argument = detail::first_narrowed<void(Parameters...), Arguments...>>
    requires(narrowed_argument > 0)
  void dispatch(const Kernel<void(Parameters...)>& kernel, const BatchGrid& grid, Arguments&&... arguments) = delete;

  /// With Fences::derived: says what else the last dispatch touches, as in `batch.touches(fd::read(table))`: memory
  /// that it reaches through pointers inside of structures and buffers, or variables of its module. Accesses that are
  /// not said are not ordered, neither within the batch nor with the batch before it in the queue.
  /// Throws Error when the last recorded step is not a dispatch.
  template <class... T, AccessMode... modes>
  void touches(const Accessed<T, modes>&... accesses) {
    add_accesses(std::array<detail::StatedAccess, sizeof...(accesses)>{accesses.stated()...});
  }

  /// A copy by the device's copy engine; one of 0 bytes is not recorded. Throws Error when the sizes differ, the sides
  /// overlap, or one is pageable memory: use PinnedBuffer, PinnedMemoryResource or Pin, or copy outside the batch.
  void copy(const MemoryView& destination, const MemoryView& source);
  template <class T, std::size_t extent>
  void copy(const MemoryView& destination, std::span<T, extent> source) {
    copy(destination, view_of(agent(), detail::bytes_of(std::span<T>(source))));
  }
  template <class T, std::size_t extent>
  void copy(std::span<T, extent> destination, const MemoryView& source) {
    static_assert(!std::is_const_v<T>, "the destination of a copy must be writable");
    copy(view_of(agent(), detail::bytes_of(std::span<T>(destination))), source);
  }

  /// Sets all elements, by the device's copy engine: the batch makes a block of up to 4 MiB in the agent's memory,
  /// filled with the value now, and records a copy of it for each 4 MiB. The batch and its submissions keep the block.
  /// A kernel that fills may be faster for large buffers. Throws Error as copy and fastdispatch::fill, and when the
  /// agent's memory is exhausted.
  template <class T>
  void fill(DeviceBuffer<T>& destination, const std::type_identity_t<T>& value) {
    fill(destination, detail::bytes_of_element(value));
  }
  template <class T>
  void fill(const DeviceSpan<T>& destination, const std::type_identity_t<T>& value) {
    static_assert(!std::is_const_v<T>, "what is filled must be writable");
    fill(destination, detail::bytes_of_element(value));
  }
  template <class T>
  void fill(PinnedBuffer<T>& destination, const std::type_identity_t<T>& value) {
    fill(destination, detail::bytes_of_element(value));
  }

  /// Forgets all steps and parameters; submissions in flight keep theirs.
  void clear();

  [[nodiscard]] std::size_t dispatches() const;
  [[nodiscard]] std::size_t copies() const;
  [[nodiscard]] Agent agent() const;

private:
  friend const detail::BatchRecording& detail::recording_of(const Batch& batch);

  void fill(const MemoryView& destination, std::span<const std::byte> element);
  [[nodiscard]] detail::ParameterId add_parameter(std::string name);
  /// Makes room for the kernel's arguments, the implicit ones recorded, and returns where to write the explicit ones.
  [[nodiscard]] std::byte* record(const detail::KernelInfo& kernel, const BatchGrid& grid, std::uint64_t local_memory,
                                  std::span<const detail::ParameterUse> parameters,
                                  std::span<const detail::StatedAccess> accesses);

  /// Of the last dispatch.
  void add_accesses(std::span<const detail::StatedAccess> accesses);

  bool derives_fences_;
  detail::Owner<detail::BatchRecording> recording_;
};

// ---- details

namespace detail {

inline const BatchRecording& recording_of(const Batch& batch) { return *batch.recording_; }

// The arguments that are parameters of the batch. `slot` is the first argument's.
template <class... Arguments>
[[nodiscard]] auto uses_of([[maybe_unused]] const ArgumentSlot* slot,
                           [[maybe_unused]] const Arguments&... arguments) noexcept {
  std::array<ParameterUse, (std::size_t{is_parameter<Arguments>} + ... + 0)> uses;
  [[maybe_unused]] std::size_t count = 0;
  [[maybe_unused]] const auto add = [&]<class Argument>(const Argument& argument) {
    if constexpr (is_parameter<Argument>) uses[count++] = {argument.id(), *slot};
    ++slot;
  };
  (add(arguments), ...);
  return uses;
}

// The recorded value of an argument: the argument itself, or zeros in the place of a parameter.
template <class Parameter, class Argument>
[[nodiscard]] decltype(auto) recorded(Argument&& argument) noexcept {
  if constexpr (is_parameter<std::remove_cvref_t<Argument>>) {
    return std::bit_cast<Parameter>(std::array<std::byte, sizeof(Parameter)>{});  // NOLINT(bugprone-sizeof-expression)
  } else {
    return std::forward<Argument>(argument);
  }
}

}  // namespace detail

template <class... Parameters, class... Arguments>
  requires(sizeof...(Arguments) == sizeof...(Parameters) && (BatchArgument<Arguments, Parameters> && ...))
void Batch::dispatch(const Kernel<void(Parameters...)>& kernel, const BatchGrid& grid, Arguments&&... arguments) {
  const detail::KernelInfo& info = kernel.info();
  const auto uses = detail::uses_of(info.arguments.data(), arguments...);
  std::byte* kernarg = nullptr;
  if (derives_fences_) {
    const std::array<detail::StatedAccess, sizeof...(Arguments)> accesses{
        detail::stated_access<Parameters>(arguments)...};
    kernarg = record(info, grid, kernel.local_memory(arguments...), uses, accesses);
  } else {
    kernarg = record(info, grid, kernel.local_memory(arguments...), uses, {});
  }
  kernel.write_arguments(kernarg, detail::recorded<Parameters>(std::forward<Arguments>(arguments))...);
}

}  // namespace fastdispatch
