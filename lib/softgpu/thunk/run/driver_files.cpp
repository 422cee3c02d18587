// Preloaded by softgpu-run: lets programs find the driver's files that they look for by themselves. Nothing is read
// from its device file: all that goes to the driver goes through our libhsakmt.so.1.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using Open = int (*)(const char*, int, ...);
using OpenStream = std::FILE* (*)(const char*, const char*);

int open_as(const char* name, const char* path, int flags, mode_t mode) {
  const auto next = reinterpret_cast<Open>(dlsym(RTLD_NEXT, name));
  return next(path != nullptr && std::strcmp(path, "/dev/kfd") == 0 ? "/dev/null" : path, flags, mode);
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

extern "C" __attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_as("open", path, flags, mode);
}

extern "C" __attribute__((visibility("default"))) int open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_as("open64", path, flags, mode);
}

extern "C" __attribute__((visibility("default"))) std::FILE* fopen(const char* path, const char* mode) {
  return open_stream_as("fopen", path, mode);
}

extern "C" __attribute__((visibility("default"))) std::FILE* fopen64(const char* path, const char* mode) {
  return open_stream_as("fopen64", path, mode);
}
