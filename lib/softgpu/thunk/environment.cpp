#include "softgpu/thunk/environment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <thread>

#include <sys/auxv.h>
#include <unistd.h>

namespace softgpu::thunk {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t smallest_memory = 64 * mebibyte;
constexpr std::uint64_t largest_memory = std::uint64_t{1} << 40;  // the address space of a GPU, as ROCr has it

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view units = "KMGT";
  unsigned shift = 0;
  if (!text.empty()) {
    const std::size_t unit = units.find(text.back() >= 'a' ? static_cast<char>(text.back() - 'a' + 'A') : text.back());
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<unsigned>(unit) + 1);
      text.remove_suffix(1);
    }
  }
  const auto value = parse_number(text);
  if (!value || *value > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return *value << shift;
}

std::uint64_t half_of_host_memory() {
  const auto pages = static_cast<std::uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 0L));
  const auto half = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
  return std::clamp(half, smallest_memory, largest_memory) / (2 * mebibyte) * (2 * mebibyte);
}

/// A number of bytes that a file begins with, behind `name` if that is given; none if there is no such number.
std::optional<std::uint64_t> bytes_in(const char* file, std::string_view name = {}) {
  std::ifstream stream(file);
  for (std::string word; stream >> word;) {
    if (!name.empty() && word != name) continue;
    if (!name.empty()) stream >> word;
    return parse_number(word);
  }
  return std::nullopt;
}

/// What programs can still allocate, by the system and by a container's limit (Linux: proc_meminfo(5), cgroups(7)).
std::uint64_t free_host_memory() {
  constexpr std::uint64_t kibibyte = 1024;
  std::uint64_t free = bytes_in("/proc/meminfo", "MemAvailable:").value_or(largest_memory / kibibyte) * kibibyte;
  constexpr std::array<std::array<const char*, 2>, 2> limits = {
      {{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
       {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}};
  for (const auto& [limit_file, usage_file] : limits) {
    const auto limit = bytes_in(limit_file);
    const std::uint64_t usage = bytes_in(usage_file).value_or(0);
    if (limit && usage < *limit) free = std::min(free, *limit - usage);
  }
  return std::clamp(free, smallest_memory, largest_memory);
}

/// Packets without a barrier bit overlap for real only where several threads execute them, however few cores there are.
std::uint32_t default_threads() { return std::clamp(std::thread::hardware_concurrency(), 4U, 256U); }

/// As the XDG base directory specification has it. Empty if the user has no home, or if the program has rights that its
/// user has not.
std::string default_cache_folder(const Environment::Lookup& lookup) {
  const auto absolute = [&](const char* name) -> std::string {
    const char* value = lookup(name);
    return value != nullptr && *value == '/' ? value : "";
  };
  if (getauxval(AT_SECURE) != 0) return {};
  if (const std::string cache = absolute("XDG_CACHE_HOME"); !cache.empty()) return cache + "/softgpu";
  if (const std::string home = absolute("HOME"); !home.empty()) return home + "/.cache/softgpu";
  return {};
}

/// Reads variables one after the other and keeps the first complaint.
class Reader {
public:
  explicit Reader(const Environment::Lookup& lookup) : lookup_(lookup) {}

  void count(const char* name, std::uint32_t& value, std::uint32_t low, std::uint32_t high) {
    const char* text = lookup_(name);
    if (text == nullptr) return;
    const auto number = parse_number(text);
    if (!number || *number < low || *number > high)
      complain(name, text, "a number from " + std::to_string(low) + " to " + std::to_string(high));
    else
      value = static_cast<std::uint32_t>(*number);
  }

  void seconds(const char* name, std::optional<std::chrono::seconds>& value) {
    if (lookup_(name) == nullptr) return;
    std::uint32_t number = 0;
    count(name, number, 1, 86400);
    value = std::chrono::seconds(number);
  }

  void bytes(const char* name, std::uint64_t& value) {
    const char* text = lookup_(name);
    if (text == nullptr) return;
    const auto number = parse_bytes(text);
    if (!number || *number < smallest_memory || *number > largest_memory)
      complain(name, text, "a size from 64M to 1T, such as 8G");
    else
      value = *number / (2 * mebibyte) * (2 * mebibyte);
  }

  void seed(const char* name, std::optional<std::uint64_t>& value) {
    const char* text = lookup_(name);
    if (text == nullptr) return;
    value = parse_number(text);
    if (!value) complain(name, text, "a seed, a number from 0 up");
  }

  void architectures(const char* name, std::vector<const compute::Architecture*>& value) {
    const char* text = lookup_(name);
    if (text == nullptr) return;
    value.clear();
    std::string_view rest = text;
    while (true) {
      const std::size_t comma = rest.find(',');
      const compute::Architecture* found = compute::Architecture::find(rest.substr(0, comma));
      if (const auto llvm = compute::Architecture::needed_llvm(rest.substr(0, comma)))
        return complain(name, text,
                        "known to the LLVM of this build: " + std::string(rest.substr(0, comma)) + " needs LLVM " +
                            std::to_string(*llvm) + " or later");
      if (found == nullptr) return complain(name, text, known_architectures());
      value.push_back(found);
      if (comma == std::string_view::npos) return;
      rest.remove_prefix(comma + 1);
    }
  }

  void level(const char* name, LogLevel& value) {
    const char* text = lookup_(name);
    if (text == nullptr) return;
    const std::string_view word = text;
    if (word == "off")
      value = LogLevel::off;
    else if (word == "error")
      value = LogLevel::error;
    else if (word == "packets")
      value = LogLevel::packets;
    else
      complain(name, text, "off, error or packets");
  }

  void folder(const char* name, std::string& value) {
    const char* text = lookup_(name);
    if (text == nullptr) return;
    const std::string_view word = text;
    if (word == "off")
      value.clear();
    else if (word.starts_with('/'))
      value = word;
    else
      complain(name, text, "off or a folder's absolute path");
  }

  void profile(const char* name, std::string& value) {
    const char* text = lookup_(name);
    if (text == nullptr || *text == '\0') return;
    const std::string_view word = text;
    if (word == "table" || word.ends_with(".json") || word.ends_with(".html"))
      value = word;
    else
      complain(name, text, "table, or a file that ends in .json or .html");
  }

  void cpu(const char* name, compute::HostCpu& value) {
    const char* text = lookup_(name);
    if (text == nullptr) return;
    if (const auto named = compute::host_cpu_named(text))
      value = *named;
    else
      complain(name, text, "host, avx2 or avx512, as far as this CPU has it");
  }

  /// About a variable whose value is right by itself.
  void complain(const char* name, const std::string& expected) {
    const char* text = lookup_(name);
    complain(name, text == nullptr ? "" : text, expected);
  }

  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

private:
  static std::string known_architectures() {
    std::string known;
    for (const compute::Architecture& each : compute::Architecture::all()) {
      if (!known.empty()) known += &each == &compute::Architecture::all().back() ? " or " : ", ";
      known += each.name;
    }
    return known;
  }

  void complain(const char* name, const char* text, const std::string& expected) {
    if (complaint_.empty()) complaint_ = std::string(name) + "='" + text + "' is not " + expected;
  }

  const Environment::Lookup& lookup_;
  std::string complaint_;
};

}  // namespace

std::variant<Environment, std::string> Environment::read(const Lookup& lookup) {
  Environment environment;
  environment.memory_bytes = half_of_host_memory();
  environment.host_memory_bytes = free_host_memory();
  environment.threads = default_threads();
  environment.cache_folder = default_cache_folder(lookup);

  Reader reader(lookup);
  reader.architectures("SOFTGPU_ARCH", environment.architectures);
  const std::size_t named = environment.architectures.size();
  environment.gpus = static_cast<std::uint32_t>(named);
  reader.count("SOFTGPU_GPUS", environment.gpus, 1, 16);
  if (named > 1 && named != environment.gpus)
    reader.complain("SOFTGPU_ARCH",
                    "one name, or one for each of " + std::to_string(environment.gpus) + " GPUs (SOFTGPU_GPUS)");
  if (named > 16) reader.complain("SOFTGPU_ARCH", "names of up to 16 GPUs");
  reader.count("SOFTGPU_COMPUTE_UNITS", environment.compute_units, 1, 512);
  reader.bytes("SOFTGPU_MEMORY", environment.memory_bytes);
  reader.bytes("SOFTGPU_HOST_MEMORY", environment.host_memory_bytes);
  reader.count("SOFTGPU_STRICT", environment.strict, 0, 1);
  if (environment.strict != 0) environment.large_bar = 0;
  if (environment.strict != 0 && named > 1)
    reader.complain("SOFTGPU_STRICT", "0, as GPUs of several architectures (SOFTGPU_ARCH) need it");
  reader.count("SOFTGPU_LARGE_BAR", environment.large_bar, 0, 1);
  reader.count("SOFTGPU_XNACK", environment.xnack, 0, 1);
  reader.count("SOFTGPU_THREADS", environment.threads, 1, 256);
  reader.seed("SOFTGPU_SHUFFLE", environment.shuffle_seed);
  reader.seconds("SOFTGPU_TIMEOUT", environment.timeout);
  reader.folder("SOFTGPU_CACHE", environment.cache_folder);
  reader.cpu("SOFTGPU_CPU", environment.cpu);
  reader.count("SOFTGPU_OPTIMIZE", environment.optimize, 0, 2);
  reader.level("SOFTGPU_LOG", environment.log);
  if (const char* file = lookup("SOFTGPU_TRACE")) environment.trace = file;
  reader.profile("SOFTGPU_PROFILE", environment.profile);
  if (!reader.complaint().empty()) return reader.complaint();
  return environment;
}

std::variant<Environment, std::string> Environment::read() {
  return read([](const char* name) -> const char* { return secure_getenv(name); });
}

}  // namespace softgpu::thunk
