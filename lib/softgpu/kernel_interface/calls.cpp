#include "softgpu/kernel_interface/calls.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softgpu/kernel_interface/process.hpp"
#include "softgpu/kernel_interface/system_files.hpp"
#include "softgpu/thunk/drm_device.hpp"

namespace softgpu::kernel_interface {
namespace {

constexpr std::string_view device_path = "/dev/kfd";
constexpr std::string_view render_node_path = "/dev/dri/renderD";

/// The GPU whose render node this is.
std::optional<std::uint32_t> node_of_minor(int minor) {
  Driver* driver = Process::driver();
  if (driver == nullptr) return std::nullopt;
  for (std::uint32_t node = 1; node != driver->gpu().topology.node_count(); ++node)
    if (static_cast<std::uint32_t>(minor) == thunk::Topology::render_minor(node)) return node;
  return std::nullopt;
}

std::optional<std::uint32_t> node_of_path(std::string_view path) {
  if (!path.starts_with(render_node_path)) return std::nullopt;
  path.remove_prefix(render_node_path.size());
  int minor = -1;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), minor);
  return error == std::errc() && end == path.data() + path.size() ? node_of_minor(minor) : std::nullopt;
}

int open_file(const char* path, int flags, ...) {
  if (path == device_path) return open_device();
  if (const auto node = node_of_path(path)) return thunk::open_render_node(*node);
  std::va_list arguments;
  va_start(arguments, flags);
  const auto mode = va_arg(arguments, mode_t);  // of no meaning where no file is made
  va_end(arguments);
  return ::open(path, flags, mode);
}

int open_render_node_by_minor(int minor) {
  if (const auto node = node_of_minor(minor)) return thunk::open_render_node(*node);
  using Open = int (*)(int);
  const auto open = reinterpret_cast<Open>(dlsym(RTLD_DEFAULT, "drmOpenRender"));
  return open != nullptr ? open(minor) : -ENOENT;
}

std::FILE* open_stream(const char* path, const char* mode) {
  if (!SystemFiles::are_at(path)) return std::fopen(path, mode);
  const auto content = Process::system_files().content(path);
  if (!content) {
    errno = ENOENT;
    return nullptr;
  }
  const int file = memfd_create("softgpu-topology", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  if (::write(file, content->data(), content->size()) != static_cast<ssize_t>(content->size()) ||
      lseek(file, 0, SEEK_SET) != 0) {
    ::close(file);
    return nullptr;
  }
  return fdopen(file, "r");
}

DIR* open_folder(const char* path) {
  return SystemFiles::are_at(path) ? Process::folders().open(Process::system_files().entries(path)) : ::opendir(path);
}

dirent* read_folder(DIR* folder) {
  return Process::folders().has(folder) ? Process::folders().next(folder) : ::readdir(folder);
}

int close_folder(DIR* folder) { return Process::folders().close(folder) ? 0 : ::closedir(folder); }

int control(int file, unsigned long request, ...) {
  std::va_list arguments;
  va_start(arguments, request);
  void* data = va_arg(arguments, void*);
  va_end(arguments);
  Driver* driver = Process::driver();
  if (driver == nullptr || !driver->file().has(file)) return ::ioctl(file, request, data);
  const int error = driver->control(request, data);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

/// Addresses alone, as ROCr reserves them for memory before it asks the driver for memory there.
constexpr int reserving_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

bool reserves(int protection, int flags) {
  return protection == PROT_NONE && (flags & ~MAP_FIXED_NOREPLACE) == reserving_flags;
}

void* map_pages(void* address, std::size_t size, int protection, int flags, int file, off_t offset) {
  Driver* driver = Process::driver();
  if (driver == nullptr) return ::mmap(address, size, protection, flags, file, offset);
  thunk::Memory& memory = driver->gpu().memory;
  if (file >= 0) {
    // Memory is mapped when it is allocated, for host and GPU alike.
    if (thunk::node_of_render_node(file)) return address;
    void* mapped = ::mmap(address, size, protection, flags, file, offset);
    if (mapped != MAP_FAILED && memory.is_in_window(mapped)) Process::views().add(mapped, size);
    return mapped;
  }
  if (reserves(protection, flags)) {
    const bool is_fixed = (flags & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE;
    if (void* reserved = memory.reserve_addresses(size, is_fixed ? address : nullptr)) return reserved;
  }
  return ::mmap(address, size, protection, flags, file, offset);
}

int unmap_pages(void* address, std::size_t size) {
  Driver* driver = Process::driver();
  if (driver == nullptr || !driver->gpu().memory.is_in_window(address)) return ::munmap(address, size);
  if (!Process::views().remove(address, size) && driver->gpu().memory.release_addresses(address, size)) return 0;
  // The window has no holes that others could get.
  void* mapped = ::mmap(address, size, PROT_NONE, reserving_flags | MAP_FIXED, -1, 0);
  return mapped == MAP_FAILED ? -1 : 0;
}

template <class Function>
Redirection to(const char* name, Function* function) {
  return {.name = name, .function = reinterpret_cast<void*>(function)};
}

/// The soft GPU's own functions of these names, whatever others the process has.
constexpr std::array libdrm_calls = {"amdgpu_bo_cpu_map",        "amdgpu_bo_export",           "amdgpu_bo_free",
                                     "amdgpu_bo_import",         "amdgpu_bo_query_info",       "amdgpu_bo_set_metadata",
                                     "amdgpu_bo_va_op",          "amdgpu_device_deinitialize", "amdgpu_device_get_fd",
                                     "amdgpu_device_initialize", "amdgpu_get_marketing_name",  "amdgpu_query_gpu_info",
                                     "drmCommandWriteRead"};

}  // namespace

int open_device() {
  Driver* driver = Process::open();
  return driver != nullptr ? driver->file().duplicate() : -1;
}

std::vector<Redirection> calls() {
  std::vector<Redirection> calls = {to("open", open_file),
                                    to("open64", open_file),
                                    to("fopen", open_stream),
                                    to("fopen64", open_stream),
                                    to("opendir", open_folder),
                                    to("readdir", read_folder),
                                    to("readdir64", read_folder),
                                    to("closedir", close_folder),
                                    to("ioctl", control),
                                    to("mmap", map_pages),
                                    to("mmap64", map_pages),
                                    to("munmap", unmap_pages),
                                    to("drmOpenRender", open_render_node_by_minor)};
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&open_device), &self) == 0) return calls;
  void* library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return calls;
  for (const char* name : libdrm_calls)
    if (void* function = dlsym(library, name)) calls.push_back({.name = name, .function = function});
  dlclose(library);
  return calls;
}

}  // namespace softgpu::kernel_interface
