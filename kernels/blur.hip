// One pass of a five-point blur: each pixel becomes the mean of itself and its four neighbours, rounded to the nearest.
// Beyond an edge the edge's own pixel counts again. Pixels are four bytes, all four treated alike.
//
// A pixel is needed by five work-items. Either each of them reads it from memory, or the work-group reads it once into
// LDS. Groups are of any shape; grids are rounded up to whole groups.
#include <hip/hip_runtime.h>

#include <stdint.h>

#include "blur_tile.hpp"

// The sums of two channels fit one register, 16 bits each: half the additions, and no bytes to be taken apart.
__device__ uint32_t mean(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e) {
  constexpr uint32_t bytes = 0x00ff00ff;
  constexpr uint32_t rounding = 0x00020002;
  const uint32_t even = (a & bytes) + (b & bytes) + (c & bytes) + (d & bytes) + (e & bytes) + rounding;
  const uint32_t odd =
      (a >> 8 & bytes) + (b >> 8 & bytes) + (c >> 8 & bytes) + (d >> 8 & bytes) + (e >> 8 & bytes) + rounding;
  // n * 13108 >> 16 is n / 5 for all n < 16384. The product of the upper half has its quotient in place already.
  constexpr uint32_t fifth = 13108;
  const auto divide = [](uint32_t sums) {
    return (__umul24(sums & 0xffff, fifth) >> 16) | (__umul24(sums >> 16, fifth) & 0x00ff0000);
  };
  return divide(even) | divide(odd) << 8;
}

// A 32-bit byte offset from a scalar base is one instruction; a 64-bit address for each lane is five. It reaches 2^30
// pixels.
__device__ uint32_t load(const uint32_t* image, uint32_t width, uint32_t x, uint32_t y) {
  const uint32_t offset = (y * width + x) * uint32_t{sizeof(uint32_t)};
  return *reinterpret_cast<const uint32_t*>(reinterpret_cast<const char*>(image) + offset);
}

__device__ void store(uint32_t* image, uint32_t width, uint32_t x, uint32_t y, uint32_t pixel) {
  const uint32_t offset = (y * width + x) * uint32_t{sizeof(uint32_t)};
  *reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(image) + offset) = pixel;
}

// Within the image: `position` counts from one before the first.
__device__ uint32_t clamped(uint32_t position, uint32_t extent) { return min(max(position, 1u), extent) - 1; }

// The article's listing, with its mistakes. The pixel before the first of a row is the last of the row above, the pixel
// behind the last is the first of the row below, and the first and last rows have neighbours outside of the image:
// `from` needs a row of margin on both sides. Five pixels are divided by nine, so that each pass darkens the image.
extern "C" __global__ void blur_as_listed(const uint32_t* from, uint32_t* to, uint32_t width, uint32_t height) {
  const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const uint32_t* const pixel = from + y * width + x;
  const uint32_t taps[] = {*pixel, pixel[-1], pixel[1], *(pixel - width), *(pixel + width)};
  uint32_t result = 0;
  for (uint32_t shift = 0; shift < 32; shift += 8) {
    uint32_t sum = 0;
    for (const uint32_t tap : taps) sum += tap >> shift & 0xff;
    result |= sum / 9 << shift;
  }
  store(to, width, x, y, result);
}

extern "C" __global__ void blur_untiled(const uint32_t* from, uint32_t* to, uint32_t width, uint32_t height) {
  const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const uint32_t left = clamped(x, width);
  const uint32_t right = clamped(x + 2, width);
  const uint32_t above = clamped(y, height);
  const uint32_t below = clamped(y + 2, height);
  store(to, width, x, y,
        mean(load(from, width, x, y), load(from, width, left, y), load(from, width, right, y),
             load(from, width, x, above), load(from, width, x, below)));
}

// A work-item goes down a strip: the pixel below becomes the centre, and then the pixel above, in registers. This takes
// three and a half reads a pixel instead of five.
extern "C" __global__ void blur_untiled_strips(const uint32_t* from, uint32_t* to, uint32_t width, uint32_t height) {
  const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t first_y = (blockIdx.y * blockDim.y + threadIdx.y) * strip;
  if (x >= width) return;
  const uint32_t left = clamped(x, width);
  const uint32_t right = clamped(x + 2, width);
  uint32_t above = load(from, width, x, clamped(first_y, height));
  uint32_t centre = load(from, width, x, clamped(first_y + 1, height));
  for (uint32_t y = first_y; y < first_y + strip && y < height; ++y) {
    const uint32_t below = load(from, width, x, clamped(y + 2, height));
    store(to, width, x, y, mean(centre, load(from, width, left, y), load(from, width, right, y), above, below));
    above = centre;
    centre = below;
  }
}

extern __shared__ uint32_t tile[];

// The pixels of a group, the first at (first_x, first_y), with `rows` pixels in a column, and one more on each side.
__device__ void fill_tile(const uint32_t* from, uint32_t width, uint32_t height, uint32_t first_x, uint32_t first_y,
                          uint32_t rows, uint32_t pitch) {
  // Whole rows, but for their ends: neighbours in the wavefront load neighbours in memory, from the start of a cache
  // line.
  for (uint32_t y = threadIdx.y; y < rows + 2; y += blockDim.y) {
    tile[y * pitch + threadIdx.x + 1] =
        load(from, width, clamped(first_x + threadIdx.x + 1, width), clamped(first_y + y, height));
  }
  // The ends always lie in as many cache lines as there are rows: all work-items at once load them.
  for (uint32_t i = threadIdx.y * blockDim.x + threadIdx.x; i < 2 * (rows + 2); i += blockDim.x * blockDim.y) {
    const uint32_t x = i % 2 * (blockDim.x + 1);
    const uint32_t y = i / 2;
    tile[y * pitch + x] = load(from, width, clamped(first_x + x, width), clamped(first_y + y, height));
  }
  __syncthreads();
}

extern "C" __global__ void blur_tiled(const uint32_t* from, uint32_t* to, uint32_t width, uint32_t height) {
  const uint32_t first_x = blockIdx.x * blockDim.x;
  const uint32_t first_y = blockIdx.y * blockDim.y;
  const uint32_t pitch = tile_pitch(blockDim.x);
  fill_tile(from, width, height, first_x, first_y, blockDim.y, pitch);

  const uint32_t x = first_x + threadIdx.x;
  const uint32_t y = first_y + threadIdx.y;
  if (x >= width || y >= height) return;
  const uint32_t* const centre = tile + (threadIdx.y + 1) * pitch + threadIdx.x + 1;
  store(to, width, x, y, mean(*centre, centre[-1], centre[1], *(centre - pitch), *(centre + pitch)));
}

// Both: three and a half reads of LDS a pixel, and the border is a smaller part of a tile that is `strip` times as
// high.
extern "C" __global__ void blur_strips(const uint32_t* from, uint32_t* to, uint32_t width, uint32_t height) {
  const uint32_t first_x = blockIdx.x * blockDim.x;
  const uint32_t first_y = blockIdx.y * blockDim.y * strip;
  const uint32_t pitch = strip_pitch(blockDim.x);
  fill_tile(from, width, height, first_x, first_y, blockDim.y * strip, pitch);

  const uint32_t x = first_x + threadIdx.x;
  const uint32_t y = first_y + threadIdx.y * strip;
  if (x >= width) return;
  const uint32_t* row = tile + threadIdx.y * strip * pitch + threadIdx.x + 1;
  uint32_t above = row[0];
  uint32_t centre = row[pitch];
  for (uint32_t i = 0; i < strip; ++i) {
    row += pitch;
    const uint32_t below = row[pitch];
    if (y + i < height) store(to, width, x, y + i, mean(centre, row[-1], row[1], above, below));
    above = centre;
    centre = below;
  }
}
