// Blurs an image on the GPU, over and over, with and without tiles in LDS.
//
// Each pixel is needed by five work-items. The untiled kernel lets each of them read it from memory; the tiled one
// reads it once a work-group into LDS, with a border that belongs to the neighbours: the smaller or the narrower the
// group, the larger the part of the border. A pass reads what the one before wrote, so each pass is a dispatch.
#include "host_blur.hpp"
#include "host_loop.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "progress_bar.hpp"
#include "report.hpp"
#include "timing.hpp"

#include "blur_tile.hpp"

#include <blur_code_object.hpp>
#include <fastdispatch/fastdispatch.hpp>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fd = fastdispatch;

namespace {

// The kernels of kernels/blur.hip.
using BlurPass = void(const Pixel* from, Pixel* to, std::uint32_t width, std::uint32_t height);

std::uint32_t groups_over(std::uint32_t pixels, std::uint32_t group) { return (pixels + group - 1) / group; }

// Whole groups, of work-items that compute `rows` pixels each: in a partial one HIP's blockDim is not that of the
// others.
fd::Grid grid_over(const Image& image, GroupShape group, std::uint32_t rows = 1) {
  return fd::grid(groups_over(image.width, group.width) * group.width,
                  groups_over(image.height, group.height * rows) * group.height)
      .group(group.width, group.height);
}

// Pixels that a tiled group reads, over pixels that it writes.
double reads_a_pixel(GroupShape group, std::uint32_t rows) {
  const std::uint32_t height = group.height * rows;
  return static_cast<double>((group.width + 2) * (height + 2)) / (group.width * height);
}

// One way to run the passes: from the source into the first of two buffers, then to and fro between them.
struct Variant {
  std::string name;
  fd::Kernel<BlurPass> kernel;
  fd::Grid grid;
  double reads_a_pixel;
  fd::DeviceBuffer<Pixel> buffers[2];

  // All passes are handed over before the first is waited for: each packet's barrier bit lets it wait for the one
  // before on the GPU.
  void run(fd::Queue& queue, const fd::DeviceBuffer<Pixel>& source, const Image& image, std::uint32_t passes,
           ProgressBar& bar) {
    std::vector<fd::Submission> submitted;
    submitted.reserve(passes);
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      const Pixel* const from = pass == 0 ? source.data() : buffers[(pass - 1) % 2].data();
      submitted.push_back(queue.dispatch(kernel, grid, from, buffers[pass % 2], image.width, image.height));
    }
    for (std::uint32_t pass = 0; pass < passes; ++pass) {
      bar.show(name, pass, passes);
      submitted[pass].wait();
    }
  }

  [[nodiscard]] const fd::DeviceBuffer<Pixel>& result(std::uint32_t passes) const { return buffers[(passes - 1) % 2]; }
};

// The untiled kernel in groups that read whole rows of cache lines, and the tiled ones in each of the shapes.
std::vector<Variant> make_variants(const fd::Module& module, fd::Agent gpu, const Image& image,
                                   const std::vector<GroupShape>& groups) {
  std::vector<Variant> variants;
  const auto add = [&](const std::string& name, const char* kernel, const fd::Grid& grid, double reads) {
    variants.push_back({.name = name,
                        .kernel = module.kernel<BlurPass>(kernel),
                        .grid = grid,
                        .reads_a_pixel = reads,
                        .buffers = {{gpu, image.pixels.size()}, {gpu, image.pixels.size()}}});
  };
  constexpr GroupShape row = {.width = 256, .height = 1};
  add("untiled", "blur_untiled", grid_over(image, row), 5);
  add("untiled strips", "blur_untiled_strips", grid_over(image, row, strip), 3 + 2.0 / strip);
  for (const GroupShape group : groups) {
    const auto [width, height] = group;
    const std::string shape = std::to_string(width) + " x " + std::to_string(height);
    add("tiles, " + shape, "blur_tiled",
        grid_over(image, group).dynamic_lds(tile_words(width, height) * sizeof(std::uint32_t)),
        reads_a_pixel(group, 1));
    add("tiles in strips, " + shape, "blur_strips",
        grid_over(image, group, strip).dynamic_lds(strip_words(width, height) * sizeof(std::uint32_t)),
        reads_a_pixel(group, strip));
  }
  return variants;
}

Row row_of(const std::string& name, const std::vector<double>& microseconds, const Image& image, std::uint32_t passes,
           double loop) {
  const double time = median(microseconds);
  const double bytes = 2.0 * static_cast<double>(image.pixels.size() * sizeof(Pixel)) * passes;
  return {.name = name,
          .microseconds = microseconds,
          .figures = {figure("us a pass", time / passes, 1), figure("GB/s", bytes / time * 1e-3, 1),
                      figure("times the CPU loop", time / loop, 2, "x")},
          .remark = {}};
}

BarPlot chart_of(const Report& report, std::uint32_t passes) {
  BarPlot plot = {.title = report.problem + ", on " + report.gpu + (report.softgpu ? " (soft GPU)" : ""),
                  .y_label = "us a pass",
                  .bars = {}};
  for (const Row& row : report.rows) plot.bars.emplace_back(row.name, median(row.microseconds) / passes);
  return plot;
}

int run(const Options& options) {
  // Before the work: a result that can't be written is lost.
  std::optional<OutputFile> output;
  std::optional<OutputFile> json;
  if (options.image.output) output.emplace(*options.image.output);
  if (options.common.json) json.emplace(*options.common.json);

  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu(options.common.device);
  const std::size_t images = 2 * (2 * options.groups.size() + 2) + 5;  // two a variant, the source, and the host's
  const Image image = open_image(options.image, images * sizeof(Pixel));

  const fd::Module module = fd::Module::load(gpu, code_objects::blur(), "blur");
  fd::Queue queue(gpu);
  const fd::DeviceBuffer<Pixel> source(gpu, image.pixels.size());
  fd::copy(source, std::span(image.pixels));
  std::vector<Variant> variants = make_variants(module, gpu, image, options.groups);

  ProgressBar bar(options.progress ? ProgressBar::Visible::yes : ProgressBar::Visible::no);
  std::vector<std::function<void()>> works;
  works.reserve(variants.size() + 1);
  for (Variant& variant : variants) works.emplace_back([&] { variant.run(queue, source, image, options.passes, bar); });
  Image expected;
  works.emplace_back([&] { expected = blur_on_host(image, options.passes); });
  const std::vector<std::vector<double>> times = time_in_turns(works, options.common.iterations);
  bar.clear();

  Report report = report_on("blur",
                            "Blur of " + std::to_string(image.width) + " x " + std::to_string(image.height) +
                                " pixels, passes: " + std::to_string(options.passes),
                            runtime, gpu);
  Image result = image;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    fd::copy(std::span(result.pixels), variants[i].result(options.passes));
    Row row = row_of(variants[i].name, times[i], image, options.passes, median(times.back()));
    row.figures.push_back(figure("reads a pixel", variants[i].reads_a_pixel));
    row.correct = result.pixels == expected.pixels;
    report.rows.push_back(row);
  }
  report.rows.push_back(row_of("CPU loop, " + std::to_string(host_threads()) + " threads", times.back(), image,
                               options.passes, median(times.back())));

  print_report(std::cout, report);
  if (json) {
    write_json(*json, report);
    json->commit();
  }
  if (options.plot) write_plot(*options.plot, chart_of(report, options.passes));
  require_correct(report);
  if (output) {
    write_png(*output, result);
    output->commit();
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("blur", [&] { return run(parse_command_line(argc, argv)); });
}
