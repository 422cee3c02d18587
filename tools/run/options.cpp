#include "options.hpp"

#include "command_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace fd = fastdispatch;

namespace {

constexpr const char* what_it_does =
    "Dispatches one kernel of a code object, or of a bundle of hipcc's, on the GPU or the soft GPU.\n\n"
    "  fastdispatch-run saxpy.hsaco saxpy --grid 1024 --arg f32=2 --arg f32[1024]=iota --arg y:f32[1024]=random\n\n"
    "An argument is [NAME:]TYPE=VALUE for a value, [NAME:]TYPE[EXTENTS]=CONTENTS for the address of an array. TYPE is "
    "i8, i16, i32, i64, u8, u16, u32, u64, f16, f32 or f64; EXTENTS are N, or N,M for rows of M. CONTENTS are zeros, "
    "random, iota (0, 1, 2, ...), a number for all elements, numbers with commas between, or a .npy file, which tells "
    "the extents, too: f32[]=a.npy. A structure is u32=64,64,32, or its bytes: u8=64,0,0,0. local=BYTES is OpenCL's "
    "pointer to local memory.";

/// Work-items or a group's: X, XxY or XxYxZ.
std::optional<std::array<std::uint32_t, 3>> parse_extents_of_grid(std::string_view text) {
  std::array<std::uint32_t, 3> extents{1, 1, 1};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), extents[i]);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    if (text.empty()) return extents;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

std::string check_extents(const std::string& text) {
  const auto extents = parse_extents_of_grid(text);
  if (!extents) return "'" + text + "' is none of X, XxY and XxYxZ, in work-items";
  return std::ranges::count(*extents, 0U) == 0 ? "" : "'" + text + "': an extent is 0";
}

std::string check_argument(const std::string& text) {
  try {
    static_cast<void>(parse_argument(text));
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

fd::Grid grid_of(const std::string& size, const std::string& group, std::uint32_t dynamic_lds) {
  const auto [x, y, z] = *parse_extents_of_grid(size);
  const fd::Grid grid = fd::grid(x, y, z).dynamic_lds(dynamic_lds);
  if (group.empty()) return grid;
  const auto [group_x, group_y, group_z] = *parse_extents_of_grid(group);
  return grid.group(group_x, group_y, group_z);
}

std::vector<Saved> parse_saved(const std::vector<std::string>& texts, const std::vector<ArgumentText>& arguments,
                               const CommandLine& line) {
  std::vector<Saved> all;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size())
      line.refuse(fmt::format("--save: '{}' is not NAME=FILE.npy", text));
    Saved saved{.name = text.substr(0, equals), .file = text.substr(equals + 1)};
    const auto is_meant = [&](const ArgumentText& argument) {
      return argument.name == saved.name && argument.kind == ArgumentText::Kind::array;
    };
    if (std::ranges::none_of(arguments, is_meant))
      line.refuse(fmt::format("--save: no array is called '{0}'; --arg {0}:f32[1024] gives one the name", saved.name));
    all.push_back(std::move(saved));
  }
  return all;
}

}  // namespace

RunOptions parse_options(int argc, char** argv) {
  RunOptions options;
  std::string grid;
  std::string group;
  std::vector<std::string> arguments;
  std::vector<std::string> saved;
  std::uint32_t dynamic_lds = 0;
  CommandLine line(what_it_does, "fastdispatch-run");
  line.option("file", &options.file, "The code object, or the bundle").value_name("FILE").required();
  line.option("kernel", &options.kernel, "By its name in the source or the mangled one: 'sum', 'sum<float>'")
      .value_name("KERNEL");
  line.flag("--list", options.lists_kernels, "List the file's kernels for the device, with their arguments");
  line.option("--grid", &grid, "Work-items, not groups").value_name("X[xY[xZ]]").check(check_extents);
  line.option("--group", &group, "Work-items of a work-group (as many as X, but up to 256)")
      .value_name("X[xY[xZ]]")
      .check(check_extents);
  line.option("--arg", &arguments, "The kernel's next argument")
      .value_name("ARGUMENT")
      .one_value_each()
      .check(check_argument);
  line.option("--save", &saved, "Write an array to a file afterwards, in NumPy's format")
      .value_name("NAME=FILE.npy")
      .one_value_each();
  line.option("--repeat", &options.repeat, "Run it once, and then so many times on the same inputs, timed")
      .between(1, 1'000'000)
      .value_name("N");
  line.option("--seed", &options.seed, "Of the random contents (0)").value_name("N");
  line.option("--dynamic-lds", &dynamic_lds, "LDS beside what the kernel declares (0)").value_name("BYTES");
  line.option("--print", &options.printed_elements, "How many elements of each array are printed (8)").value_name("N");
  line.option("--device", &options.device, "Which GPU, from 0 (0)").between(0, 1023).value_name("N");
  line.parse_or_exit(argc, argv);
  if (options.lists_kernels) return options;
  if (options.kernel.empty()) line.refuse("which KERNEL? --list lists those of the file");
  if (grid.empty()) line.refuse("--grid is missing: how many work-items");

  options.grid = grid_of(grid, group, dynamic_lds);
  for (const std::string& text : arguments) options.arguments.push_back(parse_argument(text));
  options.saved = parse_saved(saved, options.arguments, line);
  return options;
}
