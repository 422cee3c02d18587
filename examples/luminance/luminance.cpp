// Turns an image grey on the GPU, from pixels of 12 and of 16 bytes, with narrow and with wide loads.
//
// There is little to compute: each variant takes as long as its reads of the pixels. One variant is wrong on purpose:
// it reads three-float pixels as OpenCL's float3, which is four floats wide.
#include "host_loop.hpp"
#include "image_options.hpp"
#include "program.hpp"
#include "report.hpp"
#include "timing.hpp"

#include "luminance_pixels.hpp"

#include <fastdispatch/fastdispatch.hpp>
#include <luminance_code_object.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fd = fastdispatch;

namespace {

struct Options {
  CommonOptions common{.device = 0, .iterations = 20, .json = {}};
  ImageOptions image;
  fd::Fences fences = fd::Fences::minimal;
};

// The kernels of kernels/luminance.hip. A pointer's type does not tell the layout of the memory: the layout is the
// program's promise.
using Luma = void(const void* image, float* result, std::uint32_t pixels);

struct Variant {
  std::string name;
  const char* kernel;
  std::size_t bytes_a_pixel;  // of the image that it is given
  bool shows_an_error = false;
  const char* remark = "";
};

const std::vector<Variant> variants = {
    {.name = "three loads of a float", .kernel = "luma_scalar_loads", .bytes_a_pixel = sizeof(PaddedPixel)},
    {.name = "one load of a float4", .kernel = "luma_float4_loads", .bytes_a_pixel = sizeof(PaddedPixel)},
    {.name = "packed float3, 12 bytes", .kernel = "luma_packed", .bytes_a_pixel = sizeof(PackedPixel)},
    {.name = "padded float3, 16 bytes", .kernel = "luma_padded", .bytes_a_pixel = sizeof(PaddedPixel)},
    {.name = "packed float3 read as padded",
     .kernel = "luma_padded",
     .bytes_a_pixel = sizeof(PackedPixel),
     .shows_an_error = true,
     .remark = "the pixel after the first is at byte 12, and was read at 16"},
};

Options parse_command_line(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Computes the luma of an image (.299 red + .587 green + .114 blue) on the GPU: wide loads against narrow "
      "ones, and what becomes of a float3.",
      "luminance");
  add_image_options(line, options.image);
  add_common_options(line, options.common);
  add_fences_option(line, options.fences);
  line.parse_or_exit(argc, argv);
  return options;
}

template <class Struct>
std::vector<Struct> as_floats(const Image& image) {
  std::vector<Struct> pixels(image.pixels.size());
  std::transform(image.pixels.begin(), image.pixels.end(), pixels.begin(), [](const Pixel& pixel) {
    Struct result{};
    result.red = static_cast<float>(pixel[0]) / 255;
    result.green = static_cast<float>(pixel[1]) / 255;
    result.blue = static_cast<float>(pixel[2]) / 255;
    return result;
  });
  return pixels;
}

void luma_on_host(std::span<const PaddedPixel> image, std::span<float> result) {
  for_each_band(image.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      result[i] = .299F * image[i].red + .587F * image[i].green + .114F * image[i].blue;
  });
}

// How far `result` is from sums in double precision.
double largest_error(std::span<const PaddedPixel> image, std::span<const float> result) {
  double largest = 0;
  for (std::size_t i = 0; i < image.size(); ++i) {
    const double expected = .299 * image[i].red + .587 * image[i].green + .114 * image[i].blue;
    const double error = std::abs(result[i] - expected);
    if (!(error <= largest)) largest = error;  // not a number is an error, too
  }
  return largest;
}

Row row_of(const std::string& name, const std::vector<double>& microseconds, std::size_t bytes, double loop,
           double error) {
  // Three products of at most 1, two sums, and constants that are no floats: less than 4 half steps of a float below 1.
  constexpr double tolerance = 0x1p-22;
  const double time = median(microseconds);
  return {.name = name,
          .microseconds = microseconds,
          .figures = {figure("GB/s", static_cast<double>(bytes) / time * 1e-3, 1),
                      figure("times the CPU loop", time / loop, 2, "x"), scientific_figure("largest error", error)},
          .correct = error <= tolerance,
          .remark = {}};
}

void write_grey(OutputFile& file, const Image& image, std::span<const float> luma) {
  std::vector<std::uint8_t> grey(luma.size());
  std::transform(luma.begin(), luma.end(), grey.begin(),
                 [](float value) { return static_cast<std::uint8_t>(std::lround(value * 255)); });
  write_png(file, image.width, image.height, 1, grey);
}

int run(const Options& options) {
  // Before the work: a result that can't be written is lost.
  std::optional<OutputFile> output;
  std::optional<OutputFile> json;
  if (options.image.output) output.emplace(*options.image.output);
  if (options.common.json) json.emplace(*options.common.json);

  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu(options.common.device);
  const std::size_t images = 3 * sizeof(PaddedPixel) + sizeof(PackedPixel);
  const Image image = open_image(options.image, images + (variants.size() + 3) * sizeof(float));
  const auto pixels = static_cast<std::uint32_t>(image.pixels.size());

  const std::vector<PaddedPixel> padded = as_floats<PaddedPixel>(image);
  const std::vector<PackedPixel> packed = as_floats<PackedPixel>(image);
  fd::DeviceBuffer<PaddedPixel> padded_on_gpu(gpu, pixels);
  // A third more than the pixels take. Without it, reading them as padded would end in a memory fault; here it gives
  // wrong numbers.
  fd::DeviceBuffer<PackedPixel> packed_on_gpu(gpu, pixels + pixels / 3 + 1);
  fd::copy(padded_on_gpu, std::span(padded));
  fd::copy(packed_on_gpu.subspan(0, pixels), std::span(packed));

  const fd::Module module = fd::Module::load(gpu, code_objects::luminance(), "luminance");
  fd::Queue queue(gpu);
  constexpr std::uint32_t group = 256;
  const fd::Grid grid = fd::grid((pixels + group - 1) / group * group).group(group);

  std::vector<fd::DeviceBuffer<float>> results;
  std::vector<fd::Batch> batches;  // one dispatch each
  std::vector<std::function<void()>> works;
  results.reserve(variants.size());
  batches.reserve(variants.size());
  for (const Variant& variant : variants) {
    const void* const from = variant.bytes_a_pixel == sizeof(PackedPixel)
                                 ? static_cast<const void*>(packed_on_gpu.data())
                                 : static_cast<const void*>(padded_on_gpu.data());
    float* const to = results.emplace_back(gpu, pixels).data();
    fd::Batch& batch = batches.emplace_back(gpu, fd::BatchOptions{.fences = options.fences});
    batch.dispatch(module.kernel<Luma>(variant.kernel), grid, from, to, pixels);
    works.emplace_back([&queue, &batch] { queue.submit(batch).wait(); });
  }
  std::vector<float> luma(pixels);
  works.emplace_back([&] { luma_on_host(padded, luma); });
  const std::vector<std::vector<double>> times = time_in_turns(works, options.common.iterations);

  Report report = report_on("luminance",
                            "Luma of " + std::to_string(image.width) + " x " + std::to_string(image.height) + " pixels",
                            runtime, gpu);
  report.beyond_softgpu = "how a GPU's memory answers narrow and wide loads: the host's caches answer here";
  const double loop = median(times.back());
  Row on_host = row_of("CPU loop, " + std::to_string(host_threads()) + " threads", times.back(),
                       pixels * (sizeof(PaddedPixel) + sizeof(float)), loop, largest_error(padded, luma));
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Variant& variant = variants[i];
    fd::copy(std::span(luma), results[i]);
    Row& row = report.rows.emplace_back(row_of(variant.name, times[i], pixels * (variant.bytes_a_pixel + sizeof(float)),
                                               loop, largest_error(padded, luma)));
    row.shows_an_error = variant.shows_an_error;
    if (!row.correct) row.remark = variant.remark;
    if (variant.kernel == std::string_view("luma_float4_loads") && output) write_grey(*output, image, luma);
  }
  on_host.compares = true;
  report.rows.push_back(on_host);

  present(report, json, output);
  require_correct(report);
  if (output) output->commit();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("luminance", [&] { return run(parse_command_line(argc, argv)); });
}
