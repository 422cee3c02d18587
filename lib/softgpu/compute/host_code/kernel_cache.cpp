#include "softgpu/compute/host_code/kernel_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/SHA256.h>

namespace softgpu::compute {
namespace {

using Digest = std::array<std::uint8_t, 32>;

constexpr std::string_view extension = ".kernel";
constexpr std::string_view unfinished_extension = ".unfinished";
constexpr std::array<char, 8> magic = {'s', 'o', 'f', 't', 'g', 'p', 'u', '1'};
constexpr time_t one_hour = 3600;
constexpr time_t one_day = 24 * one_hour;
constexpr off_t largest_file = off_t{64} << 20;

/// What a file begins with; the content follows.
struct Header {
  std::array<char, 8> magic;
  KernelCache::Key key;
  Digest checksum;  ///< of the content
  std::uint64_t size;
};
static_assert(sizeof(Header) == 80);

class File {
public:
  explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

private:
  int descriptor_;
};

/// While it lives, a file that gets larger than the process may make one (RLIMIT_FSIZE) is an error of write() alone:
/// this thread takes the signal that would end the process.
class FileSizeErrors {
public:
  FileSizeErrors() {
    sigemptyset(&too_large_);
    sigaddset(&too_large_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large_, &mask_before_);
  }
  ~FileSizeErrors() {
    constexpr timespec at_once{};
    while (sigtimedwait(&too_large_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  FileSizeErrors(const FileSizeErrors&) = delete;
  FileSizeErrors& operator=(const FileSizeErrors&) = delete;

private:
  sigset_t too_large_;
  sigset_t mask_before_;
};

Digest digest_of(std::string_view bytes) {
  return llvm::SHA256::hash(
      llvm::ArrayRef<std::uint8_t>(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

std::string name_of(const KernelCache::Key& key) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string name;
  for (const std::uint8_t byte : key) {
    name += digits[byte >> 4];
    name += digits[byte & 15];
  }
  return name.append(extension);
}

bool is_the_users_alone(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string reason(int error) { return std::strerror(error); }  // NOLINT(concurrency-mt-unsafe): glibc's is safe

/// Makes the folder, and the missing folders above it, for the user alone.
bool make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST) return true;
  const std::size_t slash = path.find_last_of('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0) return false;
  return make_folder(path.substr(0, slash)) && (::mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST);
}

bool read_all(int file, char* to, std::size_t size) {
  while (size != 0) {
    const ssize_t count = ::read(file, to, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    to += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

bool write_all(int file, const char* from, std::size_t size) {
  while (size != 0) {
    const ssize_t count = ::write(file, from, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    from += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

struct Found {
  std::string name;
  timespec time;
  std::uint64_t size;
};

/// The cache's files. Removes unfinished files of processes that ended.
std::vector<Found> files_in(int folder) {
  std::vector<Found> files;
  File again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseFolder> entries(again ? ::fdopendir(again.get()) : nullptr);
  if (!entries) return files;
  static_cast<void>(again.release());
  const time_t now = ::time(nullptr);
  while (const dirent* entry = ::readdir(entries.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of its own
    const std::string_view name = entry->d_name;
    const bool is_unfinished = name.ends_with(unfinished_extension);
    if (!is_unfinished && !name.ends_with(extension)) continue;
    struct stat status;
    if (::fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
    if (is_unfinished) {
      if (now - status.st_mtim.tv_sec > one_hour) ::unlinkat(folder, entry->d_name, 0);
      continue;
    }
    files.push_back({std::string(name), status.st_mtim, static_cast<std::uint64_t>(status.st_size)});
  }
  return files;
}

std::uint64_t size_of(const std::vector<Found>& files) {
  std::uint64_t size = 0;
  for (const Found& file : files) size += file.size;
  return size;
}

}  // namespace

KernelCache::KernelCache(std::string folder, std::uint64_t limit_bytes, Log log, Log warn)
    : folder_name_(std::move(folder)), limit_bytes_(limit_bytes), log_(std::move(log)), warn_(std::move(warn)) {}

KernelCache::~KernelCache() {
  if (folder_ >= 0) ::close(folder_);
}

void KernelCache::log(std::string_view what, std::string_view why) const {
  if (!log_) return;
  std::string line = "kernel cache: ";
  line.append(what);
  if (!why.empty()) line.append(": ").append(why);
  log_(line);
}

int KernelCache::open_folder() {
  if (!make_folder(folder_name_)) {
    log("no folder " + folder_name_, reason(errno));
    return -1;
  }
  // It may be a link, as ~/.cache may: the owner of the folder behind the link is checked below.
  File opened(::open(folder_name_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status;
  if (!opened || ::fstat(opened.get(), &status) != 0) {
    log("no folder " + folder_name_, reason(errno));
    return -1;
  }
  if (!is_the_users_alone(status)) {
    if (warn_)
      warn_("the folder " + folder_name_ +
            " for translated kernels is not used: it belongs to another user (was it made by sudo?), or others may "
            "write it. Remove it, or set SOFTGPU_CACHE to another folder, or to off");
    return -1;
  }
  return opened.release();
}

int KernelCache::folder() {
  std::call_once(opened_, [this] {
    if (is_on()) folder_ = open_folder();
  });
  return folder_;
}

std::optional<std::string> KernelCache::find(const Key& key) {
  if (folder() < 0) return std::nullopt;
  const std::string name = name_of(key);
  const File file(::openat(folder_, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || !is_the_users_alone(status)) {
    log(name + " is not used", "it belongs to another user, or others may write it");
    return std::nullopt;
  }

  Header header;
  std::string content;
  const auto is_sound = [&] {
    if (status.st_size < off_t{sizeof header} || status.st_size > largest_file) return false;
    if (!read_all(file.get(), reinterpret_cast<char*>(&header), sizeof header)) return false;
    content.resize(static_cast<std::size_t>(status.st_size) - sizeof header);
    return header.magic == magic && header.key == key && header.size == content.size() &&
           read_all(file.get(), content.data(), content.size()) && header.checksum == digest_of(content);
  };
  if (!is_sound()) {
    log(name + " is damaged");
    ::unlinkat(folder_, name.c_str(), 0);
    return std::nullopt;
  }
  // A file's time is the time of its last use, to the day.
  if (::time(nullptr) - status.st_mtim.tv_sec > one_day) ::futimens(file.get(), nullptr);
  return content;
}

void KernelCache::store(const Key& key, std::string_view content) {
  if (folder() < 0) return;
  const FileSizeErrors errors;
  const Header header{.magic = magic, .key = key, .checksum = digest_of(content), .size = content.size()};
  const std::string unfinished = std::to_string(::getpid()) + "-" +
                                 std::to_string(reinterpret_cast<std::uintptr_t>(this)) + "-" +
                                 std::to_string(files_written_++) + std::string(unfinished_extension);
  const File file(
      ::openat(folder_, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!file) return log("nothing can be stored", reason(errno));
  if (!write_all(file.get(), reinterpret_cast<const char*>(&header), sizeof header) ||
      !write_all(file.get(), content.data(), content.size()) ||
      ::renameat(folder_, unfinished.c_str(), folder_, name_of(key).c_str()) != 0) {
    log("nothing can be stored", reason(errno));
    ::unlinkat(folder_, unfinished.c_str(), 0);
    return;
  }
  const std::lock_guard lock(size_mutex_);
  if (size_) *size_ += sizeof header + content.size();
  if (!size_ || *size_ > limit_bytes_) trim();
}

void KernelCache::trim() {
  std::vector<Found> files = files_in(folder_);
  std::uint64_t size = size_of(files);
  if (size > limit_bytes_) {
    std::ranges::sort(files, [](const Found& a, const Found& b) {
      return std::pair(a.time.tv_sec, a.time.tv_nsec) < std::pair(b.time.tv_sec, b.time.tv_nsec);
    });
    // Some room, lest every new file looks through the folder.
    for (const Found& file : files) {
      if (size <= limit_bytes_ / 4 * 3) break;
      if (::unlinkat(folder_, file.name.c_str(), 0) == 0) size -= file.size;
    }
    log("the oldest files are removed");
  }
  size_ = size;
}

}  // namespace softgpu::compute
