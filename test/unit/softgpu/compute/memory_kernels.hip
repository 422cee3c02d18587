// Kernels that exercise memory instructions the way compilers emit them.
#include <hip/hip_runtime.h>

#define KERNEL extern "C" __global__ void

__device__ unsigned item() { return blockIdx.x * blockDim.x + threadIdx.x; }

KERNEL copy_dwords(const unsigned* in, unsigned* out, unsigned count) {
  if (item() < count) out[item()] = in[item()];
}
KERNEL copy_pairs(const uint2* in, uint2* out, unsigned count) {
  if (item() < count) out[item()] = in[item()];
}
KERNEL copy_triples(const uint3* in, uint3* out, unsigned count) {
  if (item() < count) out[item()] = in[item()];
}
KERNEL copy_quads(const uint4* in, uint4* out, unsigned count) {
  if (item() < count) out[item()] = in[item()];
}
KERNEL copy_bytes(const unsigned char* in, unsigned char* out, unsigned count) {
  if (item() < count) out[item()] = in[item()];
}
KERNEL copy_shorts(const short* in, short* out, unsigned count) {
  if (item() < count) out[item()] = in[item()];
}
KERNEL permute_dwords(const unsigned* in, const unsigned* where, unsigned* out, unsigned count) {
  if (item() < count) out[where[item()]] = in[where[item()]] + in[count / 2];
}
KERNEL permute_quads(const uint4* in, const unsigned* where, uint4* out, unsigned count) {
  if (item() < count) out[where[item()]] = in[where[item()]];
}
KERNEL permute_bytes(const signed char* in, const unsigned* where, int* wide, signed char* out, unsigned count) {
  if (item() >= count) return;
  wide[item()] = in[where[item()]];
  out[where[item()]] = in[where[item()]];
}
KERNEL permute_shorts(const unsigned short* in, const unsigned* where, unsigned* wide, unsigned short* out,
                      unsigned count) {
  if (item() >= count) return;
  wide[item()] = in[where[item()]];
  out[where[item()]] = in[where[item()]];
}

// The index has 32 bits and a sign, which 64 bits are made of.
KERNEL load_at_indices(const unsigned* from, const int* indices, unsigned* out) { out[item()] = from[indices[item()]]; }

// The offset has 32 bits, without a sign, and is added to the base in 64.
KERNEL count_at_offsets(char* base, const unsigned* offsets) {
  *reinterpret_cast<unsigned*>(base + offsets[item()]) += 1 + item();
}

// Offsets that are a row, from `first` on, with a sign or without: 32 bits may wrap around on the way.
KERNEL count_along_a_row(char* base, unsigned first) {
  *reinterpret_cast<unsigned*>(base + (first + 4 * item())) += 1 + item();
}
KERNEL count_along_a_signed_row(char* base, unsigned first) {
  *reinterpret_cast<unsigned*>(base + static_cast<int>(first + 4 * item())) += 1 + item();
}
KERNEL count_bytes_along_a_row(unsigned char* base, unsigned first) { base[first + item()] += 1 + item(); }

// Indices whose lower halves are a row, and whose upper halves come from memory.
KERNEL index_by_halves(const unsigned* in, unsigned* out, const unsigned* upper, const unsigned* enabled) {
  if (enabled[item()] == 0) return;
  const unsigned long long index = static_cast<unsigned long long>(upper[item()]) << 32 | item();
  out[index] = in[index] + 1;
}

// Elements of a pixel, and pixels in rows of an image.
template <unsigned channels>
__device__ void add_channels(const unsigned char* pixels, unsigned* sums, unsigned count) {
  if (item() >= count) return;
  unsigned sum = 0;
  for (unsigned channel = 0; channel < channels; ++channel) sum = sum * 31 + pixels[channels * item() + channel];
  sums[item()] = sum;
}
KERNEL add_2_channels(const unsigned char* pixels, unsigned* sums, unsigned count) {
  add_channels<2>(pixels, sums, count);
}
KERNEL add_3_channels(const unsigned char* pixels, unsigned* sums, unsigned count) {
  add_channels<3>(pixels, sums, count);
}
KERNEL add_4_channels(const unsigned char* pixels, unsigned* sums, unsigned count) {
  add_channels<4>(pixels, sums, count);
}
KERNEL add_5_channels(const unsigned char* pixels, unsigned* sums, unsigned count) {
  add_channels<5>(pixels, sums, count);
}

// The compiler reads two neighbours at once.
KERNEL add_byte_neighbours(const unsigned char* bytes, unsigned* sums, unsigned count) {
  const unsigned char* here = bytes + item();
  if (item() + 1 < count) sums[item()] = here[0] * 31 + here[1];
}

KERNEL add_bytes_apart(const unsigned char* two, const unsigned char* three, const unsigned char* four,
                       unsigned* sums) {
  sums[item()] = two[2 * item()] * 7 + three[3 * item()] * 31 + four[4 * item()] * 101;
}

// The size of a whole work-group is given: HIP tells a smaller one at the edges of the grid.
KERNEL add_neighbours(const unsigned* in, unsigned* out, const unsigned short* weights, uint2* pairs, unsigned width,
                      unsigned height, uint3 group) {
  const unsigned x = blockIdx.x * group.x + threadIdx.x;
  const unsigned y = blockIdx.y * group.y + threadIdx.y;
  const unsigned z = blockIdx.z * group.z + threadIdx.z;
  if (x >= width || y >= height) return;
  const unsigned at = (z * height + y) * width + x;
  unsigned sum = in[at] * weights[x] + z;
  if (x > 0) sum += 3 * in[at - 1];
  if (x + 1 < width) sum += 5 * in[at + 1];
  if (y > 0) sum += 7 * in[at - width];
  out[at] = sum;
  pairs[at] = make_uint2(sum, weights[y]);
}

// Generic pointers: the same instruction sees LDS, private and global addresses.
KERNEL flat_everywhere(unsigned* out) {
  __shared__ unsigned shared[256];
  unsigned own[4] = {threadIdx.x, 1000 + threadIdx.x, 0, 0};
  shared[threadIdx.x] = 7 * threadIdx.x;
  __syncthreads();
  unsigned* targets[3] = {&shared[255 - threadIdx.x], &own[threadIdx.x % 2], &out[item()]};
  *targets[threadIdx.x % 3] += 1;
  __syncthreads();
  out[item()] += shared[threadIdx.x] + own[0] + own[1];
}

// Some lanes access private memory by flat addresses, lane 0 none of them: at one offset, and at several.
KERNEL flat_private_of_some(unsigned* out, unsigned where) {
  unsigned own[4] = {item(), 1000 + item(), 2000 + item(), 3000 + item()};
  unsigned* any = own;
  asm volatile("" : "+v"(any) : : "memory");
  if (threadIdx.x % 3 == 1) any[where] += 5;
  if (threadIdx.x % 3 == 2) any[threadIdx.x % 4] += 7;
  asm volatile("" : : : "memory");
  out[item()] = own[0] + 3 * own[1] + 5 * own[2] + 7 * own[3];
}

KERNEL private_array(const unsigned* in, unsigned* out, unsigned rounds) {
  unsigned history[40];
  for (unsigned i = 0; i < 40; ++i) history[i] = in[item()] * i;
  for (unsigned i = 0; i < rounds; ++i) history[(in[item()] + i) % 40] += history[(i * 7) % 40];
  unsigned sum = 0;
  for (unsigned i = 0; i < 40; ++i) sum = sum * 31 + history[i];
  out[item()] = sum;
}

KERNEL integer_atomics(unsigned* counters, unsigned long long* wide, unsigned* former) {
  former[item()] = atomicAdd(&counters[0], 1u);
  atomicMax(&counters[1], item());
  atomicMin(&counters[2], item() + 5);
  atomicOr(&counters[3], 1u << (item() % 32));
  atomicXor(&counters[4], item());
  atomicSub(&counters[5], 2u);
  atomicInc(&counters[6], 99u);
  atomicDec(&counters[7], 99u);
  atomicAdd(&wide[0], 1ull << 33);
  unsigned long long seen = wide[1], assumed;
  do {
    assumed = seen;
    seen = atomicCAS(&wide[1], assumed, assumed + item());
  } while (seen != assumed);
}

KERNEL float_atomics(float* sums, double* wide) {
  unsafeAtomicAdd(&sums[0], 1.0f);
  unsafeAtomicAdd(&wide[0], 0.5);
}

KERNEL reverse_through_lds(const unsigned* in, unsigned* out) {
  extern __shared__ unsigned lds[];
  const unsigned item_in_group = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned group_items = blockDim.x * blockDim.y * blockDim.z;
  const unsigned group = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  lds[item_in_group] = in[group * group_items + item_in_group];
  __syncthreads();
  out[group * group_items + item_in_group] = lds[group_items - 1 - item_in_group];
}

// A row that begins before LDS, or goes on behind it.
KERNEL row_around_lds(unsigned* dwords, uint2* pairs, unsigned* bytes, unsigned first) {
  extern __shared__ unsigned lds[];
  auto* as_pairs = reinterpret_cast<uint2*>(lds);
  auto* as_bytes = reinterpret_cast<unsigned char*>(lds);
  const unsigned at = first + threadIdx.x;
  lds[at] = 7 * threadIdx.x;
  __syncthreads();
  dwords[threadIdx.x] = lds[at];
  __syncthreads();
  as_pairs[at] = make_uint2(5 * threadIdx.x, threadIdx.x);
  __syncthreads();
  pairs[threadIdx.x] = as_pairs[at];
  __syncthreads();
  as_bytes[at] = 3 * threadIdx.x;
  __syncthreads();
  bytes[threadIdx.x] = as_bytes[at];
}

KERNEL lds_of_every_size(unsigned* out) {
  __shared__ unsigned char bytes[256];
  __shared__ short shorts[256];
  __shared__ uint2 pairs[256];
  __shared__ uint4 quads[256];
  __shared__ double doubles[256];
  const unsigned t = threadIdx.x;
  bytes[t] = t * 3;
  shorts[t] = -static_cast<short>(t);
  pairs[t] = make_uint2(t, t * t);
  quads[t] = make_uint4(t, t + 1, t + 2, t + 3);
  doubles[t] = t * 0.5;
  __syncthreads();
  const unsigned o = (t * 37 + 11) % 256;
  out[item()] = bytes[o] + shorts[o] + pairs[o].y + quads[o].x + quads[o].w + static_cast<unsigned>(doubles[o] * 2) +
                pairs[t].x + quads[t].z;
}

KERNEL lds_atomics(unsigned* histogram, float* sum) {
  __shared__ unsigned bins[16];
  __shared__ float total;
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x % 16], threadIdx.x);
  unsafeAtomicAdd(&total, 0.25f);
  __syncthreads();
  if (threadIdx.x < 16) histogram[threadIdx.x] = bins[threadIdx.x];
  if (threadIdx.x == 0) *sum = total;
}

KERNEL shuffles(const int* in, int* out) {
  const int v = in[item()];
  int sum = v;
  for (int offset = 32; offset != 0; offset /= 2) sum += __shfl_down(sum, offset);
  int all = v;
  for (int offset = 1; offset != 64; offset *= 2) all += __shfl_xor(all, offset);
  out[4 * item()] = __shfl(sum, 0);
  out[4 * item() + 1] = all;
  out[4 * item() + 2] = __shfl(v, (threadIdx.x * 5) % 64);
  out[4 * item() + 3] = __builtin_amdgcn_ds_swizzle(v, 0x041f) + __builtin_amdgcn_ds_swizzle(v, 0x801b) +
                        __builtin_amdgcn_ds_permute(4 * ((threadIdx.x + 3) % 64), v);
}

KERNEL store_at(unsigned* address) { address[item()] = 1; }
KERNEL load_from(const unsigned* address, unsigned* out) { out[item()] = address[item()]; }

// Each call has an array on the stack.
__device__ __noinline__ unsigned recurse(unsigned depth, const unsigned* in) {
  unsigned values[16];
  for (unsigned i = 0; i != 16; ++i) values[(depth + i * 7) % 16] = i + depth;
  return depth == 0 ? values[in[0] % 16] : values[depth % 16] + recurse(depth - 1, in);
}
KERNEL recurse_deeply(const unsigned* in, unsigned* out, unsigned depth) { out[item()] = recurse(depth, in); }
KERNEL index_privately(const unsigned* in, unsigned* out) {
  unsigned values[512];  // too many for registers and LDS
  for (unsigned i = 0; i != 512; ++i) values[i] = in[i % 128];
  values[in[item()]] = item();
  out[item()] = values[in[item()] ^ in[0]];
}

KERNEL indexed_store(unsigned* out, const unsigned long long* offsets) {
  *reinterpret_cast<unsigned*>(reinterpret_cast<char*>(out) + offsets[item()]) = item();
}

KERNEL wait_for_flag(volatile unsigned* flag, unsigned* out) {
  if (threadIdx.x >= 64) {
    if (threadIdx.x == 64) *flag = 1;
  } else {
    while (*flag == 0) __builtin_amdgcn_s_sleep(1);
  }
  out[item()] = *flag;
}

KERNEL spin_for_flag(unsigned* flag, unsigned* out) {
  if (threadIdx.x >= 64) {
    if (threadIdx.x == 64) __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  } else {
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {
    }
  }
  out[item()] = *flag;
}

KERNEL add_until_seen(unsigned* flag, unsigned* out) {
  if (threadIdx.x >= 64) {
    if (threadIdx.x == 64) atomicExch(flag, 1u);
  } else {
    while (atomicAdd(flag, 0u) == 0) {
    }
  }
  out[item()] = *flag;
}
