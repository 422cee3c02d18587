// Target IDs: which code runs on which device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fastdispatch::detail {

// A target feature that code is compiled for: `any` runs with either setting of the device.
enum class TargetFeature : std::uint8_t { any, off, on };

// The target of code, or a device: a processor and the settings of the two features that change code generation (LLVM's
// AMDGPU usage guide, "Target ID").
struct TargetId {
  std::string processor;
  TargetFeature sramecc = TargetFeature::any;
  TargetFeature xnack = TargetFeature::any;

  friend bool operator==(const TargetId&, const TargetId&) = default;
};

// Of an ISA name ("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"), a bundle entry's id ("hipv4-" and the like in front) or
// the bare target; nothing for other targets than AMD's HSA.
[[nodiscard]] std::optional<TargetId> parse_target_id(std::string_view text);

// Of an ELF file's flags; `abi_version` is its EI_ABIVERSION. Nothing when the processor is not known.
[[nodiscard]] std::optional<TargetId> target_id_of_elf(std::uint8_t abi_version, std::uint32_t flags);

// The version of a generic processor's code in an ELF file's flags; 0 for code of one processor.
[[nodiscard]] std::uint32_t generic_version_of_elf(std::uint8_t abi_version, std::uint32_t flags);

[[nodiscard]] std::string to_string(const TargetId& target);

// The processors that run a generic processor's code; none where `processor` is not generic.
[[nodiscard]] std::span<const std::string_view> processors_of_generic(std::string_view processor);

[[nodiscard]] bool runs_on(const TargetId& code, const TargetId& device);

// If several code objects fit, the largest number wins: code for the processor before generic code, then code for one
// setting of more features.
[[nodiscard]] int specificity(const TargetId& code);

}  // namespace fastdispatch::detail
