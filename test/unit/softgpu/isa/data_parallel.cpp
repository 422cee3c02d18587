#include "data_parallel.hpp"

#include <sstream>

namespace softgpu::isa {
namespace {

using Source = std::optional<unsigned>;

constexpr unsigned row_of(unsigned lane) { return lane & ~15U; }

DppControl counted(const char* name, unsigned count, std::function<Source(unsigned)> source) {
  return {std::string(name) + ":" + std::to_string(count), std::move(source)};
}

}  // namespace

std::string Dpp::text() const {
  std::ostringstream text;
  text << control.text << " row_mask:0x" << std::hex << row_mask << " bank_mask:0x" << bank_mask;
  if (bound_control) text << " bound_ctrl:1";
  return text.str();
}

DppControl quad_perm(std::array<unsigned, 4> lanes) {
  std::ostringstream text;
  text << "quad_perm:[" << lanes[0] << "," << lanes[1] << "," << lanes[2] << "," << lanes[3] << "]";
  return {text.str(), [lanes](unsigned lane) { return Source((lane & ~3U) + lanes.at(lane & 3)); }};
}
DppControl row_shl(unsigned count) {
  return counted("row_shl", count,
                 [count](unsigned lane) { return lane % 16 + count < 16 ? Source(lane + count) : std::nullopt; });
}
DppControl row_shr(unsigned count) {
  return counted("row_shr", count,
                 [count](unsigned lane) { return lane % 16 >= count ? Source(lane - count) : std::nullopt; });
}
DppControl row_ror(unsigned count) {
  return counted("row_ror", count, [count](unsigned lane) { return Source(row_of(lane) + (lane - count) % 16); });
}
DppControl row_newbcast(unsigned lane) {
  return counted("row_newbcast", lane, [source = lane](unsigned to) { return Source(row_of(to) + source); });
}

const std::vector<DppControl>& dpp_controls() {
  static const std::vector<DppControl> controls = {
      quad_perm({1, 0, 3, 2}),
      row_shr(1),
      row_ror(5),
      {"row_bcast:15", [](unsigned lane) { return lane >= 16 ? Source(row_of(lane) - 1) : std::nullopt; }},
      {"wave_shl:1", [](unsigned lane) { return lane < 63 ? Source(lane + 1) : std::nullopt; }},
      {"row_mirror", [](unsigned lane) { return Source(row_of(lane) + 15 - lane % 16); }},
      row_newbcast(11),
      quad_perm({3, 3, 0, 2}),
      row_shl(3),
      {"row_bcast:31", [](unsigned lane) { return lane >= 32 ? Source(31U) : std::nullopt; }},
      {"wave_rol:1", [](unsigned lane) { return Source((lane + 1) % 64); }},
      {"row_half_mirror", [](unsigned lane) { return Source((lane & ~7U) + 7 - lane % 8); }},
      {"wave_shr:1", [](unsigned lane) { return lane > 0 ? Source(lane - 1) : std::nullopt; }},
      {"wave_ror:1", [](unsigned lane) { return Source((lane + 63) % 64); }},
      row_shl(15),
      row_shr(15),
      row_ror(1),
      row_ror(15),
      row_newbcast(0),
      quad_perm({0, 1, 2, 3})};
  return controls;
}

}  // namespace softgpu::isa
