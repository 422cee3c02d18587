// Why translated code was left before its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace softgpu::compute {

/// Why the host refused an access to memory.
enum class Refusal : std::uint8_t {
  not_mapped,  ///< or reserved without any access, as the soft GPU's window of addresses and guard pages are
  read_only,   ///< a write to memory that may only be read
  no_memory,   ///< there are pages of a file, which has become shorter
};

struct EarlyExit {
  enum class Cause {
    memory_fault,
    foreign_memory,          ///< the program's, which the GPU was not given
    impossible_address,      ///< not canonical: the processor does not say which
    private_memory_overrun,  ///< an offset within a lane's private memory that it does not have
    split_private_atomic,    ///< on private memory, of more than the dword that lies in one piece
    trap,
    cancelled,
    interrupted,       ///< by another thread
    unknown_mode,      ///< MODE was set to a value that the translated code has not got
    unknown_resource,  ///< a descriptor of an image, sampler or buffer tells of what the soft GPU has not got
  };
  Cause cause;
  /// memory_fault, foreign_memory: the accessed address; split_private_atomic: the offset
  std::uint64_t address = 0;
  /// The instruction's offset from the kernel's entry: of trap and unknown_mode, and where the translated code tells
  /// it.
  std::optional<std::uint64_t> instruction{};
  Refusal refusal = Refusal::not_mapped;  ///< memory_fault: why
  std::uint32_t lane = 0;                 ///< of private memory: of the wavefront
  std::uint32_t private_bytes = 0;        ///< of private memory: how much the lane has
  const char* resource = nullptr;         ///< unknown_resource: what
  std::uint64_t host_address = 0;         ///< in the translated code that was left, of what it did; 0: not known
};

/// "address 0x1000 is not mapped": what was wrong with an access to memory, for a person.
[[nodiscard]] std::string refusal_text(const EarlyExit& exit);

}  // namespace softgpu::compute
