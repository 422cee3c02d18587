// Preloaded by softgpu-run: lets programs find the driver's files that they look for by themselves. A ROCr that has the
// thunk built in opens the device file: it gets the soft GPU in the place of the kernel's driver from then on
// (../kernel_interface). Nobody else reads anything from that file.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using Open = int (*)(const char*, int, ...);
using OpenStream = std::FILE* (*)(const char*, const char*);

std::string file_with(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

bool is_rocr(const std::string& file) { return file.substr(file.rfind('/') + 1).starts_with("libhsa-runtime64.so"); }

/// A function of the soft GPU's library, which is loaded; null if it cannot be.
template <class Function>
Function softgpu_function(const char* name) {
  const std::string self = file_with(reinterpret_cast<const void*>(&is_rocr));
  void* softgpu = dlopen((self.substr(0, self.rfind('/') + 1) + "libhsakmt.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  return softgpu != nullptr ? reinterpret_cast<Function>(dlsym(softgpu, name)) : nullptr;
}

/// The device file for the ROCr that `code` is of; -1 with errno if the soft GPU does not open.
int open_for_rocr(const void* code) {
  if (const auto open_device = softgpu_function<int (*)(const void*)>("softgpu_open_kernel_device"))
    return open_device(code);
  errno = ENOENT;
  return -1;
}

using HsaInit = int (*)();

/// How many libraries the process has unloaded.
unsigned long long unloaded_libraries() {
  unsigned long long count = 0;
  const auto take_count = [](dl_phdr_info* first, std::size_t, void* to) {
    *static_cast<unsigned long long*>(to) = first->dlpi_subs;
    return 1;
  };
  dl_iterate_phdr(take_count, &count);
  return count;
}

/// The function of the process's ROCr, which may be in no list of global symbols.
HsaInit find_hsa_init() {
  void* rocr = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (rocr == nullptr) return reinterpret_cast<HsaInit>(dlsym(RTLD_NEXT, "hsa_init"));
  const auto init = reinterpret_cast<HsaInit>(dlsym(rocr, "hsa_init"));
  const bool has_thunk_built_in = dlsym(rocr, "hsaKmtOpenKFD") == nullptr;
  dlclose(rocr);
  if (const auto stand_in =
          has_thunk_built_in ? softgpu_function<bool (*)(const void*)>("softgpu_stand_in_for_kernel") : nullptr)
    static_cast<void>(stand_in(reinterpret_cast<const void*>(init)));  // or else when it opens the device file
  return init;
}

/// The same. A program may call hsa_init often: ROCr, which counts the calls, is looked for again once a library has
/// been unloaded.
HsaInit hsa_init_of_rocr() {
  static std::atomic<HsaInit> found = nullptr;
  static std::atomic<unsigned long long> found_after = 0;
  const unsigned long long unloaded = unloaded_libraries();
  if (HsaInit init = found.load(); init != nullptr && found_after.load() == unloaded) return init;
  HsaInit init = find_hsa_init();
  found_after.store(unloaded);
  found.store(init);
  return init;
}

int open_as(const char* name, const char* path, int flags, mode_t mode, const void* caller) {
  const auto next = reinterpret_cast<Open>(dlsym(RTLD_NEXT, name));
  if (path == nullptr || std::strcmp(path, "/dev/kfd") != 0) return next(path, flags, mode);
  return is_rocr(file_with(caller)) ? open_for_rocr(caller) : next("/dev/null", flags, mode);
}

/// What the kernel says of a module that is loaded: rocminfo reads it from ROCm 6 on, and asks lsmod before.
std::FILE* open_module_state() {
  constexpr std::string_view state = "live\n";
  const int file = memfd_create("initstate", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  if (write(file, state.data(), state.size()) < 0 || lseek(file, 0, SEEK_SET) != 0) {
    close(file);
    return nullptr;
  }
  return fdopen(file, "r");
}

std::FILE* open_stream_as(const char* name, const char* path, const char* mode) {
  if (path != nullptr && std::strcmp(path, "/sys/module/amdgpu/initstate") == 0) return open_module_state();
  return reinterpret_cast<OpenStream>(dlsym(RTLD_NEXT, name))(path, mode);
}

/// The third argument is there only where a file may be made.
mode_t mode_of(int flags, std::va_list arguments) {
  const bool makes_file = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes_file ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

/// By which libfastdispatch notices that softgpu-run started the program.
extern "C" __attribute__((visibility("default"))) const char softgpu_run_mark = 1;

/// ROCr 7 takes the addresses of libdrm's functions before it opens the device file. Its status is of HSA's type.
extern "C" __attribute__((visibility("default"))) int hsa_init() {
  constexpr int status_error = 0x1000;  // HSA_STATUS_ERROR
  const HsaInit init = hsa_init_of_rocr();
  return init != nullptr ? init() : status_error;
}

extern "C" __attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_as("open", path, flags, mode, __builtin_return_address(0));
}

extern "C" __attribute__((visibility("default"))) int open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_as("open64", path, flags, mode, __builtin_return_address(0));
}

extern "C" __attribute__((visibility("default"))) std::FILE* fopen(const char* path, const char* mode) {
  return open_stream_as("fopen", path, mode);
}

extern "C" __attribute__((visibility("default"))) std::FILE* fopen64(const char* path, const char* mode) {
  return open_stream_as("fopen64", path, mode);
}
