// The hardware registers that programs read and set. Translated code has most of MODE built in: an instruction that
// sets MODE goes on in code for the new value.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/execution/wave_place.hpp"
#include "softgpu/compute/instruction_set/mode_register.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/program/program.hpp"
#include "softgpu/compute/run_time/clocks.hpp"
#include "softgpu/compute/run_time/fault_guard.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

/// hwreg(HW_REG_MODE, 4, 2): bits 4 and 5 of a hardware register.
struct HardwareRegister {
  std::string_view name;
  unsigned offset = 0;
  unsigned width = 32;

  static std::optional<HardwareRegister> parse(std::string_view text) {
    if (!text.starts_with("hwreg(") || !text.ends_with(")")) return std::nullopt;
    text = text.substr(6, text.size() - 7);
    HardwareRegister result;
    const std::size_t comma = text.find(',');
    result.name = text.substr(0, comma);
    if (comma == std::string_view::npos) return result;
    Modifier rest;
    for (const char c : text.substr(comma + 1))
      if (c != ' ') rest.text += c;
    const auto numbers = rest.numbers();
    if (numbers.size() != 2) return std::nullopt;
    result.offset = static_cast<unsigned>(numbers[0]);
    result.width = static_cast<unsigned>(numbers[1]);
    return result;
  }
  [[nodiscard]] std::uint32_t low_bits() const { return width == 32 ? ~0U : (1U << width) - 1; }
  [[nodiscard]] std::uint32_t mask() const { return low_bits() << offset; }
};

HardwareRegister register_of(Emitter& e, const Operand& operand) {
  const auto parsed = HardwareRegister::parse(operand.text);
  if (!parsed) e.unsupported();
  return *parsed;
}

/// SH_MEM_BASES: bits 63 to 48 of the private and of the shared aperture.
Value* memory_bases(Emitter& e) {
  const auto top = [&](std::size_t offset) { return e.ir.CreateLShr(e.field(offset, e.i64()), 48); };
  Value* both = e.ir.CreateOr(top(offsetof(WaveState, private_aperture)),
                              e.ir.CreateShl(top(offsetof(WaveState, shared_aperture)), 16));
  return e.ir.CreateTrunc(both, e.i32());
}

Value* mode(Emitter& e) {
  const std::uint32_t built_in = e.known_mode.current() | (e.indexing.is_on() ? mode_register::indexes_gprs : 0);
  return e.ir.CreateOr(e.ir.CreateAnd(e.mode_register(), ~mode_register::translated), built_in);
}

/// STATUS: what the program itself knows, that the wavefront is VALID, and whether it is one of several (IN_TG).
Value* status(Emitter& e) {
  const auto bit = [&](Value* condition, unsigned place) {
    return e.ir.CreateShl(e.ir.CreateZExt(condition, e.i32()), place);
  };
  e.asks_for_place();
  Value* in_group = e.call(reinterpret_cast<const void*>(&is_in_work_group), e.i32(), {e.state()});
  Value* result = e.ir.CreateOr(e.ir.getInt32(1U << 16), e.ir.CreateShl(in_group, 11));
  result = e.ir.CreateOr(result, bit(e.scc(), 0));
  result = e.ir.CreateOr(result, bit(e.ir.CreateIsNull(e.exec()), 9));
  return e.ir.CreateOr(result, bit(e.ir.CreateIsNull(e.vcc()), 10));
}

Value* shader_cycles(Emitter& e) {
  constexpr std::uint64_t twenty_bits = 0xfffff;
  Value* clock = e.call(reinterpret_cast<const void*>(&runtime::shader_clock), e.i64(), {});
  return e.ir.CreateTrunc(e.ir.CreateAnd(clock, twenty_bits), e.i32());
}

Value* place(Emitter& e, PlaceRegister which) {
  e.asks_for_place();
  return e.call(reinterpret_cast<const void*>(&place_register), e.i32(),
                {e.state(), e.ir.getInt32(static_cast<std::uint32_t>(which))});
}

/// The value of a register of the ISA manuals' tables; null if the architecture has no register of that name. Counters
/// and samples of things that the soft GPU lacks are 0: outstanding instructions, exceptions, trap handlers, snapshots.
Value* value_of(Emitter& e, std::string_view name) {
  constexpr std::string_view zeros[] = {"HW_REG_TRAPSTS", "HW_REG_IB_STS", "HW_REG_TBA_LO", "HW_REG_TBA_HI",
                                        "HW_REG_TMA_LO",  "HW_REG_TMA_HI", "HW_REG_XCC_ID", "HW_REG_POPS_PACKER"};
  if (name == "HW_REG_MODE") return mode(e);
  if (name == "HW_REG_STATUS") return status(e);
  if (name == "HW_REG_SH_MEM_BASES") return memory_bases(e);
  if (name == "HW_REG_GPR_ALLOC") return place(e, PlaceRegister::gpr_alloc);
  if (name == "HW_REG_LDS_ALLOC") return place(e, PlaceRegister::lds_alloc);
  if (name == "HW_REG_HW_ID" && e.architecture().has_hw_id) return place(e, PlaceRegister::hw_id);
  if (name == "HW_REG_HW_ID" || name == "HW_REG_HW_ID1") return place(e, PlaceRegister::hw_id1);
  if (name == "HW_REG_HW_ID2") return place(e, PlaceRegister::hw_id2);
  if (name == "HW_REG_SHADER_CYCLES") return shader_cycles(e);
  if (name == "HW_REG_FLAT_SCR_LO") return e.sgpr(scalar_register::hidden_flat_scratch);
  if (name == "HW_REG_FLAT_SCR_HI") return e.sgpr(scalar_register::hidden_flat_scratch + 1);
  const bool is_zero = std::ranges::find(zeros, name) != std::end(zeros) || name.starts_with("HW_REG_SQ_PERF_SNAPSHOT");
  return is_zero ? e.ir.getInt32(0) : nullptr;
}

void get_register(Emitter& e, const Instruction& i) {
  const HardwareRegister source = register_of(e, i.operands.at(1));
  Value* value = value_of(e, source.name);
  if (value == nullptr) e.unsupported();
  e.set_scalar(i.operands.at(0), e.ir.CreateAnd(e.ir.CreateLShr(value, source.offset), source.low_bits()));
}

/// The modes that differ from the present one in `mask` only.
std::vector<std::uint32_t> all_modes(std::uint32_t present, std::uint32_t mask) {
  std::vector<std::uint32_t> modes;
  std::uint32_t subset = 0;
  do {
    modes.push_back((present & ~mask) | subset);
    subset = (subset - mask) & mask;  // the next number made of these bits
  } while (subset != 0);
  return modes;
}

/// So many bits may have any value: each has code of its own from there on.
constexpr int most_free_bits = 4;

bool may_be_any(std::uint32_t bits) { return std::popcount(bits) <= most_free_bits; }

/// Copies the bits of `mask` from `bits` (i32), and goes on in the code for the new value.
void set_mode(Emitter& e, const Instruction& i, Value* bits, std::uint32_t mask) {
  Value* kept = e.ir.CreateAnd(e.mode_register(), ~mask);
  e.set_mode_register(e.ir.CreateOr(kept, e.ir.CreateAnd(bits, mask)));
  const std::uint32_t deciding = mask & mode_register::translated;
  if (deciding == 0) return;
  const std::uint32_t present = e.known_mode.current();
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(bits)) {
    const auto value = static_cast<std::uint32_t>(constant->getZExtValue());
    if ((value & deciding & mode_register::indexes_gprs) != 0) e.unsupported("VGPRs become indexed");
    e.known_mode.set_current((present & ~deciding) | (value & deciding));
    return;
  }

  std::set<std::uint32_t> modes;
  if (may_be_any(deciding)) {
    const auto all = all_modes(present, deciding);
    modes.insert(all.begin(), all.end());
  } else {
    for (const std::uint32_t known : e.known_mode.possible()) modes.insert((present & ~deciding) | (known & deciding));
  }
  llvm::BasicBlock* refused = e.new_block("refused");
  Value* wanted = e.ir.CreateAnd(bits, deciding);
  llvm::SwitchInst* choice = e.ir.CreateSwitch(wanted, refused, static_cast<unsigned>(modes.size()));
  for (const std::uint32_t mode : modes) {
    if ((mode & mode_register::indexes_gprs) != 0) continue;
    e.known_mode.set_current(mode);
    choice->addCase(e.ir.getInt32(mode & deciding), e.block_at(i.offset + i.size));
  }
  e.known_mode.set_current(present);
  e.ir.SetInsertPoint(refused);
  e.call(reinterpret_cast<const void*>(&refuse_mode), e.ir.getVoidTy(),
         {e.ir.getInt64(static_cast<std::uint64_t>(i.offset))});
  e.ir.CreateUnreachable();
}

void set_register(Emitter& e, const Instruction& i) {
  const HardwareRegister target = register_of(e, i.operands.at(0));
  if (target.name != "HW_REG_MODE") e.unsupported();
  set_mode(e, i, e.ir.CreateShl(e.scalar(i.operands.at(1)), target.offset), target.mask());
}

/// One bit of the first operand, which the second one names.
void set_vskip(Emitter& e, const Instruction& i) {
  Value* place = e.ir.CreateAnd(e.scalar(i.operands.at(1)), 31);
  Value* bit = e.ir.CreateAnd(e.ir.CreateLShr(e.scalar(i.operands.at(0)), place), 1);
  set_mode(e, i, e.ir.CreateShl(bit, std::countr_zero(mode_register::vskip)), mode_register::vskip);
}

}  // namespace

std::set<std::uint32_t> modes_of_constants(const Program& program, std::uint32_t initial) {
  constexpr std::size_t enough = 64;
  std::set<std::uint32_t> modes = {initial};
  for (bool grew = true; grew && modes.size() < enough;) {
    grew = false;
    for (const auto& [offset, instruction] : program.instructions) {
      if (instruction.mnemonic != "s_setreg_imm32_b32" || instruction.operands.size() != 2) continue;
      const auto target = HardwareRegister::parse(instruction.operands[0].text);
      if (!target || target->name != "HW_REG_MODE") continue;
      const std::uint32_t mask = target->mask() & mode_register::translated;
      const auto bits = static_cast<std::uint32_t>(instruction.operands[1].value) << target->offset;
      for (const std::uint32_t mode : std::set<std::uint32_t>(modes))
        grew = modes.insert((mode & ~mask) | (bits & mask)).second || grew;
    }
  }
  return modes;
}

bool may_skip(const Program& program, const std::set<std::uint32_t>& modes) {
  if (std::ranges::any_of(modes, [](std::uint32_t mode) { return (mode & mode_register::vskip) != 0; })) return true;
  return std::ranges::any_of(program.instructions, [](const auto& item) {
    const Instruction& instruction = item.second;
    if (instruction.mnemonic != "s_setreg_b32" || instruction.operands.empty()) return false;
    const auto target = HardwareRegister::parse(instruction.operands[0].text);
    return target && target->name == "HW_REG_MODE" && (target->mask() & mode_register::vskip) != 0 &&
           may_be_any(target->mask() & mode_register::translated);
  });
}

void refuse_mode(std::int64_t offset) {
  FaultGuard::exit({.cause = EarlyExit::Cause::unknown_mode, .instruction = static_cast<std::uint64_t>(offset)});
}

void add_hardware_registers(HandlerTable& table) {
  table.add("s_getreg_b32", get_register);
  table.add("s_setreg_b32", set_register);
  table.add("s_setreg_imm32_b32", set_register);
  table.add("s_setvskip", set_vskip);
}

}  // namespace softgpu::compute
