// fastdispatch-objdump: what a code object, or a bundle of them, holds.
#include "command_line.hpp"
#include "describe_file.hpp"
#include "input_file.hpp"
#include "machine_code.hpp"
#include "run_program.hpp"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr const char* program = "fastdispatch-objdump";

std::vector<std::uint8_t> contents_of(const std::filesystem::path& file) {
  try {
    return read_file(file);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("cannot read " + file.string() + ": " + error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::filesystem::path file;
  std::string target;
  std::string kernel;
  DumpOptions options;
  bool as_json = false;
  CommandLine line(
      "Prints what a code object of clang's or hipcc's, or a bundle of them, holds: entries, kernels, their arguments "
      "and resources, how many of their wavefronts the GPU holds at a time, and the instructions.",
      program);
  line.option("file", &file, "The code object, or the bundle").value_name("FILE").required();
  const CommandLineOption target_option =
      line.option("--target", &target, "Only the code objects for this target").value_name("gfx...");
  const CommandLineOption kernel_option =
      line.option("--kernel", &kernel, "Only this kernel, by its name in the source or the mangled one")
          .value_name("NAME");
  line.option("--group-size", &options.group_work_items,
              "Work-items of a work-group, for the occupancy (256, or the most that the kernel allows)")
      .between(1, 1024)
      .value_name("N");
  line.option("--dynamic-lds", &options.dynamic_lds_bytes, "LDS of a work-group beside what the kernel declares (0)")
      .value_name("BYTES");
  line.flag("--implicit", options.shows_implicit_arguments, "Also the arguments that the dispatcher writes");
  line.flag("--disassemble", options.disassembles,
            knows_machine_code() ? "The instructions, with source lines if the kernel was compiled with -g"
                                 : "Not in this tool: it was built without the soft GPU, whose decoder it takes");
  line.flag("--json", as_json, "Print it as JSON");
  line.parse_or_exit(argc, argv);
  if (options.disassembles && !knows_machine_code())
    line.refuse(
        "--disassemble: this tool was built without the soft GPU (FASTDISPATCH_BUILD_SOFTGPU), whose decoder it "
        "takes");
  if (target_option.is_given()) options.target = target;
  if (kernel_option.is_given()) options.kernel = kernel;
  return run_program(program, [&] {
    const std::vector<std::uint8_t> bytes = contents_of(file);
    print_document(describe_file(std::as_bytes(std::span(bytes)), file.string(), options), as_json);
    return EXIT_SUCCESS;
  });
}
