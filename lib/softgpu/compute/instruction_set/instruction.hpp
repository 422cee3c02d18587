// One decoded instruction, in the terms of the assembler's syntax (LLVM's "Syntax of GFX90a Instructions").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softgpu::compute {

/// Scalar registers by the number they have in an instruction's operand field.
namespace scalar_register {
inline constexpr unsigned flat_scratch = 102;
inline constexpr unsigned xnack_mask = 104;
inline constexpr unsigned vcc = 106;
inline constexpr unsigned ttmp6 = 114;  ///< ttmp7 and ttmp9 have the work-group's ids on RDNA4
inline constexpr unsigned m0 = 124;
inline constexpr unsigned exec = 126;
/// FLAT_SCRATCH where it is no scalar register: no operand has this number.
inline constexpr unsigned hidden_flat_scratch = 128;
inline constexpr unsigned count = 130;
}  // namespace scalar_register

/// AGPR n is vector register 256 + n: gfx90a has one file of 512 registers.
inline constexpr unsigned first_agpr = 256;
inline constexpr unsigned vector_register_count = 512;

struct Operand {
  enum class Kind : std::uint8_t {
    scalar,   ///< s3, s[4:5], vcc, exec_lo, m0: `index` is the register's number, `dwords` how many
    vector,   ///< v3, v[4:7], a2: `index` as above
    integer,  ///< an inline integer or a literal: `value`
    real,     ///< an inline floating-point constant: `real`, whose bits depend on the width it is read with
    null,     ///< null: reads as 0, and drops writes
    symbol,   ///< anything else, as written: off, src_shared_base, hwreg(HW_REG_MODE, 0, 4), vmcnt(0)
  };
  Kind kind = Kind::symbol;
  unsigned index = 0;
  unsigned dwords = 1;
  std::int64_t value = 0;
  double real = 0;
  bool is_literal = false;     ///< integer: printed in hexadecimal, hence a 32-bit literal (or a memory offset)
  bool negated = false;        ///< -v0, neg(1.0)
  bool absolute = false;       ///< |v0|
  bool sign_extend = false;    ///< sext(v0), of SDWA
  bool is_upper_half = false;  ///< v0.h; v0.l is as v0
  std::string text;            ///< the operand as written

  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  [[nodiscard]] bool is_vector() const { return kind == Kind::vector; }
  [[nodiscard]] bool is(std::string_view symbol) const { return text == symbol; }
};

/// What follows the operands: `glc`, `offset:16`, `op_sel:[0,1]`, `dst_sel:BYTE_0`.
struct Modifier {
  std::string name;
  std::string text;           ///< the text behind the colon, if any
  mutable bool read = false;  ///< in the copy that a handler gets; the decoded instruction does not change

  /// The numbers of `16`, `0xf` or `[0,1,2]`.
  [[nodiscard]] std::vector<std::int64_t> numbers() const;
};

enum class Encoding : std::uint8_t { plain, e32, e64, sdwa, dpp };

struct Instruction {
  std::int64_t offset = 0;        ///< from the kernel's entry; functions may stand before it
  std::uint32_t size = 0;         ///< in bytes
  std::uint32_t first_dword = 0;  ///< of the encoding, for fields that the text gives as symbols
  std::uint32_t second_dword = 0;
  std::string mnemonic;  ///< without the encoding's suffix
  Encoding encoding = Encoding::plain;
  std::vector<Operand> operands;
  std::vector<Modifier> modifiers;
  std::vector<Instruction> halves;  ///< of a VOPD instruction: both read their sources before either writes
  std::string text;                 ///< as the disassembler printed it

  /// Whether a modifier is there. Asking marks it as read: a modifier that no handler asked for refuses the
  /// instruction.
  [[nodiscard]] bool has(std::string_view modifier) const;
  /// The number of `name:number`, or `otherwise`.
  [[nodiscard]] std::int64_t number(std::string_view modifier, std::int64_t otherwise = 0) const;
  /// The text of `name:text`, or nothing.
  [[nodiscard]] std::optional<std::string_view> word(std::string_view modifier) const;
  /// Element `index` of `name:[...]`, or `otherwise` where the modifier or the element is missing.
  [[nodiscard]] std::int64_t element(std::string_view modifier, std::size_t index, std::int64_t otherwise) const;

  /// Where a relative branch with this instruction's 16-bit word offset goes, from the kernel's entry.
  [[nodiscard]] std::int64_t branch_target(const Operand& words) const;
};

}  // namespace softgpu::compute
