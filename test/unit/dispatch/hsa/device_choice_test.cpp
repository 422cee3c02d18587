#include "dispatch/hsa/device_choice.hpp"

#include <cerrno>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"

namespace fastdispatch::test {
namespace {

using detail::choose_device;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

// A machine that is made up: files that can be opened, errors of those that cannot, and the driver's topology.
struct MadeUpMachine {
  std::map<std::string, detail::OpenedFile> files;  // the others do not exist
  std::map<std::string, std::string> texts;
  std::vector<std::string> nodes;
  std::map<std::string, std::string> variables;
  std::string group = "render";

  void add_gpu(int minor, int error) {
    const std::string node = "/sys/class/kfd/kfd/topology/nodes/" + std::to_string(nodes.size());
    nodes.push_back(node);
    texts[node + "/properties"] =
        "cpu_cores_count 0\nsimd_count 416\ndrm_render_minor " + std::to_string(minor) + "\nnum_xcc 1\n";
    if (error != ENOENT) files["/dev/dri/renderD" + std::to_string(minor)] = {.error = error};
  }
  void add_processor() {
    const std::string node = "/sys/class/kfd/kfd/topology/nodes/" + std::to_string(nodes.size());
    nodes.push_back(node);
    texts[node + "/properties"] = "cpu_cores_count 64\nsimd_count 0\ndrm_render_minor 0\n";
  }

  [[nodiscard]] detail::Machine view() const {
    return {.open =
                [this](const std::string& path) {
                  const auto found = files.find(path);
                  return found == files.end() ? detail::OpenedFile{.error = ENOENT} : found->second;
                },
            .group_of = [this](const std::string&) { return group; },
            .read =
                [this](const std::string& path) {
                  const auto found = texts.find(path);
                  return found == texts.end() ? std::string() : found->second;
                },
            .list = [this](const std::string&) { return nodes; },
            .environment = [this](const char* name) -> const char* {
              const auto found = variables.find(name);
              return found == variables.end() ? nullptr : found->second.c_str();
            }};
  }
  [[nodiscard]] Device choose(Device requested = Device::automatic) const { return choose_device(requested, view()); }
  [[nodiscard]] std::string error(Device requested = Device::automatic) const {
    return error_of([&] { static_cast<void>(choose(requested)); });
  }
};

MadeUpMachine machine_with_gpu() {
  MadeUpMachine machine;
  machine.files["/dev/kfd"] = {};
  machine.add_processor();
  machine.add_gpu(128, 0);
  return machine;
}

TEST(DeviceChoice, is_the_gpu_where_there_is_a_driver_and_the_soft_gpu_elsewhere) {
  EXPECT_EQ(machine_with_gpu().choose(), Device::amd);
  MadeUpMachine without;
  EXPECT_EQ(without.choose(), Device::softgpu);
  without.variables["FASTDISPATCH_DEVICE"] = "auto";
  EXPECT_EQ(without.choose(), Device::softgpu);
  without.variables["FASTDISPATCH_DEVICE"] = "";
  EXPECT_EQ(without.choose(), Device::softgpu);
}

TEST(DeviceChoice, follows_the_environment_only_where_the_program_leaves_it_open) {
  MadeUpMachine machine = machine_with_gpu();
  machine.variables["FASTDISPATCH_DEVICE"] = "softgpu";
  EXPECT_EQ(machine.choose(), Device::softgpu);
  EXPECT_EQ(machine.choose(Device::amd), Device::amd);
  machine.variables["FASTDISPATCH_DEVICE"] = "amd";
  EXPECT_EQ(machine.choose(), Device::amd);
  EXPECT_EQ(machine.choose(Device::softgpu), Device::softgpu);
}

TEST(DeviceChoice, refuses_a_device_that_it_does_not_know) {
  MadeUpMachine machine;
  machine.variables["FASTDISPATCH_DEVICE"] = "nvidia";
  EXPECT_THAT(machine.error(), AllOf(HasSubstr("FASTDISPATCH_DEVICE is 'nvidia'"), HasSubstr("auto, amd or softgpu")));
}

TEST(DeviceChoice, refuses_a_gpu_that_is_asked_for_and_not_there) {
  MadeUpMachine machine;
  const auto message = AllOf(HasSubstr("there is no /dev/kfd"), HasSubstr("amdgpu driver loaded"),
                             HasSubstr("--device=/dev/kfd"), HasSubstr("FASTDISPATCH_DEVICE=softgpu"));
  EXPECT_THAT(machine.error(Device::amd), message);
  machine.variables["FASTDISPATCH_DEVICE"] = "amd";
  EXPECT_THAT(machine.error(), message);
}

TEST(DeviceChoice, tells_a_user_without_the_rights_which_group_is_needed_instead_of_taking_the_soft_gpu) {
  MadeUpMachine machine = machine_with_gpu();
  machine.files["/dev/kfd"] = {.error = EACCES};
  for (const Device requested : {Device::automatic, Device::amd})
    EXPECT_THAT(machine.error(requested),
                AllOf(HasSubstr("/dev/kfd cannot be opened: Permission denied"), HasSubstr("the group render,"),
                      HasSubstr("sudo usermod -a -G render,video $USER"), HasSubstr("FASTDISPATCH_DEVICE=softgpu")));
  EXPECT_EQ(machine.choose(Device::softgpu), Device::softgpu);

  machine.group = "root";  // as in some containers
  EXPECT_THAT(machine.error(), AllOf(HasSubstr("in the groups render and video"), Not(HasSubstr("group root"))));
}

TEST(DeviceChoice, tells_a_container_which_devices_it_lacks) {
  MadeUpMachine machine = machine_with_gpu();
  machine.files["/dev/kfd"] = {.error = EPERM};
  EXPECT_THAT(machine.error(), AllOf(HasSubstr("/dev/kfd cannot be opened: Operation not permitted"),
                                     HasSubstr("--device=/dev/kfd --device=/dev/dri")));
}

TEST(DeviceChoice, tells_that_the_driver_is_not_there_behind_its_file) {
  MadeUpMachine machine;
  machine.files["/dev/kfd"] = {.error = ENXIO};
  EXPECT_THAT(machine.error(), AllOf(HasSubstr("/dev/kfd cannot be opened: No such device"), HasSubstr("dmesg")));
}

TEST(DeviceChoice, tells_a_missing_render_node) {
  MadeUpMachine machine;
  machine.files["/dev/kfd"] = {};
  machine.add_processor();
  machine.add_gpu(129, ENOENT);
  EXPECT_THAT(machine.error(), AllOf(HasSubstr("render node /dev/dri/renderD129 is missing"),
                                     HasSubstr("--device=/dev/dri"), HasSubstr("FASTDISPATCH_DEVICE=softgpu")));
}

TEST(DeviceChoice, tells_a_render_node_that_the_user_may_not_open) {
  MadeUpMachine machine;
  machine.files["/dev/kfd"] = {};
  machine.add_gpu(128, EACCES);
  EXPECT_THAT(machine.error(), AllOf(HasSubstr("/dev/dri/renderD128 cannot be opened: Permission denied"),
                                     HasSubstr("usermod -a -G render,video")));
}

TEST(DeviceChoice, is_content_with_one_gpu_of_several) {
  MadeUpMachine machine;
  machine.files["/dev/kfd"] = {};
  machine.add_gpu(128, ENOENT);
  machine.add_gpu(129, 0);
  EXPECT_EQ(machine.choose(), Device::amd);
}

TEST(DeviceChoice, takes_the_driver_that_softgpu_run_stands_in_for) {
  MadeUpMachine machine;
  machine.files["/dev/kfd"] = {.null_device = true};
  machine.add_gpu(128, EACCES);  // which nobody opens there
  EXPECT_EQ(machine.choose(), Device::amd);
}

TEST(DeviceChoice, comes_with_the_reason) {
  MadeUpMachine machine;
  EXPECT_EQ(detail::reason_for_device(Device::automatic, machine.view()), "there is no /dev/kfd");
  machine.files["/dev/kfd"] = {};
  EXPECT_EQ(detail::reason_for_device(Device::automatic, machine.view()), "there is a /dev/kfd");
  machine.variables["FASTDISPATCH_DEVICE"] = "auto";
  EXPECT_EQ(detail::reason_for_device(Device::automatic, machine.view()), "there is a /dev/kfd");
  machine.variables["FASTDISPATCH_DEVICE"] = "softgpu";
  EXPECT_EQ(detail::reason_for_device(Device::automatic, machine.view()), "FASTDISPATCH_DEVICE is softgpu");
  EXPECT_EQ(detail::reason_for_device(Device::amd, machine.view()), "the program asks for it");
}

TEST(RuntimeCandidates, are_those_of_rocm_path_then_of_opt_rocm_then_of_the_dynamic_linker) {
  const auto library = [](const char* name) { return Field(&detail::RuntimeCandidate::library, name); };
  MadeUpMachine machine;
  EXPECT_THAT(detail::runtime_candidates(machine.view()),
              ElementsAre(library("/opt/rocm/lib/libhsa-runtime64.so.1"), library("libhsa-runtime64.so.1")));
  machine.variables["ROCM_PATH"] = "/opt/rocm-7.2.0";
  EXPECT_THAT(detail::runtime_candidates(machine.view()),
              ElementsAre(AllOf(library("/opt/rocm-7.2.0/lib/libhsa-runtime64.so.1"),
                                Field(&detail::RuntimeCandidate::why, HasSubstr("ROCM_PATH"))),
                          library("/opt/rocm/lib/libhsa-runtime64.so.1"), library("libhsa-runtime64.so.1")));
  machine.variables["ROCM_PATH"] = "";
  EXPECT_EQ(detail::runtime_candidates(machine.view()).size(), 2U);
}

TEST(NoGpuMessage, names_the_variable_that_hides_gpus) {
  MadeUpMachine machine;
  EXPECT_THAT(detail::no_gpu_message(machine.view()),
              AllOf(HasSubstr("no GPU that can run kernels"), HasSubstr("rocminfo"), Not(HasSubstr("ROCR_VISIBLE"))));
  machine.variables["ROCR_VISIBLE_DEVICES"] = "7";
  EXPECT_THAT(detail::no_gpu_message(machine.view()), HasSubstr("ROCR_VISIBLE_DEVICES is '7'"));
  machine.variables["ROCR_VISIBLE_DEVICES"] = "";
  EXPECT_THAT(detail::no_gpu_message(machine.view()), HasSubstr("ROCR_VISIBLE_DEVICES is ''"));
}

TEST(ThisMachine, tells_files_apart) {
  const detail::Machine machine = detail::this_machine();
  EXPECT_EQ(machine.open("/nowhere/at/all").error, ENOENT);
  EXPECT_EQ(machine.open("/proc").error, EISDIR);
  EXPECT_EQ(machine.open("/dev/null").error, 0);
  EXPECT_TRUE(machine.open("/dev/null").null_device);
  EXPECT_FALSE(machine.open("/dev/zero").null_device);
  EXPECT_EQ(machine.read("/nowhere/at/all"), "");
  EXPECT_THAT(machine.read("/proc/self/status"), HasSubstr("Name:"));
  EXPECT_THAT(machine.list("/proc/self"), testing::Contains("/proc/self/status"));
  EXPECT_TRUE(machine.list("/nowhere/at/all").empty());
  EXPECT_EQ(machine.environment("FASTDISPATCH_NO_SUCH_VARIABLE"), nullptr);
}

}  // namespace
}  // namespace fastdispatch::test
