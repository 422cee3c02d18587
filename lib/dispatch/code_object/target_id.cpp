#include "dispatch/code_object/target_id.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fastdispatch::detail {
namespace {

// EF_AMDGPU_MACH of e_flags (LLVM's AMDGPU usage guide, "AMDGPU e_flags").
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 53> processors{{
    {0x020, "gfx600"},         {0x021, "gfx601"},       {0x022, "gfx700"},          {0x023, "gfx701"},
    {0x024, "gfx702"},         {0x025, "gfx703"},       {0x026, "gfx704"},          {0x028, "gfx801"},
    {0x029, "gfx802"},         {0x02a, "gfx803"},       {0x02b, "gfx810"},          {0x02c, "gfx900"},
    {0x02d, "gfx902"},         {0x02e, "gfx904"},       {0x02f, "gfx906"},          {0x030, "gfx908"},
    {0x031, "gfx909"},         {0x032, "gfx90c"},       {0x033, "gfx1010"},         {0x034, "gfx1011"},
    {0x035, "gfx1012"},        {0x036, "gfx1030"},      {0x037, "gfx1031"},         {0x038, "gfx1032"},
    {0x039, "gfx1033"},        {0x03a, "gfx602"},       {0x03b, "gfx705"},          {0x03c, "gfx805"},
    {0x03d, "gfx1035"},        {0x03e, "gfx1034"},      {0x03f, "gfx90a"},          {0x040, "gfx940"},
    {0x041, "gfx1100"},        {0x042, "gfx1013"},      {0x043, "gfx1150"},         {0x044, "gfx1103"},
    {0x045, "gfx1036"},        {0x046, "gfx1101"},      {0x047, "gfx1102"},         {0x048, "gfx1200"},
    {0x04a, "gfx1151"},        {0x04b, "gfx941"},       {0x04c, "gfx942"},          {0x04e, "gfx1201"},
    {0x04f, "gfx950"},         {0x051, "gfx9-generic"}, {0x052, "gfx10-1-generic"}, {0x053, "gfx10-3-generic"},
    {0x054, "gfx11-generic"},  {0x055, "gfx1152"},      {0x058, "gfx1153"},         {0x059, "gfx12-generic"},
    {0x05f, "gfx9-4-generic"},
}};

constexpr std::uint32_t processor_mask = 0x0ff;
constexpr std::uint8_t abi_version_6 = 4;          // EI_ABIVERSION of code object v6, which brought generic processors
constexpr unsigned generic_version_position = 24;  // EF_AMDGPU_GENERIC_VERSION

struct GenericProcessor {
  std::string_view name;
  std::array<std::string_view, 8> processors;  // and nothing behind them
};

// LLVM's AMDGPU usage guide, "AMDGPU Generic Processors". All of these processors are there since version 1, the first,
// of their generic processor, so they run every version ("Generic Processor Versioning").
constexpr std::array<GenericProcessor, 6> generic_processors{{
    {"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
    {"gfx9-4-generic", {"gfx940", "gfx941", "gfx942", "gfx950"}},
    {"gfx10-1-generic", {"gfx1010", "gfx1011", "gfx1012", "gfx1013"}},
    {"gfx10-3-generic", {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"}},
    {"gfx11-generic", {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}},
    {"gfx12-generic", {"gfx1200", "gfx1201"}},
}};

std::optional<TargetFeature> feature(std::string_view text, std::string_view name) {
  if (text.substr(0, name.size()) != name || text.size() != name.size() + 1) return std::nullopt;
  if (text.back() == '+') return TargetFeature::on;
  if (text.back() == '-') return TargetFeature::off;
  return std::nullopt;
}

// Code object v3 has one bit a feature, and no `any`.
TargetFeature feature_v3(std::uint32_t flags, std::uint32_t bit) {
  return (flags & bit) != 0 ? TargetFeature::on : TargetFeature::off;
}

// From v4 on two bits: 0 where the processor doesn't have the feature, 1 any, 2 off, 3 on.
TargetFeature feature_v4(std::uint32_t flags, unsigned shift) {
  switch ((flags >> shift) & 3) {
  case 2:
    return TargetFeature::off;
  case 3:
    return TargetFeature::on;
  default:
    return TargetFeature::any;
  }
}

bool fits(TargetFeature code, TargetFeature device) {
  // A device that names no setting doesn't have the feature. A cleared bit of v3 says the same.
  return code == TargetFeature::any || code == device || (device == TargetFeature::any && code == TargetFeature::off);
}

}  // namespace

std::optional<TargetId> parse_target_id(std::string_view text) {
  if (!text.starts_with("gfx")) {
    const std::size_t triple = text.find("amdgcn-amd-amdhsa-");
    if (triple == std::string_view::npos) return std::nullopt;
    text.remove_prefix(triple);
    const std::size_t processor = text.find("-gfx");
    if (processor == std::string_view::npos) return std::nullopt;
    text.remove_prefix(processor + 1);
  }
  TargetId target;
  std::size_t end = text.find(':');
  target.processor = text.substr(0, end);
  while (end != std::string_view::npos) {
    text.remove_prefix(end + 1);
    end = text.find(':');
    const std::string_view setting = text.substr(0, end);
    if (const auto sramecc = feature(setting, "sramecc")) {
      target.sramecc = *sramecc;
    } else if (const auto xnack = feature(setting, "xnack")) {
      target.xnack = *xnack;
    } else {
      return std::nullopt;
    }
  }
  return target;
}

std::optional<TargetId> target_id_of_elf(std::uint8_t abi_version, std::uint32_t flags) {
  const auto* processor = std::find_if(processors.begin(), processors.end(),
                                       [&](const auto& entry) { return entry.first == (flags & processor_mask); });
  if (processor == processors.end()) return std::nullopt;
  TargetId target{.processor = std::string(processor->second)};
  if (abi_version == 1) {
    target.xnack = feature_v3(flags, 0x100);
    target.sramecc = feature_v3(flags, 0x200);
  } else {
    target.xnack = feature_v4(flags, 8);
    target.sramecc = feature_v4(flags, 10);
  }
  return target;
}

std::uint32_t generic_version_of_elf(std::uint8_t abi_version, std::uint32_t flags) {
  return abi_version < abi_version_6 ? 0 : flags >> generic_version_position;
}

std::span<const std::string_view> processors_of_generic(std::string_view processor) {
  const auto* generic = std::ranges::find(generic_processors, processor, &GenericProcessor::name);
  if (generic == generic_processors.end()) return {};
  const auto* end = std::ranges::find(generic->processors, std::string_view());
  return {generic->processors.begin(), end};
}

std::string to_string(const TargetId& target) {
  std::string text = target.processor;
  const auto add = [&](std::string_view name, TargetFeature setting) {
    if (setting == TargetFeature::any) return;
    text += name;
    text += setting == TargetFeature::on ? '+' : '-';
  };
  add(":sramecc", target.sramecc);
  add(":xnack", target.xnack);
  return text;
}

bool runs_on(const TargetId& code, const TargetId& device) {
  const std::span<const std::string_view> generic = processors_of_generic(code.processor);
  return (code.processor == device.processor || std::ranges::find(generic, device.processor) != generic.end()) &&
         fits(code.sramecc, device.sramecc) && fits(code.xnack, device.xnack);
}

int specificity(const TargetId& code) {
  constexpr int features = 2;
  return (processors_of_generic(code.processor).empty() ? features + 1 : 0) +
         static_cast<int>(code.sramecc != TargetFeature::any) + static_cast<int>(code.xnack != TargetFeature::any);
}

}  // namespace fastdispatch::detail
