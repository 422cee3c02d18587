// The ROCr that the process has loaded.
#pragma once

#include <dlfcn.h>

namespace fastdispatch::test {

/// Whether its thunk is a library of its own, as up to 6.2. Where it is built in, ROCr starts once in a process, and
/// tells nobody when a program's memory is unlocked.
inline bool rocr_has_thunk_beside_it() {
  void* rocr = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_NOLOAD);
  const bool result = dlsym(rocr, "hsaKmtOpenKFD") != nullptr;
  dlclose(rocr);
  return result;
}

}  // namespace fastdispatch::test
