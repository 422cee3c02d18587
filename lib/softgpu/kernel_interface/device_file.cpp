#include "softgpu/kernel_interface/device_file.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace softgpu::kernel_interface {
namespace {

// A process has 1024 doorbells of 8 bytes on a GPU from gfx9 on (ROCr's queues.c, DOORBELLS_PAGE_SIZE).
constexpr std::uint64_t doorbells_per_gpu = 1024;
constexpr std::uint64_t doorbell_bytes = doorbells_per_gpu * sizeof(std::uint64_t);
constexpr std::uint64_t registers_bytes = 4096;
constexpr std::uint64_t doorbells_per_line = 64 / sizeof(std::uint64_t);
/// No file of the topology is longer.
constexpr std::uint64_t longest_text = 65536;

[[noreturn]] void refuse() { throw std::system_error(errno, std::generic_category(), "a file for the soft GPU"); }

/// Beyond the limit on files' sizes a file in memory ends the process by a signal.
void check_limit(std::uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes) return;
  throw std::system_error(EFBIG, std::generic_category(),
                          "files in memory of up to " + std::to_string(bytes) +
                              " bytes are needed: raise or remove the limit on files' sizes (ulimit -f)");
}

std::uint64_t inode_of(int descriptor) noexcept {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

}  // namespace

DeviceFile::DeviceFile(std::uint32_t gpus) : gpus_(gpus), descriptor_(-1), free_(gpus) {
  const std::uint64_t bytes = gpus * (doorbell_bytes + registers_bytes);
  check_limit(std::max(bytes, longest_text));
  descriptor_ = memfd_create("softgpu-kfd", MFD_CLOEXEC);
  if (descriptor_ < 0) refuse();
  void* pages = ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0
                    ? mmap(nullptr, gpus * doorbell_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0)
                    : MAP_FAILED;
  if (pages == MAP_FAILED) {
    const int error = errno;
    close(descriptor_);
    errno = error;
    refuse();
  }
  identity_ = inode_of(descriptor_);
  doorbells_ = static_cast<std::uint64_t*>(pages);
  // The first ones that are taken have a cache line of their own.
  for (std::uint32_t gpu = 0; gpu != gpus; ++gpu)
    for (std::uint64_t in_line = doorbells_per_line; in_line-- != 0;)
      for (std::uint64_t line = doorbells_per_gpu / doorbells_per_line; line-- != 0;)
        free_[gpu].push_back(doorbells_ + gpu * doorbells_per_gpu + line * doorbells_per_line + in_line);
}

DeviceFile::~DeviceFile() {
  munmap(doorbells_, gpus_ * doorbell_bytes);
  close(descriptor_);
}

int DeviceFile::duplicate() const noexcept { return fcntl(descriptor_, F_DUPFD_CLOEXEC, 0); }

bool DeviceFile::has(int descriptor) const noexcept { return inode_of(descriptor) == identity_; }

std::uint64_t* DeviceFile::take_doorbell(std::uint32_t gpu) {
  if (free_[gpu].empty()) return nullptr;
  std::uint64_t* doorbell = free_[gpu].back();
  free_[gpu].pop_back();
  return doorbell;
}

void DeviceFile::give_back(std::uint64_t* doorbell) noexcept {
  const auto gpu = static_cast<std::uint64_t>(doorbell - doorbells_) / doorbells_per_gpu;
  free_[gpu].push_back(doorbell);  // there was room before it was taken
}

std::uint64_t DeviceFile::offset_of(const std::uint64_t* doorbell) const noexcept {
  return static_cast<std::uint64_t>(doorbell - doorbells_) * sizeof(std::uint64_t);
}

std::uint64_t DeviceFile::registers_offset(std::uint32_t gpu) const noexcept {
  return gpus_ * doorbell_bytes + gpu * registers_bytes;
}

}  // namespace softgpu::kernel_interface
