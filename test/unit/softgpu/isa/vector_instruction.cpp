#include "vector_instruction.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include "vector_form.hpp"

namespace softgpu::isa {
namespace {

/// Makes the forms of one instruction. What varies between instructions of one encoding (constants, selectors, DPP
/// controls) is picked by the mnemonic, so that a table as a whole covers everything.
class Forms {
public:
  Forms(const VectorInstruction& instruction, Depth depth)
      : instruction_(instruction), depth_(depth), pick_(std::hash<std::string>()(instruction.mnemonic)) {}

  std::vector<Case> cases() {
    if (instruction_.encoding == Encoding::vop3) {
      add_vop3("");
    } else {
      if (has(Form::e32)) add_e32();
      if (has(Form::e64)) add_vop3("_e64");
      if (has(Form::sdwa) && all_sources_fit_sdwa()) add_sdwa();
      if (has(Form::dpp) && instruction_.encoding != Encoding::vopc && all_sources_fit_sdwa()) add_dpp();
    }
    std::vector<Case> made;
    made.reserve(forms_.size());
    for (const VectorForm& form : forms_) made.push_back(case_of(instruction_, form));
    return made;
  }

private:
  [[nodiscard]] bool has(Form form) const { return !instruction_.missing.contains(form); }
  [[nodiscard]] const Operation& operation() const { return instruction_.operation; }
  [[nodiscard]] std::size_t source_count() const { return operation().sources.size(); }
  [[nodiscard]] bool all_sources_fit_sdwa() const {
    const auto fits = [](Type type) { return bytes_of(type) <= 4; };
    return std::all_of(operation().sources.begin(), operation().sources.end(), fits) && fits(operation().result);
  }

  [[nodiscard]] VectorForm in_registers(const std::string& suffix) const {
    VectorForm form{.suffix = suffix};
    for (std::size_t i = 0; i < source_count(); ++i)
      form.sources.push_back(vgpr(operation().sources[i], static_cast<unsigned>(2 * i)));
    return form;
  }
  [[nodiscard]] VectorOperand scalar(std::size_t source) const {
    return sgpr(operation().sources[source], first_source_sgpr + static_cast<unsigned>(2 * source));
  }
  VectorForm& add(VectorForm form) { return forms_.emplace_back(std::move(form)); }
  VectorForm& add_with(const std::string& suffix, std::size_t source, VectorOperand operand) {
    VectorForm form = in_registers(suffix);
    form.sources[source] = std::move(operand);
    return add(std::move(form));
  }

  [[nodiscard]] int some_integer() const {
    constexpr std::array<int, 10> values = {64, -16, 0, -1, 1, 17, 31, 32, 63, -5};
    return values.at(pick_ % values.size());
  }
  [[nodiscard]] double some_float() const {
    constexpr std::array<double, 8> values = {0.5, -0.5, 1, -1, 2, -2, 4, -4};
    return values.at(pick_ / 10 % values.size());
  }
  [[nodiscard]] u32 some_literal(Type type) const {
    if (bytes_of(type) == 2) return 0x3456;
    if (type == Type::float32) return 0x40490fdb;
    return type == Type::float64 ? 0x400921fb : 0x12345678;
  }
  /// A condition in VCC or an SGPR pair is already the one scalar that an instruction may read.
  [[nodiscard]] bool takes_scalars() const { return has(Form::scalar) && !operation().reads_condition; }
  [[nodiscard]] static bool takes_inline_float(Type type) { return is_float(type) || bytes_of(type) == 4; }

  void add_e32() {
    add(in_registers("_e32"));
    if (source_count() == 0) return;
    const Type type = operation().sources[0];
    if (takes_scalars()) add_with("_e32", 0, scalar(0));
    if (has(Form::constant)) {
      add_with("_e32", 0, inline_integer(type, some_integer()));
      if (takes_inline_float(type)) add_with("_e32", 0, inline_float(type, some_float()));
      if (has(Form::literal) && takes_scalars()) {
        add_with("_e32", 0, literal(type, some_literal(type)));
        if (type == Type::int64 || type == Type::uint64) add_with("_e32", 0, literal(type, 0x87654321));
      }
    }
    add_in_place("_e32");
  }

  /// The result replaces one of the sources.
  void add_in_place(const std::string& suffix) {
    const std::size_t source = source_count() - 1;
    if (!has(Form::in_place)) return;
    if (!operation().writes_value || registers_of(operation().result) != registers_of(operation().sources[source]))
      return;
    VectorForm& form = add(in_registers(suffix));
    form.result = form.sources[source].first;
  }

  /// The same with a constant as the first of three sources.
  void add_in_place_of_one_of_two(const std::string& suffix) {
    if (!has(Form::in_place) || !has(Form::constant) || !operation().writes_value || source_count() != 3) return;
    for (const std::size_t source : {1U, 2U}) {
      if (registers_of(operation().result) != registers_of(operation().sources[source])) continue;
      VectorForm& form = add_with(suffix, 0, inline_integer(operation().sources[0], some_integer()));
      form.result = form.sources[source].first;
    }
  }

  void add_vop3(const std::string& suffix) {
    VectorForm& plain = add(in_registers(suffix));
    plain.mask_in_vcc = plain.mask_out_vcc = instruction_.implicit_vcc;
    add_vop3_scalars(suffix);
    if (suffix.empty()) {
      add_in_place(suffix);
      add_in_place_of_one_of_two(suffix);
    }
    if (has(Form::modifiers)) add_modifiers(suffix);
    if (instruction_.has_op_sel) add_op_sel();
  }

  void add_vop3_scalars(const std::string& suffix) {
    for (std::size_t i = 0; i < source_count(); ++i) {
      const Type type = operation().sources[i];
      if (takes_scalars()) add_with(suffix, i, scalar(i));
      if (!has(Form::constant) || i + 1 != source_count()) continue;
      add_with(suffix, i, inline_integer(type, some_integer()));
      if (takes_inline_float(type)) add_with(suffix, i, inline_float(type, some_float()));
    }
    if (source_count() < 2 || !takes_scalars()) return;
    if (bytes_of(operation().sources[0]) == bytes_of(operation().sources[1])) {
      VectorForm& twice = add(in_registers(suffix));  // two operands may be one SGPR, but not two SGPRs
      twice.sources[0] = scalar(0);
      twice.sources[1] = sgpr(operation().sources[1], twice.sources[0].first);
    }
  }

  void add_modifiers(const std::string& suffix) {
    for (std::size_t i = 0; i < source_count(); ++i) {
      if (!is_float(operation().sources[i])) continue;
      VectorForm& form = add(in_registers(suffix));
      form.sources[i].negate = (pick_ + i) % 3 != 0;
      form.sources[i].absolute = (pick_ + i) % 3 != 1;
    }
    if (!is_float(operation().result) || !operation().writes_value || !has(Form::clamp)) return;
    add(in_registers(suffix)).clamp = true;
  }

  void add_op_sel() {
    for (unsigned choice = 1; choice < 4; ++choice) {
      VectorForm& form = add(in_registers(""));
      for (std::size_t i = 0; i < source_count(); ++i)
        form.high_halves.push_back(bytes_of(operation().sources[i]) == 2 && (choice >> i % 2 & 1) != 0);
      form.result_in_high_half = choice != 2 && bytes_of(operation().result) == 2;
    }
  }

  void add_sdwa() {
    constexpr std::array<Select, 6> parts = {Select::byte_0, Select::byte_1, Select::byte_2,
                                             Select::byte_3, Select::word_0, Select::word_1};
    const unsigned count = depth_ == Depth::all ? 24 : 4;
    for (unsigned n = 0; n < count; ++n) {
      VectorForm& form = add(in_registers("_sdwa"));
      for (std::size_t i = 0; i < source_count(); ++i) {
        VectorOperand& source = form.sources[i];
        const std::size_t choice = pick_ + n * 5 + i * 3;
        if (source.type == Type::float16)
          source.select = choice % 2 == 0 ? Select::word_1 : Select::word_0;
        else if (source.type != Type::float32)
          source.select = parts.at(choice % parts.size());
        if (is_float(source.type) && has(Form::modifiers)) {
          source.negate = choice % 3 == 1;
          source.absolute = choice % 4 == 1;
        } else if (!is_float(source.type)) {
          source.sign_extend = has(Form::modifiers) && choice / 2 % 2 == 0;
        }
      }
      if (n % 4 == 1 && takes_scalars()) {  // an SGPR may take a vector register's place
        const VectorOperand vector = form.sources[0];
        form.sources[0] = scalar(0);
        form.sources[0].select = vector.select;
        form.sources[0].sign_extend = vector.sign_extend;
      }
      if (!operation().writes_value) continue;
      // Part of a NaN says nothing, so floating-point results stay whole.
      const std::size_t choice = pick_ / 6 + n;
      if (operation().result == Type::float16)
        form.select = choice % 2 == 0 ? Select::word_1 : Select::word_0;
      else if (operation().result != Type::float32)
        form.select = n % 4 == 3 ? Select::dword : parts.at(choice % parts.size());
      form.unused = static_cast<Unused>(n % 3);
      if (is_float(operation().result) && form.unused == Unused::sign_extend) form.unused = Unused::preserve;
      if (form.select == Select::dword) form.unused = Unused::pad;
      if (operation().reads_old) form.unused = Unused::preserve, form.select = Select::dword;
    }
  }

  void add_dpp() {
    const auto& controls = dpp_controls();
    const std::size_t count = depth_ == Depth::all ? 2 * controls.size() : 3;
    for (std::size_t n = 0; n < count; ++n) {
      VectorForm& form = add(in_registers("_dpp"));
      Dpp dpp{.control = controls[(pick_ + n) % controls.size()], .bound_control = n % 2 == 0};
      if (operation().writes_mask)
        dpp.bound_control = true;  // a carry-out of a disabled lane is not defined
      else if (n % 3 == 1)
        dpp.row_mask = 0xa, dpp.bank_mask = 0x7;
      form.dpp = std::move(dpp);
      if (is_float(form.sources[0].type) && has(Form::modifiers)) {
        form.sources[0].negate = n % 2 == 0;
        form.sources[0].absolute = n % 3 == 0;
      }
    }
  }

  const VectorInstruction& instruction_;
  Depth depth_;
  std::size_t pick_;
  std::vector<VectorForm> forms_;
};

}  // namespace

VectorInstruction VectorInstruction::without(std::set<Form> forms) const {
  VectorInstruction made = *this;
  made.missing.merge(forms);
  return made;
}
VectorInstruction VectorInstruction::within(Tolerance allowed) const {
  VectorInstruction made = *this;
  made.tolerance = allowed;
  return made;
}
VectorInstruction VectorInstruction::with_implicit_vcc() const {
  VectorInstruction made = *this;
  made.implicit_vcc = true;
  return made;
}
VectorInstruction VectorInstruction::with_op_sel() const {
  VectorInstruction made = *this;
  made.has_op_sel = true;
  return made;
}
VectorInstruction VectorInstruction::constrained(std::function<u64(std::size_t, u64)> function) const {
  VectorInstruction made = *this;
  made.constrain = std::move(function);
  return made;
}
VectorInstruction VectorInstruction::with_suffix(std::string text) const {
  VectorInstruction made = *this;
  made.suffix = std::move(text);
  return made;
}

std::string test_name(const VectorInstruction& instruction) {
  std::string name = instruction.mnemonic;
  for (const char letter : instruction.suffix)
    name += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  return name;
}

std::vector<Case> cases_of(const VectorInstruction& instruction, Depth depth) {
  return Forms(instruction, depth).cases();
}

}  // namespace softgpu::isa
