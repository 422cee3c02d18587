// Host code kept in files between runs.
//
// One file a key, written under another name and renamed, so that any number of processes may use the folder at once: a
// reader sees a whole file or none. A file that is damaged, or was made for another key, is removed and made again.
// Files are executed, hence only files and folders that belong to the user and that nobody else may write are
// used. Wherever something is amiss there is simply no cache: a line to the log, and kernels are translated.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace softgpu::compute {

/// Thread safety: every member may be called from any thread, and by any number of processes.
class KernelCache {
public:
  using Key = std::array<std::uint8_t, 32>;  ///< a SHA-256 of all that the content depends on
  using Log = std::function<void(std::string_view)>;

  /// An empty `folder`, an absolute path otherwise: no cache. The folder is made when it is first needed.
  /// `warn` is told once if the folder is there and may not be trusted.
  KernelCache(std::string folder, std::uint64_t limit_bytes, Log log, Log warn = {});
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  [[nodiscard]] bool is_on() const noexcept { return !folder_name_.empty(); }
  [[nodiscard]] std::optional<std::string> find(const Key& key);
  void store(const Key& key, std::string_view content);

private:
  [[nodiscard]] int folder();
  [[nodiscard]] int open_folder();
  void trim();
  void log(std::string_view what, std::string_view why = {}) const;

  std::string folder_name_;
  std::uint64_t limit_bytes_;
  Log log_;
  Log warn_;
  std::once_flag opened_;
  int folder_ = -1;
  std::atomic<std::uint64_t> files_written_{0};
  std::mutex size_mutex_;
  std::optional<std::uint64_t> size_;  ///< of the folder's files, as far as this process knows
};

}  // namespace softgpu::compute
