// A library that calls the C library.
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) long call_sysconf(int name) { return sysconf(name); }

namespace {
long (*const pointer)(int) = &sysconf;
}

extern "C" __attribute__((visibility("default"))) long call_sysconf_by_pointer(int name) {
  auto* const volatile function = pointer;
  return function(name);
}
