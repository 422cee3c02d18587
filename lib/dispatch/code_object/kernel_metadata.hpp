// A code object's metadata of its kernels: the NT_AMDGPU_METADATA note (LLVM's AMDGPU usage guide, "Code Object
// Metadata").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fastdispatch::detail {

struct ArgumentMetadata {
  std::string name{};       // as in the source; often empty
  std::string type_name{};  // likewise
  std::string value_kind{};
  std::string access{};         // as the source allows it, "read_only" for instance; mostly empty
  std::string actual_access{};  // as the compiler found it; mostly empty
  std::uint32_t offset = 0;
  std::uint32_t size = 0;

  [[nodiscard]] bool hidden() const { return value_kind.starts_with("hidden_"); }
};

struct KernelMetadata {
  std::string name{};
  std::string symbol{};  // of the kernel descriptor
  std::uint32_t kernarg_segment_size = 0;
  std::uint32_t kernarg_segment_align = 0;
  std::uint32_t group_segment_fixed_size = 0;
  std::uint32_t private_segment_fixed_size = 0;  // at least, if the stack is dynamic
  std::uint32_t max_flat_workgroup_size = 0;
  std::uint32_t wavefront_size = 0;
  // Registers; accumulation registers count among the vector registers, too (LLVM: `.vgpr_count`).
  std::uint32_t scalar_registers = 0;
  std::uint32_t vector_registers = 0;
  std::uint32_t accumulation_registers = 0;
  std::uint32_t spilled_scalar_registers = 0;
  std::uint32_t spilled_vector_registers = 0;
  bool uses_dynamic_stack = false;  // recursion, or calls whose targets the compiler does not know
  std::vector<ArgumentMetadata> arguments{};
};

// The kernels of the ELF code object in `elf`. `name` is for error texts. Throws Error when the file is damaged.
[[nodiscard]] std::vector<KernelMetadata> read_kernel_metadata(std::span<const std::byte> elf, std::string_view name);

}  // namespace fastdispatch::detail
