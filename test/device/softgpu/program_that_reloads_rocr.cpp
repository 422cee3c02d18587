// Loads that ROCr, whose path is the argument, calls it several times, and unloads it, twice.
#include <cstdio>

#include <dlfcn.h>

namespace {

using Call = int (*)();

int use(const char* path) {
  void* rocr = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (rocr == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  const auto init = reinterpret_cast<Call>(dlsym(RTLD_DEFAULT, "hsa_init"));  // as the program calls it
  const auto shut_down = reinterpret_cast<Call>(dlsym(rocr, "hsa_shut_down"));
  int failed = 0;
  for (int i = 0; i < 3; ++i) failed |= init() | shut_down();
  dlclose(rocr);
  if (dlopen(path, RTLD_NOW | RTLD_NOLOAD) != nullptr) return std::fputs("it is still loaded\n", stderr), 1;
  return failed;
}

}  // namespace

int main(int, char** argv) { return use(argv[1]) | use(argv[1]); }
