// Which handler emits which mnemonic. Each instruction family adds its own; none knows another.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace softgpu::compute {

class Emitter;
struct Instruction;

using Handler = std::function<void(Emitter&, const Instruction&)>;

class HandlerTable {
public:
  /// Every family of gfx90a. Built once, immutable after.
  static const HandlerTable& gfx90a();
  /// The same with what CDNA3 added.
  static const HandlerTable& gfx942();
  /// gfx90a's with what RDNA2 and RDNA3 added. What they lack does no harm: the decoder does not find it.
  static const HandlerTable& rdna();

  /// `mnemonic` is without the encoding's suffix: v_add_u32 stands for its e32, e64, sdwa and dpp forms.
  void add(std::string mnemonic, Handler handler) {
    handlers_.insert_or_assign(std::move(mnemonic), std::move(handler));
  }

  /// Null where nobody handles the mnemonic.
  [[nodiscard]] const Handler* find(const std::string& mnemonic) const {
    const auto found = handlers_.find(mnemonic);
    return found == handlers_.end() ? nullptr : &found->second;
  }

private:
  std::unordered_map<std::string, Handler> handlers_;
};

// The families, each in the source file of its name.
void add_scalar_alu(HandlerTable& table);
void add_control_flow(HandlerTable& table);
void add_hardware_registers(HandlerTable& table);
void add_vector_integer(HandlerTable& table);
void add_vector_wide_integer(HandlerTable& table);
void add_vector_float(HandlerTable& table);
void add_vector_double(HandlerTable& table);
void add_vector_half(HandlerTable& table);
void add_vector_compare(HandlerTable& table);
void add_vector_packed(HandlerTable& table);
void add_conversions(HandlerTable& table);
void add_cross_lane(HandlerTable& table);
void add_register_indexing(HandlerTable& table);  ///< after add_vector_integer
void add_scalar_memory(HandlerTable& table);
void add_flat_memory(HandlerTable& table);
void add_buffer_memory(HandlerTable& table);
void add_lds_memory(HandlerTable& table);
void add_matrix_instructions(HandlerTable& table);
void add_cdna3_instructions(HandlerTable& table);
void add_rdna_instructions(HandlerTable& table);  ///< after all others, some of which it wraps

}  // namespace softgpu::compute
