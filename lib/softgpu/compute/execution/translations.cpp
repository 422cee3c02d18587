#include "softgpu/compute/execution/translations.hpp"

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/SHA256.h>

#include "softgpu/compute/host_code/code_lines.hpp"
#include "softgpu/compute/host_code/translator.hpp"

namespace softgpu::compute {
namespace {

/// Everything that translate() and the code generator see. The instructions' text is in it, because the translator
/// works on the text: another disassembler may read the same bytes otherwise.
class KeyMaker {
public:
  void add(std::string_view text) {
    add(text.size());
    hash_.update(llvm::StringRef(text.data(), text.size()));
  }
  void add(std::uint64_t number) {
    std::array<std::uint8_t, 8> bytes;
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(std::exchange(number, number >> 8));
    hash_.update(bytes);
  }
  void add(const std::set<std::int64_t>& offsets) {
    add(offsets.size());
    for (const std::int64_t offset : offsets) add(static_cast<std::uint64_t>(offset));
  }
  [[nodiscard]] KernelCache::Key key() { return hash_.final(); }

private:
  llvm::SHA256 hash_;
};

KernelCache::Key key_of(const std::string& identity, const Program& program, std::uint32_t float_mode) {
  KeyMaker maker;
  maker.add(identity);
  maker.add(program.target.architecture->name);
  maker.add(program.target.wavefront_size);
  maker.add(program.target.vector_registers);
  maker.add(float_mode);
  maker.add(static_cast<std::uint64_t>(program.start));
  maker.add(program.leaders);
  maker.add(program.indirect_targets);
  maker.add(program.pieces.size());
  for (const Program::Piece& piece : program.pieces) {
    maker.add(static_cast<std::uint64_t>(piece.offset));
    maker.add(std::string_view(reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size()));
  }
  for (const auto& [offset, instruction] : program.instructions) maker.add(instruction.text);
  return maker.key();
}

// A file has a byte that tells what the code may wait for, then the object file.
char byte_of(WaitsFor what) { return static_cast<char>('0' + static_cast<int>(what)); }
WaitsFor of_byte(char byte) { return static_cast<WaitsFor>(byte - '0'); }

}  // namespace

Translations::Translations(const EngineOptions& options)
    : jit_(options.cpu, options.optimize), caches_(options.caches),
      cache_(options.cache_folder, options.cache_bytes, options.log, options.warn), log_(options.log) {
  if (cache_.is_on()) identity_ = jit_.identity();
  if (!identity_.empty() && caches_ == Caches::kept) identity_ += "\nthrough caches";
}

void Translations::log(const Program& program, const char* what) const {
  if (log_) log_("kernel of " + std::to_string(program.instructions.size()) + " instructions: " + what);
}

EmitOptions Translations::options(bool lines, profile::KernelProfile* profile) const {
  return {.vectors = jit_.vectors(), .caches = caches_, .profile = profile, .lines = lines};
}

TranslatedProgram Translations::translate_now(const Program& program, std::uint32_t float_mode,
                                              profile::KernelProfile* profile, std::string& kept) {
  Translation translation;
  const std::string object = jit_.compile([&](llvm::Module& module, const char* name) {
    translation = translate(program, float_mode, options(false, profile), name, module);
  });
  TranslatedProgram translated{jit_.link(object), translation.waits_for};
  kept = byte_of(translation.waits_for) + object;
  return translated;
}

std::optional<std::int64_t> Translations::instruction_at(const Program& program, std::uint32_t float_mode,
                                                         const WaveCode& made, std::uint64_t host_address,
                                                         profile::KernelProfile* profile) const {
  const std::string object = jit_.compile([&](llvm::Module& module, const char* name) {
    translate(program, float_mode, options(true, profile), name, module);
  });
  return compute::instruction_at(program, object, made, host_address);
}

TranslatedProgram Translations::of(const Program& program, std::uint32_t float_mode, profile::KernelProfile* profile) {
  std::string kept;
  if (identity_.empty() || profile != nullptr) {
    log(program, "translated");
    return translate_now(program, float_mode, profile, kept);
  }
  const KernelCache::Key key = key_of(identity_, program, float_mode);
  if (const std::optional<std::string> found = cache_.find(key)) {
    try {
      TranslatedProgram translated{jit_.link(std::string_view(*found).substr(1)), of_byte(found->front())};
      log(program, "from the cache");
      return translated;
    } catch (const std::exception& error) {
      log(program, error.what());  // a new translation replaces it
    }
  }
  TranslatedProgram translated = translate_now(program, float_mode, nullptr, kept);
  log(program, "translated");
  cache_.store(key, kept);
  return translated;
}

}  // namespace softgpu::compute
