#include "prelude.hpp"

namespace random_programs {

const std::string_view prelude = R"(
#if defined(__HIP__)
#define DEVICE __attribute__((device))
#define KERNEL extern "C" __attribute__((global))
#define CONSTANT __attribute__((constant))
#define EITHER __attribute__((host)) DEVICE static
#else
#define CONSTANT
#define EITHER static
#endif
#define INLINE EITHER inline __attribute__((always_inline))
#define NOINLINE EITHER __attribute__((noinline))

using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned;
using i64 = long;
using u64 = unsigned long;
using f16 = _Float16;
using f32 = float;
using f64 = double;
#define VECTORS(T)                                      \
  typedef T T##x2 __attribute__((ext_vector_type(2)));  \
  typedef T T##x4 __attribute__((ext_vector_type(4)));
VECTORS(i8) VECTORS(u8) VECTORS(i16) VECTORS(u16) VECTORS(i32) VECTORS(u32) VECTORS(f16) VECTORS(f32)

template <class T> struct Unsigned;
template <> struct Unsigned<i8> { using type = u8; };
template <> struct Unsigned<u8> { using type = u8; };
template <> struct Unsigned<i16> { using type = u16; };
template <> struct Unsigned<u16> { using type = u16; };
template <> struct Unsigned<i32> { using type = u32; };
template <> struct Unsigned<u32> { using type = u32; };
template <> struct Unsigned<i64> { using type = u64; };
template <> struct Unsigned<u64> { using type = u64; };
template <> struct Unsigned<f16> { using type = u16; };
template <> struct Unsigned<f32> { using type = u32; };
template <> struct Unsigned<f64> { using type = u64; };
template <class T> using unsigned_t = typename Unsigned<T>::type;
template <class T> constexpr bool is_signed = T(-1) < T(0);
template <class T> constexpr u32 width = sizeof(T) * 8;

// Zero, as the upper half of every seed is, of which compilers know no bit. See docs/random_programs.md.
INLINE u64 unknown_zero(u64 seed) {
#if defined(KNOWN_BITS)
  return 0;
#else
  return (seed >> 32) * 0x100000001u;
#endif
}
template <class T> INLINE T hide(T x, u64 zero) { return T(x ^ T(zero)); }
template <class T, class F> INLINE T same_bits(F x, u64 zero) {
  if constexpr (sizeof(T) == 2) return __builtin_bit_cast(T, hide(__builtin_bit_cast(u16, x), zero));
  else if constexpr (sizeof(T) == 4) return __builtin_bit_cast(T, hide(__builtin_bit_cast(u32, x), zero));
  else if constexpr (sizeof(T) == 8) return __builtin_bit_cast(T, hide(__builtin_bit_cast(u64, x), zero));
  else return __builtin_bit_cast(T, x);
}

// ---- integers
template <class T> INLINE T product(T a, T b, u64 zero) { return sizeof(T) == 8 ? T(hide(a, zero) * b) : T(a * b); }
template <class T> INLINE T quotient(T a, T b, u64 zero) {
  const T x = hide(a, zero), y = hide(b, zero);
  if (y == T(0)) return x;
  if (is_signed<T> && y == T(-1)) return T(T(0) - x);
  return T(x / y);
}
template <class T> INLINE T remainder(T a, T b, u64 zero) {
  const T x = hide(a, zero), y = hide(b, zero);
  if (y == T(0)) return x;
  if (is_signed<T> && y == T(-1)) return T(0);
  return T(x % y);
}
template <class T> struct Wide { using type = i64; };
template <> struct Wide<u32> { using type = u64; };
template <> struct Wide<i64> { using type = __int128; };
template <> struct Wide<u64> { using type = unsigned __int128; };
template <class T> INLINE T high_product(T a, T b, u64 zero) {
  using W = typename Wide<T>::type;
  return T((W(hide(a, zero)) * W(hide(b, zero))) >> width<T>);
}
INLINE u64 wide_product(u32 a, u32 b, u64 zero) { return u64(hide(a, zero)) * b; }
INLINE i64 wide_product(i32 a, i32 b, u64 zero) { return i64(hide(a, zero)) * b; }
INLINE u32 product_24(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
INLINE i32 product_24(i32 a, i32 b) { return (a << 8 >> 8) * (b << 8 >> 8); }
template <class T> INLINE T minimum(T a, T b) { return a < b ? a : b; }
template <class T> INLINE T maximum(T a, T b) { return a > b ? a : b; }
template <class T> INLINE T absolute(T x) { return x < T(0) ? T(T(0) - x) : x; }
template <class T> INLINE T rotate_left(T x, u32 count) {
  using U = unsigned_t<T>;
  constexpr u32 mask = width<T> - 1;
  return T(U(U(x) << (count & mask)) | U(U(x) >> ((0 - count) & mask)));
}
template <class T> INLINE T leading_zeros(T x) {
  if (x == T(0)) return T(width<T>);
  if (sizeof(T) == 8) return T(__builtin_clzl(u64(x)));
  return T(__builtin_clz(u32(unsigned_t<T>(x))) - (32 - width<T>));
}
template <class T> INLINE T trailing_zeros(T x) {
  if (x == T(0)) return T(width<T>);
  return T(sizeof(T) == 8 ? __builtin_ctzl(u64(x)) : __builtin_ctz(u32(unsigned_t<T>(x))));
}
template <class T> INLINE T population(T x) { return T(__builtin_popcountl(u64(unsigned_t<T>(x)))); }
template <class T> INLINE T reverse_bits(T x) {
  if (sizeof(T) == 1) return T(__builtin_bitreverse8(u8(x)));
  if (sizeof(T) == 2) return T(__builtin_bitreverse16(u16(x)));
  return sizeof(T) == 4 ? T(__builtin_bitreverse32(u32(x))) : T(__builtin_bitreverse64(u64(x)));
}
template <class T> INLINE T reverse_bytes(T x) {
  if (sizeof(T) == 1) return x;
  if (sizeof(T) == 2) return T(__builtin_bswap16(u16(x)));
  return sizeof(T) == 4 ? T(__builtin_bswap32(u32(x))) : T(__builtin_bswap64(u64(x)));
}
template <class T> INLINE T field(T x, u32 first, u32 count) {  // count bits from `first` on, extended by T's sign
  return T(T(x << (width<T> - first - count)) >> (width<T> - count));
}
template <class T> INLINE T select_bits(T mask, T a, T b) { return T((a & mask) | (b & T(~mask))); }
template <class T> INLINE bool overflows(T a, T b) { T sum; return __builtin_add_overflow(a, b, &sum); }
template <class T> INLINE T sum_saturated(T a, T b) {
  if constexpr (sizeof(T) >= 4) return __builtin_elementwise_add_sat(a, b);
  T sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return is_signed<T> ? T((a < T(0) ? 0 : -1) ^ (1 << (width<T> - 1))) : T(-1);
}
template <class T> INLINE T difference_saturated(T a, T b) {
  if constexpr (sizeof(T) >= 4) return __builtin_elementwise_sub_sat(a, b);
  T difference;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return is_signed<T> ? T((a < T(0) ? 0 : -1) ^ (1 << (width<T> - 1))) : T(0);
}
INLINE u32 pack_bytes(u32 a, u32 b, u32 c, u32 d) { return (a & 255) | (b & 255) << 8 | (c & 255) << 16 | d << 24; }
INLINE u32 pack_halves(u32 a, u32 b) { return (a & 0xffff) | b << 16; }
INLINE u32 dot(u8x4 a, u8x4 b, u32 c) {
  return u32(a.x) * b.x + u32(a.y) * b.y + u32(a.z) * b.z + u32(a.w) * b.w + c;
}
INLINE i32 dot(i8x4 a, i8x4 b, i32 c) {
  return i32(a.x) * b.x + i32(a.y) * b.y + i32(a.z) * b.z + i32(a.w) * b.w + c;
}
INLINE u32 dot(u16x2 a, u16x2 b, u32 c) { return u32(a.x) * b.x + u32(a.y) * b.y + c; }
INLINE i32 dot(i16x2 a, i16x2 b, i32 c) { return i32(a.x) * b.x + i32(a.y) * b.y + c; }

// ---- floating point: what IEEE 754 defines to the bit, and no sign or payload of a NaN
#if defined(__HIP__)
extern "C" DEVICE f32 __ocml_sqrt_f32(f32);
extern "C" DEVICE f64 __ocml_sqrt_f64(f64);
#endif
INLINE f32 root(f32 x) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __ocml_sqrt_f32(x);
#else
  return __builtin_sqrtf(x);
#endif
}
INLINE f64 root(f64 x) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __ocml_sqrt_f64(x);
#else
  return __builtin_sqrt(x);
#endif
}
INLINE f16 root(f16 x) { return f16(root(f32(x))); }
INLINE f16 ratio(f16 a, f16 b) { return f16(f32(a) / f32(b)); }
INLINE f32 ratio(f32 a, f32 b) { return a / b; }
INLINE f64 ratio(f64 a, f64 b) { return a / b; }
INLINE f32 fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
INLINE f64 fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
INLINE f32x2 fused(f32x2 a, f32x2 b, f32x2 c) { return f32x2{fused(a.x, b.x, c.x), fused(a.y, b.y, c.y)}; }
INLINE f32x4 fused(f32x4 a, f32x4 b, f32x4 c) {
  return f32x4{fused(a.x, b.x, c.x), fused(a.y, b.y, c.y), fused(a.z, b.z, c.z), fused(a.w, b.w, c.w)};
}
template <class T> INLINE T lesser(T a, T b) { return __builtin_elementwise_min(a, b) + T(0); }  // -0 becomes +0
template <class T> INLINE T greater(T a, T b) { return __builtin_elementwise_max(a, b) + T(0); }
INLINE f16 nearest(f16 x) { return f16(__builtin_rintf(f32(x))); }
INLINE f32 nearest(f32 x) { return __builtin_rintf(x); }
INLINE f64 nearest(f64 x) { return __builtin_rint(x); }
template <class T> INLINE bool is_nan(T x) { return x != x; }
template <class T> INLINE T number(T x) { return is_nan(x) ? T(1) : x; }
INLINE f16 with_sign(f16 a, f16 b) { return f16(__builtin_copysignf(f32(a), f32(number(b)))); }
INLINE f32 with_sign(f32 a, f32 b) { return __builtin_copysignf(a, number(b)); }
INLINE f64 with_sign(f64 a, f64 b) { return __builtin_copysign(a, number(b)); }
template <class T> INLINE unsigned_t<T> bits_of(T x) { return __builtin_bit_cast(unsigned_t<T>, number(x)); }
template <class T> INLINE T from_bits(unsigned_t<T> x) { return number(__builtin_bit_cast(T, x)); }
template <class T, class F> INLINE T to_integer(F x) {
  if constexpr (sizeof(F) == 2) {
    return to_integer<T>(f32(x));
  } else {
    constexpr F half = F(u64(1) << (width<T> - 1));
    return x >= (is_signed<T> ? -half : F(0)) && x < (is_signed<T> ? half : half * 2) ? T(x) : T(77);
  }
}

// ---- start values and results
INLINE u32 start(u64 seed, u32 item, u32 which) {
  const u32 x = (item + which) * 2654435761u ^ u32(seed);
  return x ^ x >> 15;
}
struct Result { u32 low, high; };
template <class T> INLINE void mix(Result& result, T x) {
  if constexpr (sizeof(T) == 8) {
    result.low = rotate_left(result.low, 5) ^ u32(x);
    result.high = rotate_left(result.high, 11) ^ u32(u64(x) >> 32);
  } else {
    result.low = rotate_left(result.low, 5) ^ u32(x);
  }
}
INLINE void mix(Result& result, f16 x) { mix(result, bits_of(x)); }
INLINE void mix(Result& result, f32 x) { mix(result, bits_of(x)); }
INLINE void mix(Result& result, f64 x) { mix(result, bits_of(x)); }
INLINE u64 all(const Result& result) { return u64(result.high) << 32 | result.low; }
)";

}  // namespace random_programs
