// Preloaded by softgpu-run: lets programs that look for the driver's device file open it. Nothing reads from it: all
// that goes to the driver goes through our libhsakmt.so.1.
#include <cstdarg>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>

namespace {

using Open = int (*)(const char*, int, ...);

int open_as(const char* name, const char* path, int flags, mode_t mode) {
  const auto next = reinterpret_cast<Open>(dlsym(RTLD_NEXT, name));
  return next(path != nullptr && std::strcmp(path, "/dev/kfd") == 0 ? "/dev/null" : path, flags, mode);
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
