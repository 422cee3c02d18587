#include "dispatch/hsa/hsa_library.hpp"

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

#include "dispatch/hsa/device_choice.hpp"
#include "dispatch/hsa/log.hpp"
#include "fastdispatch/detail/forked_child.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {

namespace fs = std::filesystem;

constexpr const char* thunk_name = "libhsakmt.so.1";
constexpr const char* softgpu_mark = "softgpu_mark";          // what the soft GPU's library defines, and no other
constexpr const char* softgpu_run_mark = "softgpu_run_mark";  // what softgpu-run preloads defines

std::string last_dl_error() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

// The file that an address was loaded from.
fs::path file_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  const fs::path real = fs::canonical(info.dli_fname, ignored);
  return real.empty() ? fs::path(info.dli_fname) : real;
}

// The path that the environment gives, or null.
const char* given_softgpu() {
  const char* given = secure_getenv("FASTDISPATCH_SOFTGPU");
  return given == nullptr || *given == '\0' ? nullptr : given;
}

// The soft GPU's library: where the environment says, or beside this library.
fs::path softgpu_path() {
  if (const char* given = given_softgpu()) return given;
  return file_of(reinterpret_cast<const void*>(&softgpu_path)).parent_path() / "softgpu" / thunk_name;
}

// Why a library cannot be the soft GPU, with the variable if it names the library.
[[noreturn]] void refuse_softgpu(const fs::path& path, std::string_view why) {
  if (given_softgpu() != nullptr)
    throw Error(ErrorKind::runtime,
                fmt::format("FASTDISPATCH_SOFTGPU is '{}': {}; it is to be the path of a soft GPU's {}, or not set",
                            path.string(), why, thunk_name));
  throw Error(ErrorKind::runtime,
              fmt::format("the soft GPU's library {} cannot be used: {}; FASTDISPATCH_SOFTGPU may name another {} (an "
                          "AMD GPU has a /dev/kfd)",
                          path.string(), why, thunk_name));
}

// ROCr asks the dynamic linker for libhsakmt.so.1 by name, and gets the library that is already loaded under this name.
void load_softgpu() {
  const fs::path path = softgpu_path();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) refuse_softgpu(path, "there is no such file");
  if (fs::is_directory(path, ignored)) refuse_softgpu(path, "it is a folder");
  if (void* loaded = dlopen(thunk_name, RTLD_NOW | RTLD_NOLOAD)) {
    const fs::path file = file_of(dlsym(loaded, "hsaKmtOpenKFD"));
    dlclose(loaded);
    if (!fs::equivalent(file, path, ignored))
      throw Error(ErrorKind::runtime,
                  fmt::format("the soft GPU cannot be used: this process has {} loaded already; start the program with "
                              "softgpu-run, or do not link it with HIP or HSA",
                              file.string()));
  }
  // With a slash, or the dynamic linker would look for the name in its folders.
  void* handle = dlopen(fs::absolute(path).c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) refuse_softgpu(path, last_dl_error());
  // AMD's own libhsakmt.so.1, or any other library, would let hsa_init fail for lack of a driver.
  const bool is_softgpu = dlsym(handle, softgpu_mark) != nullptr;
  void* named = dlopen(thunk_name, RTLD_NOW | RTLD_NOLOAD);
  if (named != nullptr) dlclose(named);
  if (is_softgpu && named == handle) {
    log().info("soft GPU: {}", path.string());
    return;
  }
  dlclose(handle);
  refuse_softgpu(path, is_softgpu ? fmt::format("its SONAME is not {}", thunk_name) : "it is no soft GPU");
}

// Up to ROCr 6.2 the thunk is a library of its own, whose place the soft GPU takes. Later releases have it built in.
// What they call is the kernel. A symbol is looked for in a library and in what it depends on.
bool has_own_thunk(void* runtime) { return dlsym(runtime, "hsaKmtOpenKFD") == nullptr; }

// The calls of the C library that a runtime with a thunk of its own makes for the driver end in the soft GPU from now
// on. softgpu-run does the same for other programs. False if that cannot be done.
bool stand_in_for_kernel(void* runtime) {
  void* thunk = dlopen(thunk_name, RTLD_NOW | RTLD_NOLOAD);
  using StandIn = bool (*)(const void*);
  const auto stand_in = reinterpret_cast<StandIn>(dlsym(thunk, "softgpu_stand_in_for_kernel"));
  return stand_in != nullptr && stand_in(dlsym(runtime, "hsa_init"));
}

// Opens the first of the machine's HSA runtimes that can serve. One that the process has loaded is the one to use: a
// second one would be a second HSA.
void* load_hsa_runtime(Device device, const Machine& machine) {
  std::vector<RuntimeCandidate> candidates = runtime_candidates(machine);
  const std::string name = candidates.back().library;
  if (void* loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
    dlclose(loaded);
    candidates = {{name, "the process has it loaded already"}};
  }
  std::string reasons;
  for (const auto& [library, why] : candidates) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
    std::string reason;
    if (handle == nullptr) {
      reason = last_dl_error();
    } else {
      const std::string file = file_of(dlsym(handle, "hsa_init")).string();
      // As softgpu-run does for programs that are linked to the runtime.
      const bool is_run_on_softgpu = dlsym(RTLD_DEFAULT, softgpu_run_mark) != nullptr;
      if (is_run_on_softgpu) static_cast<void>(dlopen(thunk_name, RTLD_NOW | RTLD_LOCAL));
      const bool wants_softgpu = device == Device::softgpu || is_run_on_softgpu;
      if (!wants_softgpu || !has_own_thunk(handle) || stand_in_for_kernel(handle)) {
        log().info("HSA runtime {}: {}", file, why);
        return handle;
      }
      dlclose(handle);
      reason =
          fmt::format("the soft GPU cannot stand below the HSA runtime {}: it has the driver's interface built in, "
                      "and its calls of the kernel cannot be replaced",
                      file);
    }
    log().info("not the HSA runtime of {} ({}): {}", library, why, reason);
    reasons += reasons.empty() ? reason : "; " + reason;
  }
  throw Error(
      ErrorKind::runtime,
      fmt::format("the HSA runtime cannot be loaded: {}; it comes with the package libhsa-runtime64-1 of Debian, "
                  "rocm-runtime of Fedora, or hsa-rocr of AMD and of Arch (ROCM_PATH may name ROCm's folder)",
                  reasons));
}

void fill(HsaApi& api, void* handle, std::string_view path) {
#define FASTDISPATCH_HSA_LOAD(name)                                                                                    \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(handle, "hsa_" #name));                                        \
  if (api.name == nullptr)                                                                                             \
    throw Error(ErrorKind::runtime, fmt::format("the HSA runtime {} is too old: it has no hsa_" #name, path));
  FASTDISPATCH_HSA_FUNCTIONS(FASTDISPATCH_HSA_LOAD)
#undef FASTDISPATCH_HSA_LOAD
  api.wait_any_keeps_time = dlsym(handle, "hsa_amd_signal_wait_all") == nullptr;
  api.starts_again = !has_own_thunk(handle);
  if (has_own_thunk(handle)) api.most_copy_dependencies = 5;
}

// The file of the thunk that ROCr's calls go to; empty where ROCr is linked to AMD's thunk statically.
fs::path thunk_file() {
  void* thunk = dlopen(thunk_name, RTLD_NOW | RTLD_NOLOAD);
  if (thunk == nullptr) return {};
  fs::path file = file_of(dlsym(thunk, "hsaKmtOpenKFD"));
  dlclose(thunk);
  return file;
}

std::unique_ptr<HsaLibrary> open_library(Device device, const Machine& machine) {
  auto library = std::make_unique<HsaLibrary>();
  if (device == Device::softgpu) load_softgpu();
  void* handle = load_hsa_runtime(device, machine);
  library->path = file_of(dlsym(handle, "hsa_init")).string();
  library->thunk = thunk_file().string();
  std::error_code ignored;  // true also if softgpu-run put the soft GPU in the place of AMD's thunk
  library->softgpu = fs::equivalent(library->thunk, softgpu_path(), ignored);
  fill(library->api, handle, library->path);
  return library;
}

}  // namespace

HsaLibrary& open_hsa_library(Device requested) {
  check_not_forked();
  const Machine machine = this_machine();
  const Device device = choose_device(requested, machine);
  // Never unloaded: HSA's threads may run until the process ends.
  struct Opened {
    std::mutex mutex;
    Device device{};
    std::unique_ptr<HsaLibrary> library;
  };
  static auto& opened = *new Opened;
  const std::scoped_lock lock(opened.mutex);
  if (opened.library == nullptr) {
    opened.library = open_library(device, machine);
    opened.library->reason = reason_for_device(requested, machine);
    if (device == Device::amd && opened.library->softgpu)
      opened.library->reason += ", and the soft GPU was put in the place of AMD's thunk (softgpu-run does)";
    opened.device = device;
  }
  if (opened.device != device)
    throw Error(ErrorKind::runtime, fmt::format("this process runs HSA on {} already and cannot change to {}",
                                                opened.device == Device::amd ? "an AMD GPU" : "the soft GPU",
                                                device == Device::amd ? "an AMD GPU" : "the soft GPU"));
  return *opened.library;
}

}  // namespace fastdispatch::detail
