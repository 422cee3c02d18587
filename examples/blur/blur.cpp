// Blurs an image on the GPU, over and over, with and without tiles in LDS.
//
// Each pixel is needed by five work-items. In the untiled kernel each of them reads it from memory. In the tiled kernel
// a work-group reads each pixel once into LDS, with a border that belongs to the neighbours: the smaller or the
// narrower the group, the larger the part of the border. A pass reads the output of the pass before, so each pass is a
// dispatch.
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
  const fd::DeviceBuffer<Pixel>& source;  // the image on the GPU
  std::uint32_t passes;
  fd::Fences fences;
};

// How many passes a batch has: an even number, so that every batch but the first begins with the same buffer.
constexpr std::uint32_t passes_a_batch = 16;

// One way to run the passes: from the source into the first of two buffers, then to and fro between them.
class Variant {
public:
  Variant(std::string name, const fd::Kernel<BlurPass>& kernel, const fd::Grid& grid, double reads_a_pixel,
          fd::Agent gpu, const Work& work)
      : name_(std::move(name)), reads_a_pixel_(reads_a_pixel),
        passes_(work.passes), buffers_{{gpu, work.image.pixels.size()}, {gpu, work.image.pixels.size()}},
        first_(gpu, {.fences = work.fences}), middle_(gpu, {.fences = work.fences}),
        last_(gpu, {.fences = work.fences}) {
    // A pass reads the output of the pass before: in a batch it waits for that pass on the GPU.
    const auto record = [&](fd::Batch& batch, std::uint32_t begin, std::uint32_t end) {
      for (std::uint32_t pass = begin; pass < end; ++pass) {
        const fd::DeviceBuffer<Pixel>& from = pass == 0 ? work.source : buffers_[(pass - 1) % 2];
        batch.dispatch(kernel, grid, from, fd::write(buffers_[pass % 2]), work.image.width, work.image.height);
      }
    };
    record(first_, 0, std::min(passes_, passes_a_batch));
    record(middle_, passes_a_batch, 2 * passes_a_batch);
    record(last_, passes_a_batch, passes_a_batch + passes_ % passes_a_batch);
  }

  // All batches are submitted before the first wait.
  void run(fd::Queue& queue, ProgressBar& bar) {
    std::vector<fd::Submission> submitted;
    for (std::uint32_t pass = 0; pass < passes_; pass += passes_a_batch) {
      const bool whole = passes_ - pass >= passes_a_batch;
      submitted.push_back(queue.submit(pass == 0 ? first_ : whole ? middle_ : last_));
    }
    for (std::uint32_t pass = 0; pass < passes_; pass += passes_a_batch) {
      bar.show(name_, pass, passes_);
      submitted[pass / passes_a_batch].wait();
    }
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] double reads_a_pixel() const { return reads_a_pixel_; }
  [[nodiscard]] const fd::DeviceBuffer<Pixel>& result() const { return buffers_[(passes_ - 1) % 2]; }

private:
  std::string name_;
  double reads_a_pixel_;
  std::uint32_t passes_;
  fd::DeviceBuffer<Pixel> buffers_[2];
  fd::Batch first_;
  fd::Batch middle_;  // again and again
  fd::Batch last_;    // of fewer passes
};

// The untiled kernel in groups that read whole rows of cache lines, and the tiled kernels in each of the shapes.
std::vector<Variant> make_variants(const fd::Module& module, fd::Agent gpu, const Work& work,
                                   const std::vector<GroupShape>& groups) {
  const Image& image = work.image;
  std::vector<Variant> variants;
  const auto add = [&](const std::string& name, const char* kernel, const fd::Grid& grid, double reads) {
    variants.emplace_back(name, module.kernel<BlurPass>(kernel), grid, reads, gpu, work);
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
  const std::size_t images = 2 * (2 * options.groups.size() + 2) + 5;  // two a variant, the source, and the host's
  const Image image = open_image(options.image, images * sizeof(Pixel));

  const fd::Module module = fd::Module::load(gpu, code_objects::blur(), "blur");
  fd::Queue queue(gpu);
  fd::DeviceBuffer<Pixel> source(gpu, image.pixels.size());
  fd::copy(source, std::span(image.pixels));
  const Work work = {.image = image, .source = source, .passes = options.passes, .fences = options.fences};
  std::vector<Variant> variants = make_variants(module, gpu, work, options.groups);

  ProgressBar bar(options.progress ? ProgressBar::Visible::yes : ProgressBar::Visible::no);
  std::vector<std::function<void()>> works;
  works.reserve(variants.size() + 1);
  for (Variant& variant : variants) works.emplace_back([&] { variant.run(queue, bar); });
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
    fd::copy(std::span(result.pixels), variants[i].result());
    Row row = row_of(variants[i].name(), times[i], image, options.passes, median(times.back()));
    row.figures.push_back(figure("reads a pixel", variants[i].reads_a_pixel()));
    row.correct = result.pixels == expected.pixels;
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
