// Rounding as MODE says, where that is not to nearest even: the host's arithmetic does it, switched for one
// instruction.
//
// In a program that ever rounds otherwise, the instructions that round by MODE are emitted as constrained
// floating-point operations, which do not cross a switch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace softgpu::compute {

struct Program;

/// The bit of MODE where the rounding of an instruction's result begins; nothing where MODE does not round the result.
[[nodiscard]] std::optional<unsigned> rounding_shift(std::string_view mnemonic);

/// Whether a floating-point instruction has the same result in every rounding mode: it is exact, rounds in a way of its
/// own, or approximates.
[[nodiscard]] bool is_independent_of_rounding(std::string_view mnemonic);

/// Whether some instruction of a program that starts with this MODE may round other than to nearest even.
[[nodiscard]] bool has_directed_rounding(const Program& program, std::uint32_t float_mode);

/// Called by translated code: 0 to nearest even, 1 up, 2 down, 3 toward zero.
void set_host_rounding(std::uint32_t mode);

}  // namespace softgpu::compute
