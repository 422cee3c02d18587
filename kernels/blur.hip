// One pass of a five-point blur: each pixel becomes the mean of itself and its four neighbours, rounded to the nearest.
// Beyond an edge lies the edge's own pixel again. Pixels are four bytes, all four treated alike.
//
// A pixel is needed by five work-items: read from memory by each of them, or once by the work-group, into LDS. Groups
// are of any shape; the grid is rounded up to whole groups.
#include <hip/hip_runtime.h>

#include <stdint.h>

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

extern __shared__ uint32_t tile[];

extern "C" __global__ void blur_tiled(const uint32_t* from, uint32_t* to, uint32_t width, uint32_t height) {
  // A row of the tile takes 32 words more than the group has columns: work-item i then reads LDS bank (i + constant)
  // modulo 32 whatever the group's shape, and no two of the 32 that are served at once meet in a bank.
  const uint32_t pitch = blockDim.x + 32;

  // The group's pixels and one more on each side. Neighbours in the wavefront load neighbours in memory.
  const uint32_t first_x = blockIdx.x * blockDim.x;
  const uint32_t first_y = blockIdx.y * blockDim.y;
  for (uint32_t y = threadIdx.y; y < blockDim.y + 2; y += blockDim.y) {
    for (uint32_t x = threadIdx.x; x < blockDim.x + 2; x += blockDim.x)
      tile[y * pitch + x] = load(from, width, clamped(first_x + x, width), clamped(first_y + y, height));
  }
  __syncthreads();

  const uint32_t x = first_x + threadIdx.x;
  const uint32_t y = first_y + threadIdx.y;
  if (x >= width || y >= height) return;
  const uint32_t* const centre = tile + (threadIdx.y + 1) * pitch + threadIdx.x + 1;
  store(to, width, x, y, mean(*centre, centre[-1], centre[1], *(centre - pitch), *(centre + pitch)));
}
