// The luma of each pixel, an image without its colours; one work-item a pixel.
//
// A work-item does five operations on 16 bytes and writes 4: only memory bandwidth counts. The bandwidth depends on how
// the pixels lie in memory and on how wide the loads are.
#include <hip/hip_runtime.h>

#include <stdint.h>

#include "luminance_pixels.hpp"

// HIP's float3 is three floats after one another, 12 bytes an element of an array; OpenCL's takes the room of a float4.
static_assert(sizeof(float3) == sizeof(PackedPixel), "HIP's float3 has no padding");
static_assert(sizeof(float4) == sizeof(PaddedPixel), "a float4 has the size of OpenCL's float3");

// A 32-bit byte offset from a scalar base is one instruction; a 64-bit address for each lane is five. It reaches 2^28
// pixels of 16 bytes.
template <class Element>
__device__ Element load(const void* array, uint32_t index) {
  return *reinterpret_cast<const Element*>(static_cast<const char*>(array) + index * uint32_t{sizeof(Element)});
}

__device__ void store(float* array, uint32_t index, float value) {
  *reinterpret_cast<float*>(reinterpret_cast<char*>(array) + index * uint32_t{sizeof(float)}) = value;
}

// A load keeps its width even if no result needs all of it: compilers leave out what is not used.
__device__ void use(float value) { asm volatile("" : : "v"(value)); }

// Or else the compiler makes one wide load of several narrow ones.
__device__ void keep_apart() { asm volatile("" ::: "memory"); }

__device__ float luma(float red, float green, float blue) { return .299f * red + .587f * green + .114f * blue; }

// A neighbour in the wavefront reads 16 bytes further on: each of the three loads touches every cache line of the
// pixels and uses a quarter of it.
extern "C" __global__ void luma_float_loads(const float* channels, float* result, uint32_t pixels) {
  const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= pixels) return;
  const float red = load<float>(channels, 4 * pixel);
  keep_apart();
  const float green = load<float>(channels, 4 * pixel + 1);
  keep_apart();
  const float blue = load<float>(channels, 4 * pixel + 2);
  store(result, pixel, luma(red, green, blue));
}

// Each of the two loads uses half of every cache line.
extern "C" __global__ void luma_float2_loads(const float2* halves, float* result, uint32_t pixels) {
  const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= pixels) return;
  const float2 red_green = load<float2>(halves, 2 * pixel);
  keep_apart();
  const float2 blue_unused = load<float2>(halves, 2 * pixel + 1);
  use(blue_unused.y);
  store(result, pixel, luma(red_green.x, red_green.y, blue_unused.x));
}

// One load instruction of 16 bytes a work-item: a wavefront reads consecutive cache lines, each once and whole.
extern "C" __global__ void luma_float4_loads(const float4* image, float* result, uint32_t pixels) {
  const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= pixels) return;
  const float4 colour = load<float4>(image, pixel);
  use(colour.w);
  store(result, pixel, luma(colour.x, colour.y, colour.z));
}

// The same in any order of the pixels: a table says which pixel each work-item reads. The results lie side by side.
extern "C" __global__ void luma_by_index(const float4* image, const uint32_t* order, float* result, uint32_t pixels) {
  const uint32_t place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= pixels) return;
  const float4 colour = load<float4>(image, load<uint32_t>(order, place));
  use(colour.w);
  store(result, place, luma(colour.x, colour.y, colour.z));
}

// Without the fourth float, a quarter less to read. Loads of 12 bytes need no alignment beyond that of a float.
extern "C" __global__ void luma_packed(const PackedPixel* image, float* result, uint32_t pixels) {
  const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= pixels) return;
  const PackedPixel colour = load<PackedPixel>(image, pixel);
  store(result, pixel, luma(colour.red, colour.green, colour.blue));
}

// The same over elements of OpenCL's float3. It is right for an array of OpenCL's float3; the trap is to pass an array
// of HIP's.
extern "C" __global__ void luma_padded(const PaddedPixel* image, float* result, uint32_t pixels) {
  const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= pixels) return;
  const PaddedPixel colour = load<PaddedPixel>(image, pixel);
  store(result, pixel, luma(colour.red, colour.green, colour.blue));
}
