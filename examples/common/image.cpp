#include "image.hpp"

#include "image_codec.hpp"
#include "image_integrity.hpp"
#include "input_file.hpp"
#include "program.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <numbers>
#include <stdexcept>
#include <string>

namespace {

constexpr int channels_read = 4;

Image decode(std::span<const std::uint8_t> file) {
  require_whole_image(file);
  int width = 0;
  int height = 0;
  int channels_in_file = 0;
  const int size = static_cast<int>(file.size());
  const auto load = [&] {
    std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> decoded(
        stbi_load_from_memory(file.data(), size, &width, &height, &channels_in_file, channels_read), stbi_image_free);
    if (!decoded) throw std::runtime_error(std::string("it cannot be decoded: ") + stbi_failure_reason());
    return decoded;
  };
  // Loading tells the fault of a header; asking for the size does not.
  if (stbi_info_from_memory(file.data(), size, &width, &height, &channels_in_file) == 0) load();
  Image image{.width = static_cast<std::uint32_t>(width), .height = static_cast<std::uint32_t>(height), .pixels = {}};
  const std::size_t pixels = std::size_t{image.width} * image.height;
  if (pixels > most_pixels) {
    throw std::runtime_error("it has " + std::to_string(pixels) + " pixels; the most is " +
                             std::to_string(most_pixels));
  }
  require_memory(4 * pixels * sizeof(Pixel));  // the decoder's own copies, too

  const auto decoded = load();
  image.pixels.resize(pixels);
  std::memcpy(image.pixels.data(), decoded.get(), pixels * sizeof(Pixel));
  return image;
}

std::uint8_t byte_of(double brightness) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(brightness, 0.0, 1.0) * 255));
}

// Where the chart is divided, in parts of its height.
constexpr double gradients_end = 0.4;
constexpr double rings_end = 0.85;

Pixel gradient(double x, double y) {
  const auto channel = [&](double shift) {
    return byte_of((0.5 + 0.5 * std::cos(2 * std::numbers::pi * (x - shift))) * (1 - y / gradients_end));
  };
  return {channel(0), channel(1.0 / 3), channel(2.0 / 3), 255};
}

Pixel rings(double from_centre) {
  const std::uint8_t brightness = byte_of(0.5 + 0.5 * std::cos(40 * std::numbers::pi * from_centre * from_centre));
  return {brightness, brightness, brightness, 255};
}

Pixel edges(double x) {
  constexpr std::array<Pixel, 4> colours = {
      {{230, 30, 40, 255}, {245, 245, 245, 255}, {20, 60, 200, 255}, {0, 0, 0, 255}}};
  const double bar = std::pow(8.0, 1.0 + x);  // bars that grow narrower
  return colours[static_cast<std::size_t>(bar) % colours.size()];
}

}  // namespace

Image read_image(const std::filesystem::path& path) {
  try {
    return decode(read_file(path));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("cannot read " + path.string() + ": " + error.what());
  }
}

void write_png(OutputFile& file, std::uint32_t width, std::uint32_t height, unsigned channels,
               std::span<const std::uint8_t> bytes) {
  // The library is C and must not see an exception: an exception from writing is kept until the library has returned.
  struct Writer {
    OutputFile& file;
    std::exception_ptr error;
    static void write(void* context, void* data, int size) {
      auto& writer = *static_cast<Writer*>(context);
      try {
        writer.file.write({static_cast<const char*>(data), static_cast<std::size_t>(size)});
      } catch (...) {
        writer.error = std::current_exception();
      }
    }
  } writer{.file = file, .error = {}};
  const int written =
      stbi_write_png_to_func(&Writer::write, &writer, static_cast<int>(width), static_cast<int>(height),
                             static_cast<int>(channels), bytes.data(), static_cast<int>(width * channels));
  if (writer.error) std::rethrow_exception(writer.error);
  if (written == 0) throw std::bad_alloc();
}

void write_png(OutputFile& file, const Image& image) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(image.pixels.data());
  write_png(file, image.width, image.height, channels_read, {bytes, image.pixels.size() * sizeof(Pixel)});
}

Image draw_chart(std::uint32_t width, std::uint32_t height) {
  Image image{.width = width, .height = height, .pixels = {}};
  image.pixels.reserve(std::size_t{width} * height);
  for (std::uint32_t row = 0; row < height; ++row) {
    for (std::uint32_t column = 0; column < width; ++column) {
      const double x = (column + 0.5) / width;
      const double y = (row + 0.5) / height;
      const double from_centre = std::hypot((x - 0.5) * width / height, y - 0.5 * (gradients_end + rings_end));
      image.pixels.push_back(y < gradients_end ? gradient(x, y) : y < rings_end ? rings(from_centre) : edges(x));
    }
  }
  return image;
}
