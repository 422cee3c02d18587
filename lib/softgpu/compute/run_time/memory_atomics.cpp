#include "softgpu/compute/run_time/memory_atomics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "softgpu/compute/run_time/compute_unit_caches.hpp"
#include "softgpu/compute/run_time/l2_cache.hpp"
#include "softgpu/compute/run_time/lane_memory.hpp"
#include "softgpu/compute/run_time/small_float.hpp"

namespace softgpu::compute::runtime {
namespace {

template <class T>
using Signed = std::make_signed_t<T>;
template <class T>
using Float = std::conditional_t<sizeof(T) == 8, double, float>;

template <class T>
Signed<T> as_signed(T value) {
  return static_cast<Signed<T>>(value);
}
template <class T>
Float<T> as_float(T value) {
  return std::bit_cast<Float<T>>(value);
}

/// The sum of two halves is exact in a double: it is rounded once.
std::uint32_t add_halves(std::uint32_t a, std::uint32_t b) {
  return narrow(half_float, widen(half_float, a) + widen(half_float, b));
}

/// bfloat16, the upper half of a float: the sum is rounded once, to nearest even.
std::uint32_t add_bfloats(std::uint32_t a, std::uint32_t b) {
  constexpr int fraction_bits = 7;
  constexpr int least_exponent = -126;
  const auto widened = [](std::uint32_t bits) { return double{std::bit_cast<float>(bits << 16)}; };
  double sum = widened(a) + widened(b);
  if (std::isnan(sum)) return 0x7fc0;
  if (std::isfinite(sum)) {
    const double step = std::ldexp(1.0, std::max(std::ilogb(sum), least_exponent) - fraction_bits);
    sum = std::nearbyint(sum / step) * step;
  }
  return std::bit_cast<std::uint32_t>(static_cast<float>(sum)) >> 16;
}

/// The lesser number, or with `is_max` the greater one. Of two NaNs, the data's made quiet.
template <class T>
T extreme_number(T memory, T data, bool is_max) {
  constexpr T sign = T{1} << (8 * sizeof(T) - 1);
  constexpr T quiet = T{1} << (sizeof(T) == 8 ? 51 : 22);
  const auto m = as_float(memory);
  const auto d = as_float(data);
  if (std::isnan(d)) return std::isnan(m) ? data | quiet : memory;
  if (std::isnan(m)) return data;
  const bool data_is_less = d < m || (d == 0 && m == 0 && (data & sign) != 0 && (memory & sign) == 0);
  const bool data_is_greater = d > m || (d == 0 && m == 0 && (data & sign) == 0 && (memory & sign) != 0);
  return (is_max ? data_is_greater : data_is_less) ? data : memory;
}

/// CDNA ISA manuals, "NaN Handling".
template <class T>
T extreme_in_order(T memory, T data, bool is_max) {
  constexpr T quiet = T{1} << (sizeof(T) == 8 ? 51 : 22);
  for (const T source : {memory, data})
    if (std::isnan(as_float(source)) && (source & quiet) == 0) return source | quiet;
  return std::isnan(as_float(data)) ? memory : extreme_number(memory, data, is_max);
}

/// Of the same sign.
template <class T>
Float<T> flushed(Float<T> number) {
  return std::fpclassify(number) == FP_SUBNORMAL ? std::copysign(Float<T>{0}, number) : number;
}

std::uint32_t exchanged(std::uint32_t memory, std::uint32_t data) {
  constexpr std::uint32_t condition = 0x80000000;
  return (data & condition) != 0 ? data & ~condition : memory;
}

/// What the memory holds after the operation.
template <AtomicOperation operation, class T>
T apply(T memory, T data, [[maybe_unused]] T second) {
  using enum AtomicOperation;
  if constexpr (operation == swap) return data;
  if constexpr (operation == compare_swap) return memory == second ? data : memory;
  if constexpr (operation == compare_swap_float) return as_float(memory) == as_float(second) ? data : memory;
  if constexpr (operation == add) return memory + data;
  if constexpr (operation == subtract) return memory - data;
  if constexpr (operation == reverse_subtract) return data - memory;
  if constexpr (operation == signed_min) return as_signed(data) < as_signed(memory) ? data : memory;
  if constexpr (operation == unsigned_min) return data < memory ? data : memory;
  if constexpr (operation == signed_max) return as_signed(data) > as_signed(memory) ? data : memory;
  if constexpr (operation == unsigned_max) return data > memory ? data : memory;
  if constexpr (operation == bit_and) return memory & data;
  if constexpr (operation == bit_or) return memory | data;
  if constexpr (operation == bit_xor) return memory ^ data;
  if constexpr (operation == masked_or) return (memory & ~data) | second;
  if constexpr (operation == increment) return memory >= data ? 0 : memory + 1;
  if constexpr (operation == decrement) return memory == 0 || memory > data ? data : memory - 1;
  if constexpr (operation == wrap) return memory >= data ? memory - data : memory + second;
  if constexpr (operation == add_float) return std::bit_cast<T>(as_float(memory) + as_float(data));
  if constexpr (operation == add_float_flushing)
    return std::bit_cast<T>(flushed<T>(flushed<T>(as_float(memory)) + flushed<T>(as_float(data))));
  if constexpr (operation == min_in_order) return extreme_in_order(memory, data, false);
  if constexpr (operation == max_in_order) return extreme_in_order(memory, data, true);
  if constexpr (operation == min_float) return as_float(data) < as_float(memory) ? data : memory;
  if constexpr (operation == max_float) return as_float(data) > as_float(memory) ? data : memory;
  if constexpr (operation == min_number) return extreme_number(memory, data, false);
  if constexpr (operation == max_number) return extreme_number(memory, data, true);
  if constexpr (operation == conditional_subtract) return memory >= data ? memory - data : memory;
  if constexpr (operation == subtract_clamped) return memory >= data ? memory - data : 0;
  if constexpr (operation == add_packed_half)
    return add_halves(memory, data) | add_halves(memory >> 16, data >> 16) << 16;
  if constexpr (operation == add_packed_bfloat)
    return add_bfloats(memory, data) | add_bfloats(memory >> 16, data >> 16) << 16;
  if constexpr (operation == conditional_exchange) {
    const auto high = [](T value) { return static_cast<std::uint32_t>(value >> 32); };
    const auto low = [](T value) { return static_cast<std::uint32_t>(value); };
    return exchanged(low(memory), low(data)) | T{exchanged(high(memory), high(data))} << 32;
  }
}

/// The atomic operation on host memory; the result is the former value.
template <AtomicOperation operation, class T>
__attribute__((no_sanitize("address", "thread", "undefined"), noinline)) T exchange(T* memory, T data, T second) {
  if constexpr (operation == AtomicOperation::add) return __atomic_fetch_add(memory, data, __ATOMIC_SEQ_CST);
  T before = __atomic_load_n(memory, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(memory, &before, apply<operation>(before, data, second), true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED)) {
  }
  return before;
}

template <class T>
T operand(const WaveState& state, unsigned first_dword, unsigned lane) {
  if constexpr (sizeof(T) == 4)
    return state.lane_data[first_dword][lane];
  else
    return state.lane_data[first_dword][lane] | std::uint64_t{state.lane_data[first_dword + 1][lane]} << 32;
}

template <class T>
void put_former(WaveState& state, unsigned lane, T value) {
  state.lane_data[0][lane] = static_cast<std::uint32_t>(value);
  if constexpr (sizeof(T) == 8) state.lane_data[1][lane] = static_cast<std::uint32_t>(value >> 32);
}

constexpr bool is_of_floats(AtomicOperation operation) {
  using enum AtomicOperation;
  switch (operation) {
  case add_float:
  case add_float_flushing:
  case min_float:
  case max_float:
  case min_in_order:
  case max_in_order:
  case min_number:
  case max_number:
  case add_packed_half:
  case add_packed_bfloat:
    return true;
  default:
    return false;
  }
}

bool drops_float_atomics(const ComputeUnitCaches* caches, std::uint64_t address) {
  return caches != nullptr && caches->l2() != nullptr && caches->l2()->drops_float_atomics(address);
}

template <AtomicOperation operation, class T>
void execute_in_memory(WaveState* state, std::uint64_t lanes, std::uint64_t flat_scratch, Segment segment,
                       std::uint64_t offset) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const T data = operand<T>(*state, 0, lane);
    const T second = operand<T>(*state, sizeof(T) / 4, lane);
    const LanePlace place = place_of(*state, segment, state->lane_addresses[lane], offset);
    const auto address = host_address(*state, lane, flat_scratch, place, 0, sizeof(T));
    T before = 0;
    if (address && place.segment != Segment::lds && state->caches != nullptr)
      state->caches->make_way(*address, sizeof(T));
    const bool is_dropped = is_of_floats(operation) && place.segment == Segment::global && address &&
                            drops_float_atomics(state->caches, *address);
    if (address && !is_dropped)
      before = exchange<operation>(reinterpret_cast<T*>(*address), data, second);  // NOLINT(performance-*)
    put_former(*state, lane, before);
  }
}

template <AtomicOperation operation, class T>
void execute_in_lds(WaveState* state, std::uint64_t lanes) {
  std::byte* const lds = state->lds;
  const std::uint64_t lds_bytes = state->lds_bytes;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const T data = operand<T>(*state, 0, lane);
    const T second = operand<T>(*state, sizeof(T) / 4, lane);
    const std::uint64_t offset = state->lane_addresses[lane];
    T before = 0;
    if (offset + sizeof(T) <= lds_bytes) {
      std::memcpy(&before, lds + offset, sizeof(T));
      const T after = apply<operation>(before, data, second);
      std::memcpy(lds + offset, &after, sizeof(T));
    }
    put_former(*state, lane, before);
  }
}

template <AtomicOperation operation>
AtomicFunctions of_width(unsigned bits) {
  if constexpr (operation != AtomicOperation::conditional_exchange)
    if (bits == 32) return {execute_in_memory<operation, std::uint32_t>, execute_in_lds<operation, std::uint32_t>};
  if constexpr (operation == AtomicOperation::add_packed_half || operation == AtomicOperation::add_packed_bfloat)
    return {};
  else
    return {execute_in_memory<operation, std::uint64_t>, execute_in_lds<operation, std::uint64_t>};
}

}  // namespace

AtomicFunctions atomic_functions(AtomicOperation operation, unsigned bits) {
  using enum AtomicOperation;
  // clang-format off
  switch (operation) {
  case swap:               return of_width<swap>(bits);
  case compare_swap:       return of_width<compare_swap>(bits);
  case compare_swap_float: return of_width<compare_swap_float>(bits);
  case add:                return of_width<add>(bits);
  case subtract:           return of_width<subtract>(bits);
  case reverse_subtract:   return of_width<reverse_subtract>(bits);
  case signed_min:         return of_width<signed_min>(bits);
  case unsigned_min:       return of_width<unsigned_min>(bits);
  case signed_max:         return of_width<signed_max>(bits);
  case unsigned_max:       return of_width<unsigned_max>(bits);
  case bit_and:            return of_width<bit_and>(bits);
  case bit_or:             return of_width<bit_or>(bits);
  case bit_xor:            return of_width<bit_xor>(bits);
  case masked_or:          return of_width<masked_or>(bits);
  case increment:          return of_width<increment>(bits);
  case decrement:          return of_width<decrement>(bits);
  case wrap:               return of_width<wrap>(bits);
  case add_float:          return of_width<add_float>(bits);
  case add_float_flushing: return of_width<add_float_flushing>(bits);
  case min_in_order:       return of_width<min_in_order>(bits);
  case max_in_order:       return of_width<max_in_order>(bits);
  case min_float:          return of_width<min_float>(bits);
  case max_float:          return of_width<max_float>(bits);
  case add_packed_half:    return of_width<add_packed_half>(bits);
  case add_packed_bfloat:  return of_width<add_packed_bfloat>(bits);
  case min_number:         return of_width<min_number>(bits);
  case max_number:         return of_width<max_number>(bits);
  case conditional_subtract: return of_width<conditional_subtract>(bits);
  case subtract_clamped:   return of_width<subtract_clamped>(bits);
  case conditional_exchange: return of_width<conditional_exchange>(bits);
  }
  // clang-format on
  return {};
}

}  // namespace softgpu::compute::runtime
