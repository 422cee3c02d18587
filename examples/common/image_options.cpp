#include "image_options.hpp"

#include "program.hpp"

#include <stdexcept>
#include <string>

namespace {

std::string check_output(const std::string& file) {
  const std::filesystem::path extension = std::filesystem::path(file).extension();
  if (extension.empty() || extension == ".png" || extension == ".PNG") return {};
  return "the result is a PNG: the name must end in .png, not " + file;
}

}  // namespace

void add_image_options(CommandLine& line, ImageOptions& options) {
  constexpr const char* group = "The image";
  const auto size = [&](const char* name, std::uint32_t& value, const char* what) {
    return line.option(name, &value, std::string(what) + " (" + std::to_string(value) + ")")
        .between(1, most_pixels)
        .value_name("N")
        .group(group);
  };
  CommandLineOption width = size("--width", options.width, "Of the test chart that is drawn, in pixels");
  CommandLineOption height = size("--height", options.height, "Likewise");
  line.option("--input", &options.input, "Work on this PNG or JPEG instead")
      .excludes(width)
      .excludes(height)
      .value_name("FILE")
      .group(group);
  line.option("--output", &options.output, "Write the result as a PNG; - is standard output")
      .check(check_output)
      .value_name("FILE.png")
      .group(group);
}

Image open_image(const ImageOptions& options, std::size_t bytes_a_pixel) {
  if (options.input) {
    Image image = read_image(*options.input);
    require_memory(checked_product(image.pixels.size(), bytes_a_pixel));
    return image;
  }
  const std::size_t pixels = checked_product(options.width, options.height);
  if (pixels > most_pixels) {
    throw std::runtime_error("an image of " + std::to_string(options.width) + " x " + std::to_string(options.height) +
                             " pixels is too large: the most are " + std::to_string(most_pixels));
  }
  require_memory(checked_product(pixels, bytes_a_pixel + sizeof(Pixel)));
  return draw_chart(options.width, options.height);
}
