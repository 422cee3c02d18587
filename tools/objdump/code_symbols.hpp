// The functions and kernel descriptors of a code object, by LLVM's reader of ELF files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "softgpu/compute/execution/kernel.hpp"

/// Views a symbol's bytes in the file.
struct CodeSymbol {
  std::string name;
  std::uint64_t address = 0;
  std::span<const std::byte> bytes;
};

/// Views an ELF file, which outlives it.
class CodeSymbols {
public:
  /// Throws std::runtime_error when LLVM cannot read the file.
  explicit CodeSymbols(std::span<const std::byte> elf);

  /// In the order of their addresses.
  [[nodiscard]] std::span<const CodeSymbol> functions() const { return functions_; }
  /// Of the symbol of that name, such as "sum.kd"; nothing if there is none.
  [[nodiscard]] std::optional<softgpu::compute::KernelDescriptor> descriptor(const std::string& symbol) const;

private:
  std::vector<CodeSymbol> functions_;
  std::vector<CodeSymbol> objects_;
};
