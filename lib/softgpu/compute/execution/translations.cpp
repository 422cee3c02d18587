#include "softgpu/compute/execution/translations.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/SHA256.h>

#include "softgpu/compute/emit/template_calls.hpp"
#include "softgpu/compute/host_code/code_lines.hpp"
#include "softgpu/compute/host_code/translator.hpp"
#include "softgpu/compute/instructions/families.hpp"

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

KernelCache::Key key_of(const std::string& identity, const Program& program, const WaveStart& start) {
  KeyMaker maker;
  maker.add(identity);
  maker.add(program.target.architecture->name);
  maker.add(program.target.wavefront_size);
  maker.add(program.target.vector_registers);
  maker.add(start.float_mode);
  maker.add(start.has_ids_in_rows ? 1 : 0);
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

// A file of optimized code has a byte that tells what the code may wait for, then the object file.
char byte_of(WaitsFor what) { return static_cast<char>('0' + static_cast<int>(what)); }
WaitsFor of_byte(char byte) { return static_cast<WaitsFor>(byte - '0'); }

}  // namespace

Translations::Translations(const EngineOptions& options)
    : jit_(options.cpu), optimize_(options.optimize), caches_(options.caches),
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

std::string Translations::compile(const Program& program, const WaveStart& start, const EmitOptions& options,
                                  WaitsFor& waits_for, const std::stop_token& stop) const {
  return jit_.compile([&](llvm::Module& module,
                          const char* name) { waits_for = translate(program, start, options, name, module).waits_for; },
                      stop);
}

CallingObjects Translations::compile_soon(const Program& program, const WaveStart& start, bool lines, Calls& made) {
  EmitOptions of_functions = options(false, nullptr);
  of_functions.is_compact = true;
  return jit_.compile_soon([&](llvm::Module& module, const char* name, llvm::Module& functions) {
    TemplateCalls calls(program.target, handlers_of(*program.target.architecture), of_functions, functions,
                        [&](const std::string& function) { return find_function(function); });
    made.waits_for = translate(program, start, options(lines, nullptr), name, module, &calls).waits_for;
    made.functions = calls.used();
    return calls.made();
  });
}

std::optional<std::int64_t> Translations::instruction_at(const Program& program, const WaveStart& start,
                                                         const WaveCode& made, std::uint64_t host_address,
                                                         profile::KernelProfile* profile) {
  Calls calls;
  WaitsFor waits_for{};
  const std::string object = made.is_optimized ? compile(program, start, options(true, profile), waits_for)
                                               : compile_soon(program, start, true, calls).caller;
  return compute::instruction_at(program, object, made, host_address);
}

TranslatedProgram Translations::of(const Program& program, const WaveStart& start, profile::KernelProfile* profile) {
  if (profile != nullptr) {
    log(program, "translated");
    WaitsFor waits_for{};
    const std::string object = compile(program, start, options(false, profile), waits_for);
    return {jit_.link(object), waits_for};
  }
  const Keys keys = keys_of(program, start);
  if (optimize_ != Optimize::no)
    if (auto kept = find(keys, program)) return *std::move(kept);
  if (optimize_ == Optimize::yes) return translate_optimized(program, start, keys, "translated");
  if (auto kept = find_soon(keys, program)) return *std::move(kept);
  return translate_soon(program, start, keys);
}

TranslatedProgram Translations::optimized(const Program& program, const WaveStart& start, const std::stop_token& stop) {
  const Keys keys = keys_of(program, start);
  if (auto kept = find(keys, program)) return *std::move(kept);  // of another process
  return translate_optimized(program, start, keys, "optimized", stop);
}

Translations::Keys Translations::keys_of(const Program& program, const WaveStart& start) const {
  if (identity_.empty()) return {};
  return {.optimized = key_of(identity_, program, start),
          .soon = key_of(identity_ + "\nnot optimized", program, {.float_mode = start.float_mode})};
}

std::optional<TranslatedProgram> Translations::find(const Keys& keys, const Program& program) {
  const auto kept = keys.optimized ? cache_.find(*keys.optimized) : std::nullopt;
  if (!kept) return std::nullopt;
  try {
    if (kept->empty()) throw JitError("an empty file");
    const std::string_view object = std::string_view(*kept).substr(0, kept->size() - 1);
    TranslatedProgram translated{jit_.link(object), of_byte(kept->back())};
    log(program, "from the cache");
    return translated;
  } catch (const std::exception& error) {
    log(program, error.what());  // a new translation replaces it
    return std::nullopt;
  }
}

TranslatedProgram Translations::translate_optimized(const Program& program, const WaveStart& start, const Keys& keys,
                                                    const char* how, const std::stop_token& stop) {
  WaitsFor waits_for{};
  const std::string object = compile(program, start, options(false, nullptr), waits_for, stop);
  TranslatedProgram translated{jit_.link(object), waits_for};
  log(program, how);
  // The object comes first: LLVM reads one that is aligned.
  if (keys.optimized) cache_.store(*keys.optimized, object + byte_of(waits_for));
  return translated;
}

std::optional<TranslatedProgram> Translations::find_soon(const Keys& keys, const Program& program) {
  const auto kept = keys.soon ? cache_.find(*keys.soon) : std::nullopt;
  if (!kept) return std::nullopt;
  try {
    const auto caller = KeptCaller::of_bytes(*kept);
    if (!caller || !std::ranges::all_of(caller->functions, [&](const auto& key) { return has_functions(key); }))
      return std::nullopt;
    TranslatedProgram translated{jit_.link(caller->object, false), caller->waits_for};
    log(program, "from the cache");
    return translated;
  } catch (const std::exception& error) {
    log(program, error.what());
    return std::nullopt;
  }
}

TranslatedProgram Translations::translate_soon(const Program& program, const WaveStart& start, const Keys& keys) {
  Calls calls;
  CallingObjects objects = compile_soon(program, start, false, calls);
  const bool is_kept = keys.soon.has_value();
  if (!objects.named.empty()) {
    const KeptFunctions functions{std::move(objects.named), std::move(objects.functions)};
    jit_.add_functions(functions.object, functions.named);
    if (is_kept) keep(functions);
  }
  TranslatedProgram translated{jit_.link(objects.caller, false), calls.waits_for};
  log(program, "translated");
  if (is_kept)
    cache_.store(*keys.soon,
                 KeptCaller{calls.waits_for, files_of(calls.functions), std::move(objects.caller)}.as_bytes());
  return translated;
}

void Translations::keep(const KeptFunctions& functions) {
  KeyMaker maker;
  maker.add(identity_);
  for (const auto& [name, waits_for] : functions.named) maker.add(name);
  const KernelCache::Key key = maker.key();
  cache_.store(key, functions.as_bytes());
  note(key, functions);
  // Other kernels, also of other processes, call some of them.
  const std::string_view place(reinterpret_cast<const char*>(key.data()), key.size());
  for (const auto& [name, waits_for] : functions.named) cache_.store(key_of_place(name), place);
}

KernelCache::Key Translations::key_of_place(const std::string& function) const {
  KeyMaker maker;
  maker.add(identity_);
  maker.add("the file that has " + function);
  return maker.key();
}

std::optional<WaitsFor> Translations::find_function(const std::string& name) {
  if (const auto there = jit_.find_function(name)) return there;
  const auto place = identity_.empty() ? std::nullopt : cache_.find(key_of_place(name));
  KernelCache::Key file{};
  if (!place || place->size() != file.size()) return std::nullopt;
  std::ranges::copy(*place, file.begin());
  return has_functions(file) ? jit_.find_function(name) : std::nullopt;
}

void Translations::note(const KernelCache::Key& file, const KeptFunctions& functions) {
  const std::lock_guard lock(files_mutex_);
  for (const auto& [name, waits_for] : functions.named) file_of_.try_emplace(name, file);
  files_.insert(file);
}

bool Translations::has_functions(const KernelCache::Key& file) {
  {
    const std::lock_guard lock(files_mutex_);
    if (files_.contains(file)) return true;
  }
  const auto kept = cache_.find(file);
  const auto functions = kept ? KeptFunctions::of_bytes(*kept) : std::nullopt;
  if (!functions) return false;
  try {
    jit_.add_functions(functions->object, functions->named);
  } catch (const JitError& error) {
    if (log_) log_(std::string("functions of the cache are not used: ") + error.what());
    return false;
  }
  note(file, *functions);
  return true;
}

std::vector<KernelCache::Key> Translations::files_of(const std::set<std::string>& functions) {
  std::set<KernelCache::Key> files;
  const std::lock_guard lock(files_mutex_);
  for (const std::string& name : functions)
    if (const auto found = file_of_.find(name); found != file_of_.end()) files.insert(found->second);
  return {files.begin(), files.end()};
}

}  // namespace softgpu::compute
