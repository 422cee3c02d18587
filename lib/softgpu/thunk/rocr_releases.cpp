#include "softgpu/thunk/rocr_releases.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace softgpu::thunk {
namespace {

// The imports of both releases, without the prefix hsaKmt, and those of one release only. GetTileConfig is left out: it
// belongs to images, which a build of ROCr may lack.
constexpr std::array<std::string_view, 38> in_both = {"AcquireSystemProperties",
                                                      "AllocMemory",
                                                      "AllocQueueGWS",
                                                      "CloseKFD",
                                                      "CreateEvent",
                                                      "CreateQueue",
                                                      "DeregisterMemory",
                                                      "DestroyEvent",
                                                      "DestroyQueue",
                                                      "FreeMemory",
                                                      "GetClockCounters",
                                                      "GetNodeCacheProperties",
                                                      "GetNodeIoLinkProperties",
                                                      "GetNodeMemoryProperties",
                                                      "GetNodeProperties",
                                                      "GetVersion",
                                                      "GetXNACKMode",
                                                      "MapMemoryToGPU",
                                                      "MapMemoryToGPUNodes",
                                                      "OpenKFD",
                                                      "QueryPointerInfo",
                                                      "RegisterGraphicsHandleToNodes",
                                                      "RegisterMemoryWithFlags",
                                                      "RegisterSharedHandle",
                                                      "ReleaseSystemProperties",
                                                      "RuntimeDisable",
                                                      "RuntimeEnable",
                                                      "SVMGetAttr",
                                                      "SVMSetAttr",
                                                      "SetEvent",
                                                      "SetMemoryPolicy",
                                                      "SetMemoryUserData",
                                                      "SetQueueCUMask",
                                                      "SetTrapHandler",
                                                      "SetXNACKMode",
                                                      "ShareMemory",
                                                      "UnmapMemoryToGPU",
                                                      "UpdateQueue"};

constexpr std::array<std::string_view, 3> only_in_5_2 = {"RegisterSharedHandleToNodes", "WaitOnEvent",
                                                         "WaitOnMultipleEvents"};

constexpr std::array<std::string_view, 16> only_in_6_1 = {"AvailableMemory",
                                                          "DbgDisable",
                                                          "DbgEnable",
                                                          "DbgGetDeviceData",
                                                          "DbgGetQueueData",
                                                          "ExportDMABufHandle",
                                                          "GetAMDGPUDeviceHandle",
                                                          "GetRuntimeCapabilities",
                                                          "OpenSMI",
                                                          "ReplaceAsanHeaderPage",
                                                          "ReturnAsanHeaderPage",
                                                          "SPMAcquire",
                                                          "SPMRelease",
                                                          "SPMSetDestBuffer",
                                                          "WaitOnEvent_Ext",
                                                          "WaitOnMultipleEvents_Ext"};

/// How the files of Debian's 6.4.3 and 7.2.4 end. AMD's builds have the release in the last number: 1.18.70204.
constexpr std::string_view file_of_6_4 = "/libhsa-runtime64.so.1.15.0";
constexpr std::string_view file_of_7_2 = "/libhsa-runtime64.so.1.18.0";

bool is_rocr(const LoadedLibrary& library) { return library.soname.starts_with("libhsa-runtime64.so"); }

/// Full names in order, but the optional one.
std::vector<std::string> sorted(std::span<const std::string> imports) {
  std::vector<std::string> names;
  std::copy_if(imports.begin(), imports.end(), std::back_inserter(names),
               [](const std::string& name) { return name != "hsaKmtGetTileConfig"; });
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> imports_of(std::span<const std::string_view> own) {
  std::vector<std::string> names;
  const auto full_name = [](std::string_view name) { return "hsaKmt" + std::string(name); };
  std::transform(in_both.begin(), in_both.end(), std::back_inserter(names), full_name);
  std::transform(own.begin(), own.end(), std::back_inserter(names), full_name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// The sorted names of `first` that `second` lacks.
std::vector<std::string> difference(const std::vector<std::string>& first, const std::vector<std::string>& second) {
  std::vector<std::string> names;
  std::set_difference(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(names));
  return names;
}

}  // namespace

std::optional<RocrRelease> rocr_release(const LoadedLibrary& rocr) {
  if (rocr.thunk_imports.empty()) {
    if (rocr.path.ends_with(file_of_6_4)) return RocrRelease::rocr_6_4;
    return rocr.path.ends_with(file_of_7_2) ? std::optional(RocrRelease::rocr_7_2) : std::nullopt;
  }
  const std::vector<std::string> imports = sorted(rocr.thunk_imports);
  if (imports == imports_of(only_in_5_2)) return RocrRelease::rocr_5_2;
  if (imports == imports_of(only_in_6_1)) return RocrRelease::rocr_6_1;
  return std::nullopt;
}

Layouts layouts_of(const LoadedLibrary& caller) {
  const std::vector<std::string>& imports = caller.thunk_imports;
  const bool imports_of_7 = std::find(imports.begin(), imports.end(), "hsaKmtModelEnabled") != imports.end();
  return imports_of_7 ? Layouts::of_7 : Layouts::of_5;
}

std::optional<std::string> unknown_rocr_warning(const LoadedLibrary& caller) {
  if (!is_rocr(caller) || rocr_release(caller)) return std::nullopt;
  std::string text =
      caller.path + " is none of the ROCr releases that the soft GPU is tested under: 5.2, 6.1, 6.4 and 7.2";
  const auto unknown =
      difference(difference(sorted(caller.thunk_imports), imports_of(only_in_5_2)), imports_of(only_in_6_1));
  if (!unknown.empty()) text += "; it also calls " + list(unknown);
  return text;
}

}  // namespace softgpu::thunk
