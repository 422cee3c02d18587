// Which handler emits which mnemonic. The families of instructions fill it for the emitter.
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
  /// `mnemonic` is without the encoding's suffix: v_add_u32 stands for its e32, e64, sdwa and dpp forms.
  void add(std::string mnemonic, Handler handler) {
    handlers_.insert_or_assign(std::move(mnemonic), std::move(handler));
  }

  /// Null if no handler has the mnemonic.
  [[nodiscard]] const Handler* find(const std::string& mnemonic) const {
    const auto found = handlers_.find(mnemonic);
    return found == handlers_.end() ? nullptr : &found->second;
  }

private:
  std::unordered_map<std::string, Handler> handlers_;
};

}  // namespace softgpu::compute
