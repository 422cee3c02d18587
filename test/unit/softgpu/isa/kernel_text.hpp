// The assembly of a test kernel: it loads a MachineState, runs one of several snippets on it, and stores it back.
#pragma once

#include <string>
#include <vector>

namespace softgpu::isa {

enum class Lds { unused, loaded_and_stored };
enum class Scratch { unused, available };

/// Bytes of scratch memory a work-item has where it is available.
inline constexpr unsigned scratch_bytes = 64;

/// Work-group g of the kernel works on the MachineState at kernarg[0] + g * sizeof(MachineState) and executes
/// `snippets[case_number]`. A snippet may use s[0:23], v[0:15], VCC, EXEC, SCC and M0, and a label of its own by `%=`.
/// With scratch, FLAT_SCRATCH is set up and s[44:47] describes the buffer.
[[nodiscard]] std::string kernel_text(const std::vector<std::string>& snippets, Lds lds, Scratch scratch);

/// Registers that the kernel uses, for its descriptor.
inline constexpr unsigned kernel_vector_registers = 32;
inline constexpr unsigned kernel_accumulation_registers = 32;
inline constexpr unsigned kernel_scalar_registers = 48;

}  // namespace softgpu::isa
