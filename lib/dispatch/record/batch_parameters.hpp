// The parameters of a recording: which bytes of its packets and kernel arguments each submission sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fastdispatch/batch_parameter.hpp"
#include "fastdispatch/detail/kernel_info.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::detail {

// Thread safety:
// - adding parameters needs external synchronization
// - const members may be called from any thread while nobody adds parameters
class BatchParameters {
public:
  BatchParameters();

  [[nodiscard]] bool empty() const noexcept { return names_.empty(); }
  // Whether a dispatch depends on one.
  [[nodiscard]] bool used() const noexcept { return !arguments_.empty() || !grids_.empty(); }

  // The name is for messages only and may be empty.
  [[nodiscard]] ParameterId add(std::string name);
  // Throws Error where `id` is of another recording.
  void check(ParameterId id) const;
  // `dispatch` counts the dispatches of the batch; `kernarg` is the offset of its block among their kernel arguments.
  void add_use(const ParameterUse& use, std::size_t dispatch, std::size_t kernarg);
  void add_grid(ParameterId id, std::size_t dispatch, const KernelInfo& kernel, std::uint64_t local_memory,
                std::size_t kernarg);
  // Forgets all parameters. Their ids belong to no recording afterwards.
  void clear();

  // A dispatch of a selection: its number in the whole recording, and where its block is in the kernel arguments of the
  // whole and of the selection.
  struct Moved {
    std::size_t dispatch;
    std::size_t kernarg_in_whole;
    std::size_t kernarg;
  };
  // The same parameters, but only with their uses by these dispatches, which are the selection's in this order.
  [[nodiscard]] BatchParameters select(std::span<const Moved> moved) const;

  // Throws Error unless `values` sets each parameter of this recording once, to a value that `agent` can run. Sorts
  // `values` by parameter. Allocates nothing unless it throws.
  void check(std::span<ParameterValue> values, Agent agent) const;
  // Writes checked values to an image: the batch's packets, of which `dispatches` are the indices of the kernel
  // dispatches, and the batch's kernel arguments.
  void apply(std::span<const ParameterValue> values, std::span<Packet> packets, std::span<const std::size_t> dispatches,
             std::byte* kernargs) const noexcept;

private:
  struct ArgumentUse {
    std::uint32_t parameter;
    std::uint32_t size;
    std::size_t offset;  // among the batch's kernel arguments
    std::size_t dispatch;
  };
  struct GridUse {
    std::uint32_t parameter;
    const KernelInfo* kernel;
    std::uint64_t local_memory;
    std::size_t dispatch;
    std::size_t kernarg;
  };

  [[nodiscard]] std::string describe(std::size_t index) const;

  std::uint64_t recording_;
  std::vector<std::string> names_;
  std::vector<ArgumentUse> arguments_;
  std::vector<GridUse> grids_;
};

}  // namespace fastdispatch::detail
