#include "dispatch/hsa/hsa_library.hpp"

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include "dispatch/hsa/log.hpp"
#include "fastdispatch/detail/forked_child.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {

namespace fs = std::filesystem;

constexpr const char* thunk_name = "libhsakmt.so.1";
constexpr const char* softgpu_mark = "softgpu_mark";  // what the soft GPU's library defines, and no other

bool has_amd_driver() {
  const int file = open("/dev/kfd", O_RDWR | O_CLOEXEC);
  if (file >= 0) close(file);
  return file >= 0;
}

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
              fmt::format("the soft GPU's library {} cannot be used: {}; FASTDISPATCH_SOFTGPU may name another {}",
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

void* load_hsa_runtime() {
  // ROCm's own packages do not always tell the dynamic linker where they are.
  std::string reasons;
  for (const char* name : {"libhsa-runtime64.so.1", "/opt/rocm/lib/libhsa-runtime64.so.1"}) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return handle;
    reasons += reasons.empty() ? last_dl_error() : "; " + last_dl_error();
  }
  throw Error(ErrorKind::runtime,
              fmt::format("the HSA runtime cannot be loaded: {}; it comes with Debian's package libhsa-runtime64-1, or "
                          "with ROCm's hsa-rocr",
                          reasons));
}

void fill(HsaApi& api, void* handle, std::string_view path) {
#define FASTDISPATCH_HSA_LOAD(name)                                                                                    \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(handle, "hsa_" #name));                                        \
  if (api.name == nullptr)                                                                                             \
    throw Error(ErrorKind::runtime, fmt::format("the HSA runtime {} is too old: it has no hsa_" #name, path));
  FASTDISPATCH_HSA_FUNCTIONS(FASTDISPATCH_HSA_LOAD)
#undef FASTDISPATCH_HSA_LOAD
}

// Whether ROCr's calls end in the soft GPU; true also if softgpu-run put the soft GPU in the place of AMD's thunk.
bool runs_on_softgpu() {
  void* thunk = dlopen(thunk_name, RTLD_NOW | RTLD_NOLOAD);
  if (thunk == nullptr) return false;
  const fs::path file = file_of(dlsym(thunk, "hsaKmtOpenKFD"));
  dlclose(thunk);
  std::error_code ignored;
  return fs::equivalent(file, softgpu_path(), ignored);
}

std::unique_ptr<HsaLibrary> open_library(Device device) {
  auto library = std::make_unique<HsaLibrary>();
  if (device == Device::softgpu) load_softgpu();
  void* handle = load_hsa_runtime();
  library->path = file_of(dlsym(handle, "hsa_init")).string();
  // Found in ROCr's own dependencies, unless it is linked to AMD's thunk statically.
  if (device == Device::softgpu && dlsym(handle, "hsaKmtOpenKFD") == nullptr)
    throw Error(ErrorKind::runtime,
                fmt::format("the soft GPU cannot stand below the HSA runtime {}: it has a driver interface of its own "
                            "built in, as ROCm's has from 6.3 on; Debian's package libhsa-runtime64-1 has not",
                            library->path));
  library->softgpu = runs_on_softgpu();
  fill(library->api, handle, library->path);
  return library;
}

}  // namespace

Device choose_device(Device requested, const char* environment, bool has_driver) {
  Device device = requested;
  if (device == Device::automatic && environment != nullptr) {
    const std::string_view value = environment;
    if (value == "amd")
      device = Device::amd;
    else if (value == "softgpu")
      device = Device::softgpu;
    else if (value != "auto" && !value.empty())
      throw Error(fmt::format("FASTDISPATCH_DEVICE is '{}'; it may be auto, amd or softgpu", value));
  }
  if (device == Device::automatic) return has_driver ? Device::amd : Device::softgpu;
  if (device == Device::amd && !has_driver)
    throw Error(
        ErrorKind::runtime,
        "an AMD GPU was asked for, but /dev/kfd cannot be opened: is the amdgpu driver loaded, and is this user "
        "in the group render? (FASTDISPATCH_DEVICE=softgpu uses the soft GPU)");
  return device;
}

std::string reason_for_device(Device requested, const char* environment, bool has_driver) {
  if (requested != Device::automatic) return "the program asked for it (RuntimeOptions::device)";
  const std::string_view value = environment == nullptr ? "" : environment;
  if (value == "amd" || value == "softgpu") return fmt::format("FASTDISPATCH_DEVICE is {}", value);
  return has_driver ? "/dev/kfd can be opened" : "/dev/kfd cannot be opened";
}

HsaLibrary& open_hsa_library(Device requested) {
  check_not_forked();
  const char* environment = secure_getenv("FASTDISPATCH_DEVICE");
  const bool has_driver = has_amd_driver();
  const Device device = choose_device(requested, environment, has_driver);
  // Never unloaded: HSA's threads may run until the process ends.
  struct Opened {
    std::mutex mutex;
    Device device{};
    std::unique_ptr<HsaLibrary> library;
  };
  static auto& opened = *new Opened;
  const std::scoped_lock lock(opened.mutex);
  if (opened.library == nullptr) {
    opened.library = open_library(device);
    opened.device = device;
    opened.library->why = fmt::format("on {}, because {}", device == Device::amd ? "an AMD GPU" : "the soft GPU",
                                      reason_for_device(requested, environment, has_driver));
  }
  if (opened.device != device)
    throw Error(ErrorKind::runtime, fmt::format("this process runs HSA on {} already and cannot change to {}",
                                                opened.device == Device::amd ? "an AMD GPU" : "the soft GPU",
                                                device == Device::amd ? "an AMD GPU" : "the soft GPU"));
  return *opened.library;
}

}  // namespace fastdispatch::detail
