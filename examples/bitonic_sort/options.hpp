// The command line of bitonic_sort.
#pragma once

#include "program.hpp"

#include <fastdispatch/batch.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

/// Where the kernels' completion signals, or the blocks of their arguments, come from. Kernels that the host waits for
/// one by one share one.
enum class Origin : std::uint8_t {
  each_kernel,  ///< made for each kernel, and destroyed
  each_sort,    ///< made in each sort, and shared by its kernels
  pool,         ///< on loan from a pool of the library's
  kept,         ///< made before the first sort
};

/// Unnecessary costs of a dispatch, each switched off by one flag.
struct Optimizations {
  Origin signal = Origin::each_sort;
  Origin kernargs = Origin::each_sort;
  bool no_host_sync = false;  ///< the barrier bit orders the kernels; the host waits for the last one only
  fastdispatch::Fences fences = fastdispatch::Fences::conservative;
  bool pinned_host = false;  ///< the host's array in memory that the GPU can reach
  bool replay = false;       ///< everything recorded in a batch once, and submitted again
};

enum class Order : std::uint32_t { descending = 0, ascending = 1 };  ///< as the kernel takes it

struct Options {
  Optimizations optimizations;
  bool ablation = false;
  std::size_t length = 32768;
  std::uint32_t seed = 1;
  Order order = Order::ascending;
  std::optional<std::filesystem::path> input;
  std::optional<std::filesystem::path> output;
  std::optional<std::filesystem::path> plot;
  CommonOptions common;
  bool print_progress = false;
};

/// The largest array that the kernel's 32-bit byte offsets reach.
inline constexpr std::size_t longest = std::size_t{1} << 30;

/// Ends the program after --help, and with exit code 2 after a usage error.
[[nodiscard]] Options parse_command_line(int argc, char** argv);
