// Programs as host code: from the cache on disk, or translated now.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/compute/emit/emit_options.hpp"
#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/execution/kept_code.hpp"
#include "softgpu/compute/host_code/jit.hpp"
#include "softgpu/compute/host_code/kernel_cache.hpp"
#include "softgpu/compute/host_code/optimize.hpp"
#include "softgpu/compute/program/program.hpp"
#include "softgpu/compute/program/wave_start.hpp"

namespace softgpu::compute {

struct TranslatedProgram {
  HostCode code;
  WaitsFor waits_for = WaitsFor::nothing;
};

/// Thread safety: every member may be called from any thread.
class Translations {
public:
  explicit Translations(const EngineOptions& options);

  /// With `profile`, the code counts there, and is kept nowhere. Throws UnsupportedInstruction.
  [[nodiscard]] TranslatedProgram of(const Program& program, const WaveStart& start,
                                     profile::KernelProfile* profile = nullptr);
  /// Optimized, where of() was to be there soon. Throws Stopped soon after it is asked to stop.
  [[nodiscard]] TranslatedProgram optimized(const Program& program, const WaveStart& start,
                                            const std::stop_token& stop);

  /// See Jit.
  void load_compiler() const { jit_.load_compiler(); }

  /// The instruction of `program`, by its offset, that the code at `host_address` is of; `made` is what was made of
  /// that program. Empty if the code is of no instruction alone. Takes as long as a translation.
  [[nodiscard]] std::optional<std::int64_t> instruction_at(const Program& program, const WaveStart& start,
                                                           const WaveCode& made, std::uint64_t host_address,
                                                           profile::KernelProfile* profile = nullptr);

private:
  /// Of a program's files in the cache; empty where code is good for this process only.
  struct Keys {
    std::optional<KernelCache::Key> optimized;
    std::optional<KernelCache::Key> soon;
  };
  /// The functions that code calls, and what all of it may wait for.
  struct Calls {
    WaitsFor waits_for = WaitsFor::nothing;
    std::set<std::string> functions;
  };

  void log(const Program& program, const char* what) const;
  [[nodiscard]] Keys keys_of(const Program& program, const WaveStart& start) const;
  [[nodiscard]] EmitOptions options(bool lines, profile::KernelProfile* profile) const;

  [[nodiscard]] std::string compile(const Program& program, const WaveStart& start, const EmitOptions& options,
                                    WaitsFor& waits_for, const std::stop_token& stop = {}) const;
  [[nodiscard]] std::optional<TranslatedProgram> find(const Keys& keys, const Program& program);
  [[nodiscard]] TranslatedProgram translate_optimized(const Program& program, const WaveStart& start, const Keys& keys,
                                                      const char* how, const std::stop_token& stop = {});

  [[nodiscard]] CallingObjects compile_soon(const Program& program, const WaveStart& start, bool lines, Calls& made);
  [[nodiscard]] std::optional<TranslatedProgram> find_soon(const Keys& keys, const Program& program);
  [[nodiscard]] TranslatedProgram translate_soon(const Program& program, const WaveStart& start, const Keys& keys);
  void keep(const KeptFunctions& functions);
  [[nodiscard]] KernelCache::Key key_of_place(const std::string& function) const;
  /// What a function may wait for that is there, or in the cache.
  [[nodiscard]] std::optional<WaitsFor> find_function(const std::string& name);
  void note(const KernelCache::Key& file, const KeptFunctions& functions);
  /// Whether the functions of a file are there, or can be taken from it.
  [[nodiscard]] bool has_functions(const KernelCache::Key& file);
  [[nodiscard]] std::vector<KernelCache::Key> files_of(const std::set<std::string>& functions);

  Jit jit_;
  Optimize optimize_;
  Caches caches_;
  KernelCache cache_;
  std::string identity_;
  KernelCache::Log log_;

  std::mutex files_mutex_;
  std::map<std::string, KernelCache::Key> file_of_;  ///< in which functions are kept
  std::set<KernelCache::Key> files_;
};

}  // namespace softgpu::compute
