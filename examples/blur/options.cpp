#include "options.hpp"

#include <charconv>
#include <optional>
#include <string>

#include <unistd.h>

namespace {

constexpr std::uint32_t most_passes = 1'000'000;
constexpr std::uint32_t largest_group = 1024;  // work-items: as many as the kernel was compiled for

std::optional<GroupShape> parse_group(const std::string& text) {
  GroupShape group;
  const char* const end = text.data() + text.size();
  const auto [cross, width_error] = std::from_chars(text.data(), end, group.width);
  if (width_error != std::errc() || cross == end || *cross != 'x') return {};
  const auto [rest, height_error] = std::from_chars(cross + 1, end, group.height);
  if (height_error != std::errc() || rest != end) return {};
  const std::uint64_t work_items = std::uint64_t{group.width} * group.height;
  if (work_items == 0 || work_items > largest_group) return {};
  return group;
}

std::string check_group(const std::string& text) {
  if (parse_group(text)) return {};
  return "a work-group is WxH work-items, such as 16x12, and has 1 to 1024 of them; not " + text;
}

}  // namespace

Options parse_command_line(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Blurs an image on the GPU: each pixel becomes the mean of itself and its four neighbours, read from memory "
      "by each work-item or through LDS by the work-group.",
      "blur");
  add_image_options(line, options.image);

  constexpr const char* work = "The blur";
  line.option("--passes", &options.passes, "How often the image is blurred (" + std::to_string(options.passes) + ")")
      .between(1, most_passes)
      .value_name("N")
      .group(work);
  std::vector<std::string> groups = {"16x12", "8x8", "64x4", "64x1"};
  line.option("--group", &groups, "Shapes of the work-groups that have a tile in LDS (16x12 8x8 64x4 64x1)")
      .check(check_group)
      .value_name("WxH ...")
      .group(work);
  add_common_options(line, options.common);
  add_fences_option(line, options.fences);
  add_plot_option(line, options.plot);
  options.progress = ::isatty(STDERR_FILENO) == 1;
  line.flag("--progress,!--no-progress", options.progress, "Show a bar on standard error, even if it is no terminal")
      .value_name(" ")
      .group("How it runs");
  line.parse_or_exit(argc, argv);

  for (const std::string& group : groups) options.groups.push_back(*parse_group(group));
  return options;
}
