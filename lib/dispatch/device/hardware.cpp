#include "dispatch/device/hardware.hpp"

#include <charconv>
#include <optional>

namespace fastdispatch::detail {

namespace {

struct IsaVersion {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned stepping = 0;
};

// gfx90a is 9.0.10, gfx1030 is 10.3.0: minor version and stepping are one hexadecimal digit each.
std::optional<IsaVersion> version_of(std::string_view isa) noexcept {
  const std::string_view name = isa.substr(0, isa.find(':'));  // without features
  const std::size_t begin = name.rfind("gfx");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(begin + 3);
  if (digits.size() < 3) return std::nullopt;
  IsaVersion version;
  const auto read = [](std::string_view text, unsigned& number, int base) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return error == std::errc() && end == text.data() + text.size();
  };
  const bool is_version = read(digits.substr(0, digits.size() - 2), version.major, 10) &&
                          read(digits.substr(digits.size() - 2, 1), version.minor, 16) &&
                          read(digits.substr(digits.size() - 1), version.stepping, 16);
  return is_version ? std::optional(version) : std::nullopt;
}

// The GPUs from MI200 to MI350.
bool is_gfx90a_to_gfx95x(std::string_view isa) noexcept {
  const auto version = version_of(isa);
  if (!version || version->major != 9) return false;
  if (version->minor == 0) return version->stepping == 0xa;
  return version->minor >= 4 && version->stepping <= 2;
}

}  // namespace

bool has_barrier_value_packets(std::string_view isa) noexcept { return is_gfx90a_to_gfx95x(isa); }

KernargObstacle kernarg_obstacle(std::string_view isa, bool xgmi_to_host) noexcept {
  if (!is_gfx90a_to_gfx95x(isa)) return KernargObstacle::writes_need_a_flush;
  const bool is_gfx90a = version_of(isa)->minor == 0;
  return is_gfx90a && !xgmi_to_host ? KernargObstacle::l2_may_be_stale : KernargObstacle::none;
}

}  // namespace fastdispatch::detail
