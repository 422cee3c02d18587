// The Fibonacci numbers as doubles, again and again, one row of `count` numbers a repetition: which limit has a kernel
// that writes memory that the host shares?
//
// x[n + 1] = x[n] + x[n - 1] looks serial, but the recurrence can look ahead any number of places:
//   x[n + k]     = F(k) * x[n + 1] + F(k - 1) * x[n]
//   x[n + k + 1] = F(k + 1) * x[n + 1] + F(k) * x[n]
// So k work-items can each go their own way in strides of k, and write k neighbours at once.
#include <hip/hip_runtime.h>

#include <stdint.h>

// Two neighbours of the sequence. As a look-ahead by k, they are F(k - 1) and F(k).
struct Pair {
  double first;
  double second;
};

// Every product and sum of numbers up to F(78) is an integer below 2^53, and so exact.
__device__ Pair advance(Pair numbers, Pair ahead) {
  const double after = ahead.first + ahead.second;  // F(k + 1)
  return {ahead.second * numbers.second + ahead.first * numbers.first,
          after * numbers.second + ahead.second * numbers.first};
}

// Each repetition computes the same; the compiler must not notice.
__device__ void hide(Pair& numbers) { asm volatile("" : "+v"(numbers.first), "+v"(numbers.second)); }

__device__ void step(Pair& numbers) { numbers = {numbers.second, numbers.first + numbers.second}; }

// One work-item: a wavefront with one of its lanes at work, and a store of 8 bytes a step.
extern "C" __global__ void serial(double* numbers, uint32_t count, uint32_t repetitions) {
  for (; repetitions > 0; --repetitions, numbers += count) {
    Pair pair = {0, 1};
    hide(pair);
    for (uint32_t n = 0; n < count; ++n, step(pair)) numbers[n] = pair.first;
  }
}

// One work-item computes into LDS; the whole group, a wavefront, stores from there: a block of neighbours at a time.
extern "C" __global__ void through_lds(double* numbers, uint32_t count, uint32_t repetitions) {
  constexpr uint32_t block = 256;
  __shared__ double computed[block];
  for (; repetitions > 0; --repetitions, numbers += count) {
    Pair pair = {0, 1};
    hide(pair);
    for (uint32_t first = 0; first < count; first += block) {
      const uint32_t size = min(block, count - first);
      if (threadIdx.x == 0) {
        for (uint32_t n = 0; n < size; ++n, step(pair)) computed[n] = pair.first;
      }
      __syncthreads();
      for (uint32_t n = threadIdx.x; n < size; n += blockDim.x) numbers[first + n] = computed[n];
      __syncthreads();
    }
  }
}

// `serial` without the stores, except for the last number of each repetition: the time of the computation.
extern "C" __global__ void without_writing(double* numbers, uint32_t count, uint32_t repetitions) {
  for (; repetitions > 0; --repetitions, numbers += count) {
    Pair pair = {0, 1};
    hide(pair);
    for (uint32_t n = 1; n < count; ++n) step(pair);
    numbers[count - 1] = pair.first;
  }
}

// `serial` without the computation: the time of the stores.
extern "C" __global__ void without_computing(double* numbers, uint32_t count, uint32_t repetitions) {
  for (; repetitions > 0; --repetitions, numbers += count) {
    Pair pair = {1, 1};
    hide(pair);
    for (uint32_t n = 0; n < count; ++n) numbers[n] = pair.first;
  }
}

// From `start` on in strides. Neighbouring work-items write neighbouring numbers: a wavefront's stores fill whole cache
// lines.
__device__ void write_in_strides(double* numbers, uint32_t count, uint32_t repetitions, uint32_t item, uint32_t stride,
                                 Pair start, Pair ahead) {
  for (; repetitions > 0; --repetitions, numbers += count) {
    Pair pair = start;
    hide(pair);
    for (uint32_t n = item; n < count; n += stride, pair = advance(pair, ahead)) numbers[n] = pair.first;
  }
}

// `stride` work-items, a power of two: no exchange between them, so any number of groups, of wavefronts of any size.
extern "C" __global__ void look_ahead(double* numbers, uint32_t count, uint32_t repetitions, uint32_t stride) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;

  // The coefficients of a look-ahead by 1, 2, 4 ... stride: each advanced by itself gives the next. On the way, the
  // powers of two in the item's index bring it to its first number.
  Pair start = {0, 1};
  Pair ahead = {0, 1};
  for (uint32_t places = 1; places < stride; places *= 2) {
    if (item & places) start = advance(start, ahead);
    ahead = advance(ahead, ahead);
  }
  write_in_strides(numbers, count, repetitions, item, stride, start, ahead);
}

// The same with F(0) to F(stride) from a table: `ahead` is loaded once for a wavefront, by scalar loads, `start` once
// for each work-item.
extern "C" __global__ void look_ahead_by_table(double* numbers, const double* table, uint32_t count,
                                               uint32_t repetitions, uint32_t stride) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  const Pair start = {table[item], table[item + 1]};
  const Pair ahead = {table[stride - 1], table[stride]};
  write_in_strides(numbers, count, repetitions, item, stride, start, ahead);
}
