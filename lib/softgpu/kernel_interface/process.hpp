// What a process has open of the kernel's interface.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <dirent.h>

#include "softgpu/kernel_interface/driver.hpp"
#include "softgpu/kernel_interface/system_files.hpp"

namespace softgpu::kernel_interface {

/// Folders of the driver's that are being listed. Thread safety: any thread, but one listing belongs to one.
class Folders {
public:
  [[nodiscard]] DIR* open(std::vector<std::string> names);
  [[nodiscard]] bool has(const DIR* folder);
  /// Null behind the last name.
  [[nodiscard]] dirent* next(DIR* folder);
  /// False if it is none of these.
  bool close(DIR* folder);

private:
  struct Listing {
    std::vector<std::string> names;
    std::size_t next = 0;
    dirent entry{};
  };
  [[nodiscard]] static DIR* handle_of(Listing* listing) { return reinterpret_cast<DIR*>(listing); }

  std::mutex mutex_;
  std::map<const DIR*, std::unique_ptr<Listing>> listings_;
};

/// Files that ROCr has mapped in the window for the host. Thread safety: any thread.
class Views {
public:
  void add(void* address, std::uint64_t size);
  /// False if there was no such view.
  bool remove(void* address, std::uint64_t size);

private:
  std::mutex mutex_;
  std::map<void*, std::uint64_t> sizes_;
};

/// Thread safety: every member may be called from any thread.
class Process {
public:
  /// The driver, opened if it is not; null, with a line on standard error and errno, if the soft GPU does not open. It
  /// stays open: ROCr never closes the device. A child process after fork opens its own.
  [[nodiscard]] static Driver* open();
  /// The ROCr that is going to open it: the library that `code` lies in.
  static void set_caller(const void* code) noexcept;
  /// Null before it was opened, and in a child process that has not.
  [[nodiscard]] static Driver* driver() noexcept;
  [[nodiscard]] static const SystemFiles& system_files();
  [[nodiscard]] static Folders& folders();
  [[nodiscard]] static Views& views();
};

}  // namespace softgpu::kernel_interface
