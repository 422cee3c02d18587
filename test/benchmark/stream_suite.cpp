#include "stream_suite.hpp"

#include "report.hpp"
#include "samples.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <roofline_code_object.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

namespace fd = fastdispatch;

namespace {

constexpr std::uint32_t length = 32;  // dispatches of a chain
constexpr std::uint32_t work_items = 64;
constexpr int replays = 8;  // in flight together

// A dispatch is one work-group that computes for as many steps.
constexpr std::uint32_t no_steps = 0;
constexpr std::uint32_t few_steps = 200;
constexpr std::uint32_t many_steps = 4000;

struct Shape {
  std::string name;
  std::string text;
  std::uint32_t chains;
  std::uint32_t (*steps)(std::uint32_t chain, std::uint32_t index);
  bool joined = false;  // every eighth dispatch of each chain reads what the others have done
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"empty", "4 chains of empty kernels", 4, [](std::uint32_t, std::uint32_t) { return no_steps; }},
      {"even", "4 chains of equal kernels", 4, [](std::uint32_t, std::uint32_t) { return many_steps; }},
      {"uneven", "2 chains, the long kernels of one beside short ones of the other", 2,
       [](std::uint32_t chain, std::uint32_t index) { return (chain + index) % 2 == 0 ? many_steps : few_steps; }},
      {"joined", "the same, joined at every eighth kernel", 2,
       [](std::uint32_t chain, std::uint32_t index) { return (chain + index) % 2 == 0 ? many_steps : few_steps; },
       true},
      {"single", "1 chain", 1, [](std::uint32_t, std::uint32_t) { return few_steps; }},
  };
  return all;
}

enum class Way { minimal, derived, streams };
constexpr std::array ways = {Way::minimal, Way::derived, Way::streams};

std::string series_of(const Shape& shape, Way way, const char* what) {
  const char* name = way == Way::minimal ? "_minimal_" : way == Way::derived ? "_derived_" : "_streams_";
  return shape.name + name + what;
}

using Kernel = fd::Kernel<void(float*, std::uint32_t, float)>;

fd::Batch record(fd::Agent gpu, const Kernel& kernel, const Shape& shape, fd::Fences fences,
                 fd::DeviceBuffer<float>& sums) {
  const auto of_chain = [&](std::uint32_t chain) { return sums.subspan(chain * work_items, work_items); };
  fd::Batch batch(gpu, {.fences = fences});
  for (std::uint32_t index = 0; index < length; ++index)
    for (std::uint32_t chain = 0; chain < shape.chains; ++chain) {
      batch.dispatch(kernel, fd::grid(work_items).group(work_items), fd::read_write(of_chain(chain)),
                     shape.steps(chain, index), 0.5F);
      if (shape.joined && index % 8 == 7) batch.touches(fd::read(sums));
    }
  return batch;
}

// Several replays: until published, and until completed; each a dispatch.
template <class Target>
void measure(Target& target, fd::Batch& batch, const Shape& shape, Way way, Samples& samples) {
  target.submit(batch).wait();
  const auto dispatches = static_cast<double>(batch.dispatches() * replays);
  const Stopwatch stopwatch;
  for (int i = 0; i < replays; ++i) target.submit(batch);
  samples.add(series_of(shape, way, "published"), stopwatch.microseconds() / dispatches);
  target.wait();
  samples.add(series_of(shape, way, "completed"), stopwatch.microseconds() / dispatches);
}

std::vector<Group> groups() {
  std::vector<Group> all;
  for (const auto& [what, title, scale] : {std::tuple{"completed", ": us a kernel until all completed", 1.0},
                                           std::tuple{"published", ": host time a packet, ns", 1000.0}})
    for (const Shape& shape : shapes())
      all.push_back({shape.text + title,
                     scale,
                     {{"one queue, minimal fences", series_of(shape, Way::minimal, what)},
                      {"one queue, derived fences", series_of(shape, Way::derived, what)},
                      {"streams over 4 queues", series_of(shape, Way::streams, what)}}});
  return all;
}

}  // namespace

void run_stream_suite(int rounds, const std::string& json) {
  JsonFile file(json);
  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu();
  const fd::Module module = fd::Module::load(gpu, code_objects::roofline(), "roofline");
  const auto kernel = module.kernel<void(float*, std::uint32_t, float)>("multiply_add");
  fd::DeviceBuffer<float> sums(gpu, 4 * std::size_t{work_items});
  Samples samples;
  std::string layouts;
  for (int round = 0; round < rounds; ++round)
    for (const Shape& shape : shapes())
      for (const Way way : ways) {
        // A queue lives only while it is measured: an idle one must not take processor time from the others.
        fd::Batch batch =
            record(gpu, kernel, shape, way == Way::minimal ? fd::Fences::minimal : fd::Fences::derived, sums);
        if (way != Way::streams) {
          fd::Queue queue(gpu, {.size = 4096, .producers = fd::Producers::single});
          measure(queue, batch, shape, way, samples);
          continue;
        }
        fd::Streams streams(gpu, {.queues = 4, .queue_size = 4096});
        measure(streams, batch, shape, way, samples);
        if (round > 0) continue;
        const auto [queues, segments, waits] = streams.layout(batch);
        layouts += "  " + shape.text + ": " + std::to_string(batch.dispatches()) + " dispatches in " +
                   std::to_string(segments) + " segments on " + std::to_string(queues) + " queues, " +
                   std::to_string(waits) + " waits\n";
      }
  std::cout << "On " << gpu.name() << (runtime.on_softgpu() ? " (soft GPU)" : "") << "; medians of " << rounds
            << " rounds of " << replays << " replays\n";
  print(groups(), samples);
  std::cout << "\nSpread\n" << layouts;
  file.write(gpu.name(), groups(), samples);
}
