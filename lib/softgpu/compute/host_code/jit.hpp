// Host code from LLVM IR, in two steps: a module is compiled to an object file, and an object file is linked into the
// process. Object files hold no addresses, so that they serve other processes as well.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>

#include "softgpu/compute/program/waits_for.hpp"
#include "softgpu/compute/run_time/host_cpu.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace llvm {
class Module;
}

namespace softgpu::compute {

/// LLVM could not compile or link, such as for lack of memory.
class JitError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Nobody needs the code any more.
class Stopped : public std::runtime_error {
public:
  Stopped() : std::runtime_error("the translation was told to stop") {}
};

/// What a wavefront's code may use of the stack that it runs on (Fiber::stack_bytes). The rest is for the
/// functions that it calls.
inline constexpr std::uint64_t most_frame_bytes = std::uint64_t{3} << 20;

/// What the one function of every object file is called.
inline constexpr const char* wave_function_name = "wave";

/// The host code of one kernel. It stays mapped as long as `code` lives.
struct HostCode {
  WaveCode wave;
  std::shared_ptr<const void> code;
};

/// Object files of code that calls a function an instruction, and of the functions that were not there yet.
struct CallingObjects {
  std::string caller;
  std::string functions;                  ///< empty if there are none
  std::map<std::string, WaitsFor> named;  ///< the functions
};

/// Thread safety: every member may be called from any thread; HostCode may be released on any thread, also after the
/// Jit.
class Jit {
public:
  explicit Jit(HostCpu cpu = HostCpu::host);
  ~Jit();
  Jit(const Jit&) = delete;
  Jit& operator=(const Jit&) = delete;

  /// All that an object file depends on besides its module: the CPU and its features, LLVM, this build of the soft GPU.
  /// Empty where the builds cannot be told apart, so that object files are good for this process only.
  [[nodiscard]] std::string identity() const;

  [[nodiscard]] HostVectors vectors() const noexcept;

  /// An object file of the function that `fill` adds to the module, named as it is told. What it throws passes through.
  /// Throws JitError, and Stopped soon after it is asked to stop: LLVM's code generator, most of the time, goes on to
  /// its end.
  [[nodiscard]] std::string compile(const std::function<void(llvm::Module&, const char* name)>& fill,
                                    const std::stop_token& stop = {}) const;
  /// Has LLVM make the objects that it makes when it first compiles and never unmakes before the process ends.
  void load_compiler() const;

  /// The same for code that is to be there soon: `fill` adds the function to the first module, and the functions that
  /// it calls to the second, which it tells of.
  [[nodiscard]] CallingObjects compile_soon(
      const std::function<std::map<std::string, WaitsFor>(llvm::Module&, const char* name, llvm::Module&)>& fill) const;
  /// Makes functions of compile_soon() ready to be called by code that is linked later.
  void add_functions(std::string_view object, const std::map<std::string, WaitsFor>& named);
  /// What one of these may wait for; empty if there is none of that name.
  [[nodiscard]] std::optional<WaitsFor> find_function(const std::string& name) const;

  /// Makes the function of an object file ready to be called. Throws JitError, also where it refers to what is not
  /// there.
  [[nodiscard]] HostCode link(std::string_view object, bool is_optimized = true);

private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace softgpu::compute
