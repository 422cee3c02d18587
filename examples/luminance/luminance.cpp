// Turns an image grey on the GPU, from pixels of 12 and of 16 bytes, with narrow and with wide loads, and with the
// pixels in several orders.
//
// There is little to compute: each variant takes as long as its reads of the pixels. One variant is wrong on purpose:
// it reads three-float pixels as OpenCL's float3, which is four floats wide.
#include "host_loop.hpp"
#include "host_luma.hpp"
#include "options.hpp"
#include "pixel_order.hpp"
#include "plot.hpp"
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

// The kernels of kernels/luminance.hip. A pointer's type does not tell the layout of the memory: the layout is the
// program's promise.
using Luma = void(const void* image, float* result, std::uint32_t pixels);
using LumaByIndex = void(const void* image, const std::uint32_t* order, float* result, std::uint32_t pixels);

struct Variant {
  std::string name;
  const char* kernel;
  std::size_t bytes_a_pixel;                    // of the image that it is given
  PixelOrder (*order)(const Image&) = nullptr;  // for the kernel that takes an order
  bool shows_an_error = false;
  const char* remark = "";
};

const std::vector<Variant> variants = {
    {.name = "three loads of a float", .kernel = "luma_float_loads", .bytes_a_pixel = sizeof(PaddedPixel)},
    {.name = "two loads of a float2", .kernel = "luma_float2_loads", .bytes_a_pixel = sizeof(PaddedPixel)},
    {.name = "one load of a float4", .kernel = "luma_float4_loads", .bytes_a_pixel = sizeof(PaddedPixel)},
    {.name = "float4 by index, row by row",
     .kernel = "luma_by_index",
     .bytes_a_pixel = sizeof(PaddedPixel),
     .order = row_by_row},
    {.name = "float4 by index, column by column",
     .kernel = "luma_by_index",
     .bytes_a_pixel = sizeof(PaddedPixel),
     .order = column_by_column},
    {.name = "float4 by index, at random",
     .kernel = "luma_by_index",
     .bytes_a_pixel = sizeof(PaddedPixel),
     .order = at_random},
    {.name = "packed float3, 12 bytes", .kernel = "luma_packed", .bytes_a_pixel = sizeof(PackedPixel)},
    {.name = "padded float3, 16 bytes", .kernel = "luma_padded", .bytes_a_pixel = sizeof(PaddedPixel)},
    {.name = "packed float3 read as padded",
     .kernel = "luma_padded",
     .bytes_a_pixel = sizeof(PackedPixel),
     .shows_an_error = true,
     .remark = "the pixel after the first is at byte 12, and was read at 16"},
};

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

// The image on the GPU, in both layouts.
struct ImageOnGpu {
  ImageOnGpu(fd::Agent gpu, const Image& image, std::span<const PaddedPixel> padded_pixels)
      : padded(gpu, image.pixels.size()), packed(gpu, image.pixels.size() + image.pixels.size() / 3 + 1) {
    const std::vector<PackedPixel> packed_pixels = as_floats<PackedPixel>(image);
    fd::copy(padded, padded_pixels);
    fd::copy(packed.subspan(0, packed_pixels.size()), std::span(packed_pixels));
  }

  fd::DeviceBuffer<PaddedPixel> padded;
  // A third more than the pixels take. Without it, reading them as padded would end in a memory fault; here it gives
  // wrong numbers.
  fd::DeviceBuffer<PackedPixel> packed;
};

// A variant's batch of one dispatch, and the memory that is its own.
struct Work {
  Work(const Variant& variant, const Image& image, const ImageOnGpu& on_gpu, const fd::Module& module, fd::Agent gpu,
       fd::Fences fences)
      : order(variant.order == nullptr ? PixelOrder() : variant.order(image)), order_on_gpu(gpu, order.size()),
        result(gpu, image.pixels.size()), batch(gpu, {.fences = fences}) {
    const auto pixels = static_cast<std::uint32_t>(image.pixels.size());
    constexpr std::uint32_t group = 256;
    const fd::Grid grid = fd::grid((pixels + group - 1) / group * group).group(group);
    const void* const from = variant.bytes_a_pixel == sizeof(PackedPixel)
                                 ? static_cast<const void*>(on_gpu.packed.data())
                                 : static_cast<const void*>(on_gpu.padded.data());
    if (variant.order == nullptr) {
      batch.dispatch(module.kernel<Luma>(variant.kernel), grid, from, result, pixels);
    } else {
      fd::copy(order_on_gpu, std::span(order));
      batch.dispatch(module.kernel<LumaByIndex>(variant.kernel), grid, from, order_on_gpu, result, pixels);
    }
  }

  PixelOrder order;
  fd::DeviceBuffer<std::uint32_t> order_on_gpu;
  fd::DeviceBuffer<float> result;
  fd::Batch batch;
};

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

std::size_t bytes_a_pixel(const Variant& variant) {
  return variant.bytes_a_pixel + sizeof(float) + (variant.order == nullptr ? 0 : sizeof(PixelOrder::value_type));
}

BarPlot chart_of(const Report& report) {
  BarPlot plot = {.title = title_of(report), .y_label = "microseconds", .bars = {}};
  for (const Row& row : report.rows) plot.bars.emplace_back(row.name, median(row.microseconds));
  return plot;
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
  const std::size_t lumas = (variants.size() + 3) * sizeof(float);
  constexpr std::size_t orders = 3 * 2 * sizeof(PixelOrder::value_type);  // three, here and on the GPU
  const Image image = open_image(options.image, images + lumas + orders);

  const std::vector<PaddedPixel> padded = as_floats<PaddedPixel>(image);
  const ImageOnGpu on_gpu(gpu, image, padded);
  const fd::Module module = fd::Module::load(gpu, code_objects::luminance(), "luminance");
  fd::Queue queue(gpu);

  std::vector<Work> gpu_works;
  std::vector<std::function<void()>> works;
  gpu_works.reserve(variants.size());
  for (const Variant& variant : variants) {
    Work& work = gpu_works.emplace_back(variant, image, on_gpu, module, gpu, options.fences);
    works.emplace_back([&queue, &work] { queue.submit(work.batch).wait(); });
  }
  std::vector<float> luma(image.pixels.size());
  works.emplace_back([&] { luma_on_host(padded, luma); });
  const std::vector<std::vector<double>> times = time_in_turns(works, options.common.iterations);

  Report report = report_on("luminance",
                            "Luma of " + std::to_string(image.width) + " x " + std::to_string(image.height) + " pixels",
                            runtime, gpu);
  report.beyond_softgpu = "how a GPU's memory answers narrow and wide loads: the host's caches answer here";
  const double loop = median(times.back());
  Row on_host = row_of("CPU loop, " + std::to_string(host_threads()) + " threads", times.back(),
                       luma.size() * (sizeof(PaddedPixel) + sizeof(float)), loop, largest_error(padded, luma));
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Variant& variant = variants[i];
    fd::copy(std::span(luma), gpu_works[i].result);
    Row& row = report.rows.emplace_back(row_of(variant.name, times[i], luma.size() * bytes_a_pixel(variant), loop,
                                               largest_error(padded, luma, gpu_works[i].order)));
    row.shows_an_error = variant.shows_an_error;
    if (!row.correct) row.remark = variant.remark;
    if (variant.kernel == std::string_view("luma_float4_loads") && output) write_grey(*output, image, luma);
  }
  on_host.compares = true;
  report.rows.push_back(on_host);

  present(report, json, output);
  if (options.plot) write_plot(*options.plot, chart_of(report));
  require_correct(report);
  if (output) output->commit();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("luminance", [&] { return run(parse_command_line(argc, argv)); });
}
