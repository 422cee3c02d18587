#include "softgpu/compute/program/program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

#include "softgpu/compute/instruction_set/decoder.hpp"
#include "softgpu/compute/program/scalar_constants.hpp"

namespace softgpu::compute {
namespace {

/// Far beyond any kernel: stops a walk through memory that is not code.
constexpr std::size_t instruction_limit = 1'000'000;

struct Flow {
  bool falls_through = true;
  bool ends_block = false;
  std::optional<std::int64_t> target = std::nullopt;
  bool is_indirect = false;  ///< the last operand says where to
  bool is_call = false;      ///< the next instruction is entered indirectly, by a return or a join
  bool is_fork = false;      ///< so is the target
};

Flow flow_of(const Instruction& instruction) {
  const std::string& mnemonic = instruction.mnemonic;
  if (mnemonic == "s_branch") return {false, true, instruction.branch_target(instruction.operands.at(0))};
  if (mnemonic == "s_cbranch_i_fork")
    return {.ends_block = true,
            .target = instruction.branch_target(instruction.operands.at(1)),
            .is_call = true,
            .is_fork = true};
  if (mnemonic == "s_cbranch_g_fork") return {.ends_block = true, .is_indirect = true, .is_call = true};
  if (mnemonic == "s_cbranch_join") return {.ends_block = true, .is_indirect = true};
  if (mnemonic.starts_with("s_cbranch_") && instruction.operands.size() == 1)
    return {true, true, instruction.branch_target(instruction.operands.at(0))};
  if (mnemonic == "s_call_b64")
    return {.ends_block = true, .target = instruction.branch_target(instruction.operands.at(1)), .is_call = true};
  if (mnemonic == "s_swappc_b64") return {.ends_block = true, .is_indirect = true, .is_call = true};
  if (mnemonic == "s_setpc_b64") return {.falls_through = false, .ends_block = true, .is_indirect = true};
  if (mnemonic.starts_with("s_endpgm") || mnemonic == "s_trap" || mnemonic.starts_with("s_rfe")) return {false, true};
  return {};
}

/// Where a walk through the code begins, and the constants that are known there.
struct Beginning {
  std::int64_t offset;
  ScalarConstants constants;
};

}  // namespace

bool may_close_a_loop(const Instruction& instruction) {
  const Flow flow = flow_of(instruction);
  return flow.is_indirect || (flow.target && *flow.target <= instruction.offset);
}

std::vector<std::int64_t> successors(const Instruction& instruction) {
  const Flow flow = flow_of(instruction);
  std::vector<std::int64_t> offsets;
  if (flow.target) offsets.push_back(*flow.target);
  if (flow.falls_through) offsets.push_back(instruction.offset + instruction.size);
  return offsets;
}

std::size_t read_memory(std::uint64_t address, std::span<std::byte> destination) {
  // An address as a packet names it, not one that this code made.
  auto* source = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  const iovec local = {destination.data(), destination.size()};
  const iovec remote = {source, destination.size()};
  const ssize_t count = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (count >= 0) return static_cast<std::size_t>(count);
  if (errno == EFAULT) return 0;
  std::memcpy(destination.data(), source, destination.size());  // the system call is not allowed here
  return destination.size();
}

std::variant<Program, UnreadableCode> Program::read(std::uint64_t entry, const Target& target, std::int64_t start) {
  bool guessed = false;
  auto program = read(entry, target, start, &guessed);
  // A guess may lead out of the code: constants are carried along paths that are never taken.
  return guessed && std::holds_alternative<UnreadableCode>(program) ? read(entry, target, start, nullptr) : program;
}

std::variant<Program, UnreadableCode> Program::read(std::uint64_t entry, const Target& target, std::int64_t start,
                                                    bool* guessed) {
  Program program;
  program.target = target;
  program.start = start;
  const Disassembler disassembler(target);
  std::map<std::int64_t, std::array<std::byte, Disassembler::longest>> bytes;
  std::vector<Beginning> pending = {{start, {}}};
  program.leaders.insert(start);
  if (start != 0) program.indirect_targets.insert(start);

  const auto add_leader = [&](std::int64_t offset, const ScalarConstants& constants) {
    program.leaders.insert(offset);
    pending.push_back({offset, constants});
  };
  while (!pending.empty()) {
    auto [next, constants] = pending.back();
    pending.pop_back();
    while (!program.instructions.contains(next)) {
      const std::int64_t offset = next;
      if (program.instructions.size() == instruction_limit)
        return UnreadableCode{offset, "the code branches out of the kernel"};
      auto& window = bytes[offset];
      const std::size_t available = read_memory(entry + static_cast<std::uint64_t>(offset), window) & ~std::size_t{3};
      const auto instruction = disassembler.decode(std::span(window).first(available), offset);
      if (!instruction) return UnreadableCode{offset, available == 0 ? "the code is not mapped" : "no instruction"};
      program.instructions.emplace(offset, *instruction);

      const Flow flow = flow_of(*instruction);
      next += instruction->size;
      std::optional<std::uint64_t> address;
      if (flow.is_indirect) {
        program.indirect_targets.insert(start);
        if (guessed != nullptr && !instruction->operands.empty())
          address = constants.pair(instruction->operands.back());
      }
      if (flow.is_call) program.indirect_targets.insert(next);
      if (flow.is_fork) program.indirect_targets.insert(*flow.target);
      constants.follow(*instruction, entry);
      if (address) {  // the function that is called knows where it returns to
        *guessed = true;
        const auto destination = static_cast<std::int64_t>(*address - entry);
        program.indirect_targets.insert(destination);
        add_leader(destination, constants);
      }
      if (flow.target) add_leader(*flow.target, constants);
      if (flow.ends_block && flow.falls_through) add_leader(next, constants);
      if (flow.ends_block) break;
    }
  }

  for (const auto& [offset, instruction] : program.instructions) {
    if (program.pieces.empty() ||
        program.pieces.back().offset + static_cast<std::int64_t>(program.pieces.back().bytes.size()) != offset)
      program.pieces.push_back({offset, {}});
    const auto window = std::span(bytes[offset]).first(instruction.size);
    program.pieces.back().bytes.insert(program.pieces.back().bytes.end(), window.begin(), window.end());
  }
  return program;
}

}  // namespace softgpu::compute
