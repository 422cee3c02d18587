// A library that calls the kernel as a thunk does. It knows nothing of the soft GPU.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int open_file(const char* path) { return open(path, O_RDWR | O_CLOEXEC); }

EXPORTED int control(int file, unsigned long request, void* data) { return ioctl(file, request, data); }

/// How many names a folder has, -1 if it cannot be opened.
EXPORTED int count_names(const char* path) {
  DIR* folder = opendir(path);
  if (folder == nullptr) return -1;
  int count = 0;
  while (readdir(folder) != nullptr) ++count;
  return closedir(folder) == 0 ? count : -1;
}

/// The first line of a file, empty if it cannot be opened.
EXPORTED void first_line(const char* path, char* line, int bytes) {
  line[0] = '\0';
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return;
  if (std::fgets(line, bytes, file) == nullptr) line[0] = '\0';
  std::fclose(file);
}

EXPORTED void* reserve(std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
EXPORTED void* reserve_at(void* address, std::size_t bytes) {
  return mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}
EXPORTED void* map(void* address, std::size_t bytes, int file, std::uint64_t offset) {
  return mmap(address, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset));
}
EXPORTED int unmap(void* address, std::size_t bytes) { return munmap(address, bytes); }
