// check_image luma INPUT OUTPUT: fails unless OUTPUT is the luma of INPUT, as grey.
// check_image blur INPUT OUTPUT PASSES: fails unless OUTPUT is INPUT after so many passes of the five-point blur.
//
// By the definitions, pixel by pixel. Only the code that reads the files is shared with the programs.
#include "image.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>

namespace {

bool is_luma(const Image& input, const Image& output) {
  for (std::size_t i = 0; i < input.pixels.size(); ++i) {
    const auto [red, green, blue, alpha] = input.pixels[i];
    const auto [grey, same, and_same, opaque] = output.pixels[i];
    const double luma = .299 * red + .587 * green + .114 * blue;
    if (std::abs(grey - luma) > 0.501 || same != grey || and_same != grey || opaque != 255) {
      std::cerr << "pixel " << i << " is " << int{grey} << ", not " << luma << "\n";
      return false;
    }
  }
  return true;
}

const Pixel& at(const Image& image, std::int64_t x, std::int64_t y) {
  const auto column = std::clamp<std::int64_t>(x, 0, image.width - 1);
  const auto row = std::clamp<std::int64_t>(y, 0, image.height - 1);
  return image.pixels[static_cast<std::size_t>(row * image.width + column)];
}

Image blurred(const Image& image) {
  Image result = image;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      for (std::size_t c = 0; c < 4; ++c) {
        const double sum = at(image, x, y)[c] + at(image, x - 1, y)[c] + at(image, x + 1, y)[c] +
                           at(image, x, y - 1)[c] + at(image, x, y + 1)[c];
        result.pixels[static_cast<std::size_t>(y * image.width + x)][c] =
            static_cast<std::uint8_t>(std::lround(sum / 5));
      }
    }
  }
  return result;
}

bool is_blur(Image input, const Image& output, int passes) {
  for (int pass = 0; pass < passes; ++pass) input = blurred(input);
  for (std::size_t i = 0; i < input.pixels.size(); ++i) {
    if (input.pixels[i] == output.pixels[i]) continue;
    std::cerr << "pixel " << i << " differs\n";
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string rule = argc > 3 ? argv[1] : "";
  if (argc < 4 || (rule == "blur" && argc != 5)) {
    std::cerr << "usage: check_image luma INPUT OUTPUT | blur INPUT OUTPUT PASSES\n";
    return EXIT_FAILURE;
  }
  const Image input = read_image(argv[2]);
  const Image output = read_image(argv[3]);
  if (output.width != input.width || output.height != input.height) {
    std::cerr << "the output is " << output.width << " x " << output.height << "\n";
    return EXIT_FAILURE;
  }
  const bool right = rule == "luma" ? is_luma(input, output) : is_blur(input, output, std::stoi(argv[4]));
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return EXIT_FAILURE;
}
