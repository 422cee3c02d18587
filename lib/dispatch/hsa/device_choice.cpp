#include "dispatch/hsa/device_choice.hpp"

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include <spdlog/fmt/fmt.h>

#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {

constexpr const char* driver_file = "/dev/kfd";
constexpr const char* topology_folder = "/sys/class/kfd/kfd/topology/nodes";
constexpr const char* container_hint = "in a container, start it with --device=/dev/kfd --device=/dev/dri";

// Why a device file that is there cannot be opened, and what to do.
std::string advice(const Machine& machine, const std::string& path, int error) {
  const std::string what = fmt::format("{} cannot be opened: {}", path, std::generic_category().message(error));
  if (error == EACCES) {
    const std::string group = machine.group_of(path);
    return fmt::format(
        "{}; {}: sudo usermod -a -G render,video $USER, and log in again", what,
        group.empty() || group == "root"
            ? std::string("the user must be in the groups render and video")
            : fmt::format("it belongs to the group {}, and the user must be in its groups, render and video", group));
  }
  if (error == EPERM) return fmt::format("{}; {}", what, container_hint);
  return fmt::format("{}; is the amdgpu driver loaded? The kernel's log, dmesg, tells more", what);
}

// A number that the driver tells of a node, or none: the files have a line "name number" each.
std::optional<long> property(const std::string& properties, std::string_view name) {
  std::istringstream lines(properties);
  std::string key;
  std::string value;
  while (lines >> key >> value)
    if (key == name) return std::strtol(value.c_str(), nullptr, 10);
  return std::nullopt;
}

// The render nodes of the GPUs that the driver lists. Processors have no SIMDs, and no such node.
std::vector<std::string> render_nodes(const Machine& machine) {
  std::vector<std::string> nodes;
  for (const std::string& node : machine.list(topology_folder)) {
    const std::string properties = machine.read(node + "/properties");
    const long minor = property(properties, "drm_render_minor").value_or(0);
    if (property(properties, "simd_count").value_or(0) > 0 && minor > 0)
      nodes.push_back(fmt::format("/dev/dri/renderD{}", minor));
  }
  return nodes;
}

// Why this process can use none of the GPUs that the driver lists, or nothing.
std::string render_obstacle(const Machine& machine) {
  std::string first;
  for (const std::string& node : render_nodes(machine)) {
    const int error = machine.open(node).error;
    if (error == 0) return {};
    if (!first.empty()) continue;
    first = error == ENOENT
                ? fmt::format("the GPU's render node {} is missing: {}; elsewhere ask dmesg what became of amdgpu",
                              node, container_hint)
                : advice(machine, node, error);
  }
  return first;
}

// Why this process cannot use an AMD GPU though there is a driver, or nothing.
std::string obstacle(const Machine& machine, const OpenedFile& driver) {
  if (driver.error != 0) return advice(machine, driver_file, driver.error);
  return driver.null_device ? std::string() : render_obstacle(machine);
}

Device wanted_device(Device requested, const Machine& machine) {
  const char* environment = machine.environment("FASTDISPATCH_DEVICE");
  if (requested != Device::automatic || environment == nullptr) return requested;
  const std::string_view value = environment;
  if (value == "amd") return Device::amd;
  if (value == "softgpu") return Device::softgpu;
  if (value == "auto" || value.empty()) return Device::automatic;
  throw Error(fmt::format("FASTDISPATCH_DEVICE is '{}'; it may be auto, amd or softgpu", value));
}

}  // namespace

Device choose_device(Device requested, const Machine& machine) {
  const Device wanted = wanted_device(requested, machine);
  if (wanted == Device::softgpu) return wanted;
  const OpenedFile driver = machine.open(driver_file);
  const bool is_missing = driver.error == ENOENT;
  if (is_missing && wanted == Device::automatic) return Device::softgpu;
  if (is_missing)
    throw Error(ErrorKind::runtime,
                fmt::format("an AMD GPU was asked for, but there is no {}: is the amdgpu driver loaded? Or, {} "
                            "(FASTDISPATCH_DEVICE=softgpu uses the soft GPU)",
                            driver_file, container_hint));
  // Never the soft GPU in its place: a user with a GPU would measure something else without knowing it.
  if (const std::string why = obstacle(machine, driver); !why.empty())
    throw Error(ErrorKind::runtime, fmt::format("there is an AMD GPU's driver, but this process cannot use it: {} "
                                                "(FASTDISPATCH_DEVICE=softgpu uses the soft GPU)",
                                                why));
  return Device::amd;
}

std::string reason_for_device(Device requested, const Machine& machine) {
  if (requested != Device::automatic) return "the program asks for it";
  if (const Device wanted = wanted_device(requested, machine); wanted != Device::automatic)
    return fmt::format("FASTDISPATCH_DEVICE is {}", wanted == Device::amd ? "amd" : "softgpu");
  return fmt::format("{} {}", machine.open(driver_file).error == ENOENT ? "there is no" : "there is a", driver_file);
}

std::vector<RuntimeCandidate> runtime_candidates(const Machine& machine) {
  constexpr const char* name = "libhsa-runtime64.so.1";
  std::vector<RuntimeCandidate> candidates;
  if (const char* rocm = machine.environment("ROCM_PATH"); rocm != nullptr && *rocm != '\0')
    candidates.push_back({fmt::format("{}/lib/{}", rocm, name), "ROCM_PATH names its folder"});
  candidates.push_back({fmt::format("/opt/rocm/lib/{}", name), "it is in AMD's default folder"});
  candidates.push_back({name, "the dynamic linker finds it"});
  return candidates;
}

std::string no_gpu_message(const Machine& machine) {
  const std::string message = "the HSA runtime has no GPU that can run kernels";
  if (const char* visible = machine.environment("ROCR_VISIBLE_DEVICES"))
    return fmt::format("{}: ROCR_VISIBLE_DEVICES is '{}', which may hide them all; unset it, or name one by its index "
                       "or its UUID (rocminfo shows both)",
                       message, visible);
  return fmt::format("{}; rocminfo lists what it sees, and the kernel's log, dmesg, what became of amdgpu (does this "
                     "release of ROCm support the GPU?)",
                     message);
}

}  // namespace fastdispatch::detail
