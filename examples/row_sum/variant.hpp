// What a row of the table runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

/// Where the matrix is that a kernel reads: the GPU's memory, pinned memory of the host, or locked memory of the host.
enum class Memory : std::uint8_t { device, pinned, locked };

/// One way to add up the rows, or a plain read to compare with. `run_with_copies` leaves the sums in
/// Problem::sums_on_host. So does `run`, but for kernels that read the GPU's memory: in Problem::sums_on_gpu.
struct Variant {
  std::string name;
  std::function<void()> run;              ///< the matrix is where it is read; empty: only the copies are of interest
  std::function<void()> run_with_copies;  ///< the matrix and the sums are the host's; empty: nothing has to be copied
  std::optional<Memory> reads;            ///< the kernel's matrix; nothing for the host's loops
  std::function<bool()> has_read_all{};   ///< of a plain read only: runs it once more
};
