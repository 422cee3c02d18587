// Blurs an image on the GPU, over and over, with and without tiles in LDS.
//
// Each pixel is needed by five work-items. In the untiled kernel each of them reads it from memory. In the tiled kernel
// a work-group reads each pixel once into LDS, with a border that belongs to the neighbours: the smaller or the
// narrower the group, the larger the part of the border. A pass reads the output of the pass before, so each pass is a
// dispatch.
#include "host_blur.hpp"
#include "host_loop.hpp"
#include "image_on_gpu.hpp"
#include "options.hpp"
#include "plot.hpp"
#include "progress_bar.hpp"
#include "report.hpp"
#include "timing.hpp"

#include "blur_tile.hpp"

#include <blur_code_object.hpp>
#include <fastdispatch/fastdispatch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
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

// Whole groups, of work-items that compute `rows` pixels each: in a partial group HIP's blockDim may differ.
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

// The common inputs of all variants.
struct Work {
  const Image& image;
  fd::DeviceSpan<Pixel> source;  // the image on the GPU
  std::uint32_t passes;
  fd::Fences fences;
};

// One pass over the image.
struct Pass {
  std::string name;
  const char* kernel;
  fd::Grid grid;
  double reads_a_pixel;
  bool shows_an_error = false;
};

// How many passes a batch has: an even number, so that every batch but the first begins with the same buffer.
constexpr std::uint32_t passes_a_batch = 16;

// One way to run the passes: from the source into the first of two buffers, then to and fro between them.
class Variant {
public:
  Variant(Pass pass, const fd::Module& module, fd::Agent gpu, const Work& work)
      : pass_(std::move(pass)), passes_(work.passes), buffers_{{gpu, work.image}, {gpu, work.image}},
        first_(gpu, {.fences = work.fences}), middle_(gpu, {.fences = work.fences}),
        last_(gpu, {.fences = work.fences}) {
    // A pass reads the output of the pass before: in a batch it waits for that pass on the GPU.
    const auto kernel = module.kernel<BlurPass>(pass_.kernel);
    const auto record = [&](fd::Batch& batch, std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t i = begin; i < end; ++i) {
        const fd::DeviceSpan<Pixel> from = i == 0 ? work.source : buffers_[(i - 1) % 2].pixels();
        batch.dispatch(kernel, pass_.grid, fd::read(from), fd::write(buffers_[i % 2].pixels()), work.image.width,
                       work.image.height);
      }
    };
    record(first_, 0, std::min(passes_, passes_a_batch));
    record(middle_, passes_a_batch, 2 * passes_a_batch);
    record(last_, passes_a_batch, passes_a_batch + passes_ % passes_a_batch);
  }

  // All batches are submitted before the wait. The library's thread moves the bar when one completes.
  void run(fd::Queue& queue, ProgressBar& bar) const {
    bar.show(pass_.name, 0, passes_);
    for (std::uint32_t i = 0; i < passes_; i += passes_a_batch) {
      const bool whole = passes_ - i >= passes_a_batch;
      const fd::Submission submission = queue.submit(i == 0 ? first_ : whole ? middle_ : last_);
      if (bar.is_visible()) {
        const std::uint32_t done = std::min(i + passes_a_batch, passes_);
        submission.on_complete([&bar, name = pass_.name, done, all = passes_](const fd::Error* failure) {
          if (failure == nullptr) bar.show(name, done, all);
        });
      }
    }
    queue.wait();
    if (bar.is_visible()) queue.wait_for_callbacks();
  }

  [[nodiscard]] const Pass& pass() const { return pass_; }
  [[nodiscard]] fd::DeviceSpan<Pixel> result() const { return buffers_[(passes_ - 1) % 2].pixels(); }

private:
  Pass pass_;
  std::uint32_t passes_;
  ImageOnGpu buffers_[2];
  fd::Batch first_;
  fd::Batch middle_;  // again and again
  fd::Batch last_;    // of fewer passes
};

// The untiled kernels in groups that read whole rows of cache lines, and the tiled kernels in each of the shapes.
std::vector<Pass> passes_over(const Image& image, const std::vector<GroupShape>& groups) {
  constexpr GroupShape row = {.width = 256, .height = 1};
  std::vector<Pass> passes = {
      {.name = "untiled", .kernel = "blur_untiled", .grid = grid_over(image, row), .reads_a_pixel = 5},
      {.name = "as listed",
       .kernel = "blur_as_listed",
       .grid = grid_over(image, row),
       .reads_a_pixel = 5,
       .shows_an_error = true},
      {.name = "untiled strips",
       .kernel = "blur_untiled_strips",
       .grid = grid_over(image, row, strip),
       .reads_a_pixel = 3 + 2.0 / strip},
  };
  for (const GroupShape group : groups) {
    const auto [width, height] = group;
    const std::string shape = std::to_string(width) + " x " + std::to_string(height);
    passes.push_back({.name = "tiles, " + shape,
                      .kernel = "blur_tiled",
                      .grid = grid_over(image, group).dynamic_lds(tile_words(width, height) * sizeof(std::uint32_t)),
                      .reads_a_pixel = reads_a_pixel(group, 1)});
    passes.push_back(
        {.name = "tiles in strips, " + shape,
         .kernel = "blur_strips",
         .grid = grid_over(image, group, strip).dynamic_lds(strip_words(width, height) * sizeof(std::uint32_t)),
         .reads_a_pixel = reads_a_pixel(group, strip)});
  }
  return passes;
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
  BarPlot plot = {.title = title_of(report), .y_label = "us a pass", .bars = {}};
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
  const std::size_t images = 2 * (2 * options.groups.size() + 3) + 5;  // two a variant, the source, and the host's
  const Image image = open_image(options.image, images * sizeof(Pixel));

  const fd::Module module = fd::Module::load(gpu, code_objects::blur(), "blur");
  ProgressBar bar(options.progress ? ProgressBar::Visible::yes : ProgressBar::Visible::no);
  fd::Queue queue(gpu);  // calls the last callbacks before it is gone, and so before the bar is
  const ImageOnGpu source(gpu, image);
  fd::copy(source.pixels(), std::span(image.pixels));
  const Work work = {.image = image, .source = source.pixels(), .passes = options.passes, .fences = options.fences};
  std::vector<Variant> variants;
  for (const Pass& pass : passes_over(image, options.groups)) variants.emplace_back(pass, module, gpu, work);

  std::vector<std::function<void()>> works;
  works.reserve(variants.size() + 1);
  for (const Variant& variant : variants) works.emplace_back([&] { variant.run(queue, bar); });
  Image expected;
  works.emplace_back([&] { expected = blur_on_host(image, options.passes); });
  const std::vector<std::vector<double>> times = time_in_turns(works, options.common.iterations);
  bar.clear();

  Report report = report_on("blur",
                            "Blur of " + std::to_string(image.width) + " x " + std::to_string(image.height) +
                                " pixels, passes: " + std::to_string(options.passes),
                            runtime, gpu);
  report.beyond_softgpu = "what LDS saves: it is as far away as the host's caches";
  Image result = image;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Pass& pass = variants[i].pass();
    fd::copy(std::span(result.pixels), variants[i].result());
    Row row = row_of(pass.name, times[i], image, options.passes, median(times.back()));
    row.figures.push_back(figure("reads a pixel", pass.reads_a_pixel));
    row.correct = result.pixels == expected.pixels;
    row.shows_an_error = pass.shows_an_error;
    if (row.shows_an_error && !row.correct) row.remark = "five pixels over nine, and edges that read beyond their row";
    report.rows.push_back(row);
  }
  report.rows.push_back(row_of("CPU loop, " + std::to_string(host_threads()) + " threads", times.back(), image,
                               options.passes, median(times.back())));
  report.rows.back().compares = true;

  present(report, json, output);
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
