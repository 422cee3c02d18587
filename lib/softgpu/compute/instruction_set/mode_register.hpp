// The MODE register: which of its bits translated code depends on, and which values they can have.
#pragma once

#include <cstdint>
#include <set>

namespace softgpu::compute {

struct Program;

namespace mode_register {
inline constexpr std::uint32_t fp16_overflow = 1U << 23;  ///< halves that overflow become the greatest number
inline constexpr std::uint32_t indexes_gprs = 1U << 27;
inline constexpr std::uint32_t vskip = 1U << 28;  ///< vector instructions are skipped
inline constexpr unsigned stack_shift = 29;       ///< depth of the stack of forks
/// Rounding, denormals, DX10_CLAMP and IEEE, and the bits above.
inline constexpr std::uint32_t translated = 0x3ff | fp16_overflow | indexes_gprs | vskip;
}  // namespace mode_register

/// The modes that a program can be in if it changes MODE by constants, or back to one of these; of very many, some.
[[nodiscard]] std::set<std::uint32_t> modes_of_constants(const Program& program, std::uint32_t initial);
/// Whether it may set VSKIP. `modes` are those of its constants.
[[nodiscard]] bool may_skip(const Program& program, const std::set<std::uint32_t>& modes);

/// Called by translated code, does not return: an instruction sets MODE to a value for which there is no code.
[[noreturn]] void refuse_mode(std::int64_t offset);

}  // namespace softgpu::compute
