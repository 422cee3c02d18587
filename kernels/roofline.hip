// A GPU's limits: bytes that it reads from memory, and multiply-adds on registers.
#include <hip/hip_runtime.h>

#include <stdint.h>

// Every work-item adds up every stride-th float4 of `count`, neighbours taking neighbours: 16 bytes a load for hardly
// any work.
extern "C" __global__ void read_memory(float* sums, const float4* values, uint32_t count, uint32_t stride) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  float4 sum = {0, 0, 0, 0};
  for (uint32_t i = item; i < count; i += stride) {
    const float4 value = values[i];
    sum.x += value.x;
    sum.y += value.y;
    sum.z += value.z;
    sum.w += value.w;
  }
  sums[item] = sum.x + sum.y + sum.z + sum.w;
}

// Sixteen chains of multiply-adds a work-item, which do not wait for one another: as many as in matmul_blocks.
extern "C" __global__ void multiply_add(float* sums, uint32_t steps, float factor) {
  constexpr uint32_t chains = 16;
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  float values[chains];
  for (uint32_t chain = 0; chain < chains; ++chain) values[chain] = static_cast<float>(item + chain);
  for (uint32_t step = 0; step < steps; ++step) {
    for (float& value : values) value = value * factor + 1;
  }
  float sum = 0;
  for (const float value : values) sum += value;
  sums[item] = sum;
}
