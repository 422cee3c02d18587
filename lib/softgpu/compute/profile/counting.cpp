#include "softgpu/compute/profile/counting.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace softgpu::compute::profile {
namespace {

constexpr std::uint64_t dword = 4;
constexpr unsigned banks = 32;
constexpr unsigned wave = 64;
constexpr std::uint64_t low_half = 0xffffffff;

bool has(std::uint64_t lanes, unsigned lane) { return (lanes >> lane & 1) != 0; }

void add(Count& count, std::uint64_t by) { count.fetch_add(by, std::memory_order_relaxed); }

std::size_t index(Space space) { return static_cast<std::size_t>(space); }
std::size_t index(Shape shape) { return static_cast<std::size_t>(shape); }

void count_at(InstructionCounts& instruction, std::span<const std::uint64_t, wave> addresses, std::uint64_t lanes,
              Space space) {
  if (lanes == 0) return;
  const Shape shape = space == Space::scratch ? Shape::consecutive : shape_of(addresses, lanes, instruction.bytes);
  add(instruction.accesses.at(index(space)).at(index(shape)), 1);
  if (space != Space::lds) return;
  const LdsCost cost = lds_cost(addresses, lanes, instruction.bytes, instruction.direction);
  add(instruction.lds_passes, cost.passes);
  add(instruction.lds_conflicts, cost.conflicts);
}

/// So many lanes a pass.
unsigned lanes_at_once(std::uint32_t bytes) {
  const auto dwords = static_cast<unsigned>((bytes + dword - 1) / dword);
  return banks / std::bit_ceil(std::max(dwords, 1U));
}

}  // namespace

void add_execution(InstructionCounts* instruction, std::uint64_t lanes) {
  add(instruction->executions, 1);
  add(instruction->active_lanes, static_cast<std::uint64_t>(std::popcount(lanes)));
}

void add_access(InstructionCounts* instruction, const WaveState* state, std::uint64_t lanes, Space space) {
  count_at(*instruction, state->lane_addresses, lanes, space);
}

void add_flat_access(InstructionCounts* instruction, const WaveState* state, std::uint64_t lanes,
                     std::uint64_t offset) {
  std::array<std::uint64_t, wave> addresses{};
  std::array<std::uint64_t, space_count> lanes_of{};
  for (unsigned lane = 0; lane < wave; ++lane) {
    if (!has(lanes, lane)) continue;
    const std::uint64_t address = state->lane_addresses[lane];
    const std::uint64_t aperture = address & ~low_half;
    const Space space = aperture == state->shared_aperture    ? Space::lds
                        : aperture == state->private_aperture ? Space::scratch
                                                              : Space::global;
    addresses.at(lane) = space == Space::lds ? (address & low_half) + offset : address + offset;
    lanes_of.at(index(space)) |= std::uint64_t{1} << lane;
  }
  for (const Space space : {Space::global, Space::lds, Space::scratch})
    count_at(*instruction, addresses, lanes_of.at(index(space)), space);
}

Shape shape_of(std::span<const std::uint64_t, wave> addresses, std::uint64_t lanes, std::uint32_t bytes) {
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const std::uint64_t others = lanes & (lanes - 1);
  if (others == 0) return Shape::uniform;
  const auto second = static_cast<unsigned>(std::countr_zero(others));
  const auto between = static_cast<std::int64_t>(addresses[second] - addresses[first]);
  const std::int64_t lanes_between = second - first;
  if (between % lanes_between != 0) return Shape::scattered;
  const std::int64_t stride = between / lanes_between;
  for (unsigned lane = second; lane < wave; ++lane) {
    if (has(lanes, lane) && static_cast<std::int64_t>(addresses[lane] - addresses[first]) != stride * (lane - first))
      return Shape::scattered;
  }
  if (stride == 0) return Shape::uniform;
  return stride == bytes ? Shape::consecutive : Shape::strided;
}

LdsCost lds_cost(std::span<const std::uint64_t, wave> addresses, std::uint64_t lanes, std::uint32_t bytes,
                 Direction direction) {
  LdsCost cost;
  const unsigned at_once = lanes_at_once(bytes);
  std::vector<std::uint64_t> dwords;
  for (unsigned begin = 0; begin < wave; begin += at_once) {
    dwords.clear();
    for (unsigned lane = begin; lane < begin + at_once; ++lane) {
      if (!has(lanes, lane)) continue;
      const std::uint64_t last = (addresses[lane] + bytes - 1) / dword;
      for (std::uint64_t number = addresses[lane] / dword; number <= last; ++number) dwords.push_back(number);
    }
    if (dwords.empty()) continue;
    if (direction != Direction::atomic) {
      std::sort(dwords.begin(), dwords.end());
      dwords.erase(std::unique(dwords.begin(), dwords.end()), dwords.end());
    }
    std::array<std::uint64_t, banks> turns{};
    for (const std::uint64_t number : dwords) ++turns.at(number % banks);
    ++cost.passes;
    cost.conflicts += std::ranges::max(turns) - 1;
  }
  return cost;
}

}  // namespace softgpu::compute::profile
