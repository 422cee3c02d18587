#include "softgpu/compute/profile/summary.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace softgpu::compute::profile {
namespace {

std::size_t number_of(Category category) { return static_cast<std::size_t>(category); }

bool has_lanes(Category category) {
  return category == Category::vector || category == Category::memory || category == Category::lds;
}

using AccessKey = std::tuple<Space, Direction, std::uint32_t>;

KernelSummary summary_of(const KernelProfile& kernel) {
  KernelSummary summary;
  summary.name = kernel.name();
  summary.architecture = kernel.architecture();
  summary.lanes = kernel.lanes();
  std::map<AccessKey, std::array<std::uint64_t, shape_count>> accesses;
  bool has_lines = false;
  for (const InstructionCounts* instruction : kernel.instructions()) {
    if (instruction->executions == 0) continue;
    if (instruction->offset == 0) summary.wavefronts += instruction->executions;
    summary.totals.add(*instruction, kernel.lanes());
    for (const Space space : {Space::global, Space::lds, Space::scratch}) {
      const auto& counts = instruction->accesses.at(static_cast<std::size_t>(space));
      if (std::ranges::all_of(counts, [](const Count& count) { return count == 0; })) continue;
      auto& row = accesses[{space, instruction->direction, instruction->bytes}];
      for (std::size_t shape = 0; shape < shape_count; ++shape) row.at(shape) += counts.at(shape);
    }
    has_lines = has_lines || !instruction->line.empty();
    const auto line = std::ranges::find(summary.lines, instruction->line, &LineRow::line);
    LineRow& row = line != summary.lines.end()
                       ? *line
                       : summary.lines.emplace_back(LineRow{.line = instruction->line, .totals = {}});
    row.totals.add(*instruction, kernel.lanes());
  }
  if (!has_lines) summary.lines.clear();
  for (const auto& [key, by_shape] : accesses)
    summary.accesses.push_back({.space = std::get<Space>(key),
                                .direction = std::get<Direction>(key),
                                .bytes = std::get<std::uint32_t>(key),
                                .by_shape = by_shape});
  return summary;
}

}  // namespace

void Totals::add(const InstructionCounts& instruction, std::uint32_t wavefront_size) {
  const std::uint64_t executions = instruction.executions;
  instructions += executions;
  by_category.at(number_of(instruction.category)) += executions;
  if (has_lanes(instruction.category)) {
    lanes += executions * wavefront_size;
    active_lanes += instruction.active_lanes;
  }
  for (const auto& counts : instruction.accesses)
    for (const Count& count : counts) accesses += count;
  scattered +=
      instruction.accesses.at(static_cast<std::size_t>(Space::global)).at(static_cast<std::size_t>(Shape::scattered));
  lds_passes += instruction.lds_passes;
  lds_conflicts += instruction.lds_conflicts;
}

std::vector<KernelSummary> summaries(const Profile& profile) {
  std::vector<KernelSummary> result;
  for (const KernelProfile* kernel : profile.kernels()) {
    KernelSummary summary = summary_of(*kernel);
    if (summary.totals.instructions != 0) result.push_back(std::move(summary));
  }
  return result;
}

const char* word_for(Category category) {
  constexpr std::array words = {"vector", "memory", "lds", "scalar", "scalar_memory", "barrier", "branch", "other"};
  static_assert(words.size() == category_count);
  return words.at(number_of(category));
}
const char* word_for(Space space) {
  return space == Space::global ? "global" : space == Space::lds ? "lds" : "scratch";
}
const char* word_for(Direction direction) {
  return direction == Direction::load ? "load" : direction == Direction::store ? "store" : "atomic";
}
const char* word_for(Shape shape) {
  constexpr std::array words = {"consecutive", "uniform", "strided", "scattered"};
  static_assert(words.size() == shape_count);
  return words.at(static_cast<std::size_t>(shape));
}

}  // namespace softgpu::compute::profile
