// Texture and surface objects: every way to address, filter and read, on arrays and on linear memory, beside a
// reference that is written from the OpenCL 1.2 specification, section 8.2 ("Image Addressing and Filtering").
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "check.hpp"

// CDNA3 and CDNA4 have no images: their code is empty, and the program skips them.
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
#pragma clang diagnostic ignored "-Wunused-parameter"
#define WITH_IMAGES(...)
#else
#define WITH_IMAGES(...) __VA_ARGS__
#endif

namespace {

enum class Kind { one, two, three, one_layered, two_layered };

struct Extent {
  int width;
  int height = 1;
  int depth = 1;  ///< or layers
};

struct Half1 {
  _Float16 x;
};
struct Half4 {
  _Float16 x, y, z, w;
};

struct Place {
  float x, y, z;
  int layer;
};

template <class Read>
__global__ void fetch(hipTextureObject_t texture, Kind kind, const Place* places, Read* out, int count) {
  WITH_IMAGES(const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); if (i >= count) return;
              const Place p = places[i]; switch (kind) {
                case Kind::one:
                  out[i] = tex1D<Read>(texture, p.x);
                  break;
                case Kind::two:
                  out[i] = tex2D<Read>(texture, p.x, p.y);
                  break;
                case Kind::three:
                  out[i] = tex3D<Read>(texture, p.x, p.y, p.z);
                  break;
                case Kind::one_layered:
                  out[i] = tex1DLayered<Read>(texture, p.x, p.layer);
                  break;
                case Kind::two_layered:
                  out[i] = tex2DLayered<Read>(texture, p.x, p.y, p.layer);
                  break;
              })
}

template <class Read>
__global__ void fetch_linear(hipTextureObject_t texture, Read* out, int count) {
  WITH_IMAGES(const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
              if (i < count) out[i] = tex1Dfetch<Read>(texture, i);)
}

template <class T>
__global__ void transpose_and_add(hipSurfaceObject_t from, hipSurfaceObject_t to, int width, int height) {
  WITH_IMAGES(const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
              const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
              if (x >= width || y >= height) return; T value;
              surf2Dread(&value, from, x * static_cast<int>(sizeof(T)), y); value.x += 3;
              surf2Dwrite(value, to, y * static_cast<int>(sizeof(T)), x);)
}

// --- The reference

template <class T>
constexpr int channels_of = sizeof(T) / sizeof(decltype(T::x));

template <class T>
double normalized(T value, bool is_normalized) {
  if constexpr (std::is_integral_v<T>) {
    if (!is_normalized) return value;
    return std::max(static_cast<double>(value) / std::numeric_limits<T>::max(), -1.0);
  } else {
    return static_cast<double>(value);
  }
}

/// An image of the host's: T is a vector type, whose members are channels.
template <class T>
struct Image {
  using Channel = decltype(T::x);
  Extent extent;
  Kind kind;
  std::vector<T> texels;

  Image(Kind k, Extent e) : extent(e), kind(k), texels(static_cast<std::size_t>(e.width) * e.height * e.depth) {
    unsigned seed = 1;
    for (T& texel : texels) {
      Channel values[channels_of<T>];
      for (Channel& value : values) {
        seed = seed * 1103515245 + 12345;
        const int number = static_cast<int>(seed >> 16 & 0xff);
        value = static_cast<Channel>(std::is_unsigned_v<Channel> ? number : number - 128);
      }
      std::memcpy(&texel, values, sizeof texel);
    }
  }
  [[nodiscard]] Channel at(int x, int y, int z, int channel) const {
    Channel values[channels_of<T>];
    std::memcpy(values, &texels.at((static_cast<std::size_t>(z) * extent.height + y) * extent.width + x), sizeof(T));
    return values[channel];
  }
};

/// A texel's number on one axis, or -1: the border.
int addressed(int i, int size, hipTextureAddressMode mode) {
  switch (mode) {
  case hipAddressModeWrap:
    return (i % size + size) % size;
  case hipAddressModeMirror: {
    const int within = (i % (2 * size) + 2 * size) % (2 * size);
    return within < size ? within : 2 * size - 1 - within;
  }
  case hipAddressModeBorder:
    return i < 0 || i >= size ? -1 : i;
  default:
    return std::clamp(i, 0, size - 1);
  }
}

template <class T>
double sampled(const Image<T>& image, const hipTextureDesc& how, const Place& place, int channel) {
  const bool is_float = how.readMode == hipReadModeNormalizedFloat;
  const bool is_linear = how.filterMode == hipFilterModeLinear;
  const int sizes[3] = {image.extent.width, image.extent.height, image.extent.depth};
  const float given[3] = {place.x, place.y, place.z};
  const bool is_layered = image.kind == Kind::one_layered || image.kind == Kind::two_layered;
  const int axes = image.kind == Kind::three ? 3 : image.kind == Kind::two || image.kind == Kind::two_layered ? 2 : 1;
  int index[3][2] = {};
  double weight[3] = {};
  for (int axis = 0; axis < axes; ++axis) {
    double u = given[axis];
    if (how.normalizedCoords != 0) u *= sizes[axis];
    if (is_linear) u -= 0.5;
    const int first = static_cast<int>(std::floor(u));
    if (is_linear) weight[axis] = u - first;
    for (int end = 0; end < 2; ++end) index[axis][end] = addressed(first + end, sizes[axis], how.addressMode[axis]);
  }
  if (is_layered) index[2][0] = index[2][1] = std::clamp(place.layer, 0, image.extent.depth - 1);
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double part = 1;
    int at[3];
    for (int axis = 0; axis < 3; ++axis) {
      const int end = corner >> axis & 1;
      part *= end == 1 ? weight[axis] : 1 - weight[axis];
      at[axis] = index[axis][end];
    }
    if (part == 0 || at[0] < 0 || at[1] < 0 || at[2] < 0) continue;
    sum += part * normalized(image.at(at[0], at[1], at[2], channel), is_float);
  }
  return sum;
}

// --- What the GPU does

template <class T>
hipChannelFormatDesc channels() {
  using Channel = decltype(T::x);
  const int bits = 8 * static_cast<int>(sizeof(Channel));
  const int count = channels_of<T>;
  const hipChannelFormatKind kind =
      std::is_integral_v<Channel>
          ? (std::is_unsigned_v<Channel> ? hipChannelFormatKindUnsigned : hipChannelFormatKindSigned)
          : hipChannelFormatKindFloat;
  return hipCreateChannelDesc(bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind);
}

template <class T>
hipArray* array_of(const Image<T>& image) {
  const auto desc = channels<T>();
  hipArray* array = nullptr;
  const bool is_layered = image.kind == Kind::one_layered || image.kind == Kind::two_layered;
  const bool is_flat = image.kind == Kind::one || image.kind == Kind::one_layered;
  const std::size_t width = image.extent.width;
  const std::size_t height = is_flat ? 0 : image.extent.height;
  const std::size_t depth = image.kind == Kind::three || is_layered ? image.extent.depth : 0;
  if (depth == 0) {
    CHECK(hipMallocArray(&array, &desc, width, height, hipArrayDefault));
    CHECK(hipMemcpy2DToArray(array, 0, 0, image.texels.data(), width * sizeof(T), width * sizeof(T),
                             std::max<std::size_t>(height, 1), hipMemcpyHostToDevice));
    return array;
  }
  CHECK(hipMalloc3DArray(&array, &desc, make_hipExtent(width, height, depth), is_layered ? hipArrayLayered : 0U));
  hipMemcpy3DParms copy{};
  copy.srcPtr = make_hipPitchedPtr(const_cast<T*>(image.texels.data()), width * sizeof(T), width,
                                   std::max<std::size_t>(height, 1));
  copy.dstArray = array;
  copy.extent = make_hipExtent(width, std::max<std::size_t>(height, 1), depth);
  copy.kind = hipMemcpyHostToDevice;
  CHECK(hipMemcpy3D(&copy));
  return array;
}

constexpr int blocks_of(int count) { return (count + 63) / 64; }

/// Coordinates within, at the edges, and outside of the image, none of them where a texel begins or ends.
std::vector<Place> places(const Extent& extent, bool is_normalized) {
  std::vector<Place> result;
  const auto along = [](int size, int i) {
    return -1.5F * static_cast<float>(size) + 0.28125F * static_cast<float>(i) + 0.015625F;
  };
  for (int i = 0; i < 400; ++i) {
    Place place{along(extent.width, i), along(extent.height, i * 7 % 97), along(extent.depth, i * 5 % 61), i % 7 - 1};
    if (is_normalized) {
      place.x /= static_cast<float>(extent.width);
      place.y /= static_cast<float>(extent.height);
      place.z /= static_cast<float>(extent.depth);
    }
    result.push_back(place);
  }
  return result;
}

template <class Read, class T>
void compare(const Image<T>& image, hipTextureObject_t texture, const hipTextureDesc& how, const std::string& what) {
  const std::vector<Place> where = places(image.extent, how.normalizedCoords != 0);
  const int count = static_cast<int>(where.size());
  Place* device_places = nullptr;
  Read* device_out = nullptr;
  CHECK(hipMalloc(&device_places, where.size() * sizeof(Place)));
  CHECK(hipMalloc(&device_out, where.size() * sizeof(Read)));
  CHECK(hipMemcpy(device_places, where.data(), where.size() * sizeof(Place), hipMemcpyHostToDevice));
  fetch<Read><<<blocks_of(count), 64>>>(texture, image.kind, device_places, device_out, count);
  CHECK(hipGetLastError());
  std::vector<Read> out(where.size());
  CHECK(hipMemcpy(out.data(), device_out, where.size() * sizeof(Read), hipMemcpyDeviceToHost));
  CHECK(hipFree(device_places));
  CHECK(hipFree(device_out));
  using Channel = decltype(Read::x);
  // Weights have 8 bits: on each axis they may be off by half a step of the greatest difference of texels.
  const double span = how.readMode == hipReadModeNormalizedFloat ? 2 : 256;
  const double tolerance = how.filterMode == hipFilterModeLinear ? 3 * span / 512 + span * 1e-5 : span * 1e-6;
  for (int i = 0; i < count; ++i) {
    Channel values[channels_of<Read>];
    std::memcpy(values, &out[i], sizeof values);
    for (int c = 0; c < channels_of<T>; ++c) {
      const double expected = sampled(image, how, where[i], c);
      const auto got = static_cast<double>(values[c]);
      if (std::abs(got - expected) <= tolerance) continue;
      std::fprintf(stderr, "%s: channel %d at (%g, %g, %g), layer %d: %g instead of %g\n", what.c_str(), c, where[i].x,
                   where[i].y, where[i].z, where[i].layer, got, expected);
      std::exit(EXIT_FAILURE);
    }
  }
}

hipTextureDesc texture_desc(hipTextureAddressMode mode, hipTextureFilterMode filter, bool is_normalized,
                            hipTextureReadMode read) {
  hipTextureDesc how{};
  std::fill_n(how.addressMode, 3, mode);
  how.filterMode = filter;
  how.readMode = read;
  how.normalizedCoords = is_normalized ? 1 : 0;
  return how;
}

/// All modes that HIP allows for these texels.
template <class Read, class T>
void compare_modes(const Image<T>& image, const hipResourceDesc& resource, hipTextureReadMode read,
                   const std::string& what) {
  const bool is_float = read == hipReadModeNormalizedFloat || !std::is_integral_v<decltype(T::x)>;
  for (const bool is_normalized : {false, true})
    for (const auto mode : {hipAddressModeClamp, hipAddressModeBorder, hipAddressModeWrap, hipAddressModeMirror})
      for (const auto filter : {hipFilterModePoint, hipFilterModeLinear}) {
        if (filter == hipFilterModeLinear && !is_float) continue;
        if (!is_normalized && (mode == hipAddressModeWrap || mode == hipAddressModeMirror)) continue;
        const hipTextureDesc how = texture_desc(mode, filter, is_normalized, read);
        hipTextureObject_t texture{};
        CHECK(hipCreateTextureObject(&texture, &resource, &how, nullptr));
        compare<Read>(image, texture, how,
                      what + ", address mode " + std::to_string(mode) + (is_normalized ? ", normalized" : "") +
                          (filter == hipFilterModeLinear ? ", linear" : ", point"));
#if HIP_VERSION_MAJOR > 5  // HIP 5.2 frees the array, too
        CHECK(hipDestroyTextureObject(texture));
#endif
      }
}

template <class T, class Read = T>
void textures(const std::string& type, hipTextureReadMode read = hipReadModeElementType) {
  const std::pair<Kind, Extent> images[] = {
      {Kind::one, {37}}, {Kind::two, {37, 19}}, {Kind::three, {13, 9, 5}}, {Kind::two_layered, {21, 11, 4}}};
  for (const auto& [kind, extent] : images) {
    const Image<T> image(kind, extent);
    hipArray* array = array_of(image);
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    compare_modes<Read>(image, resource, read, type + " " + std::to_string(static_cast<int>(kind)));
    std::vector<T> back(image.texels.size());
    if (kind == Kind::two) {
      CHECK(hipMemcpy2DFromArray(back.data(), extent.width * sizeof(T), array, 0, 0, extent.width * sizeof(T),
                                 extent.height, hipMemcpyDeviceToHost));
      EXPECT(std::memcmp(back.data(), image.texels.data(), back.size() * sizeof(T)) == 0);
    }
    CHECK(hipFreeArray(array));
  }
}

template <class T, class Read = T>
void linear_memory(const std::string& type, hipTextureReadMode read = hipReadModeElementType) {
  const Image<T> row(Kind::one, {1000});
  T* memory = nullptr;
  Read* out = nullptr;
  CHECK(hipMalloc(&memory, row.texels.size() * sizeof(T)));
  CHECK(hipMalloc(&out, row.texels.size() * sizeof(Read)));
  CHECK(hipMemcpy(memory, row.texels.data(), row.texels.size() * sizeof(T), hipMemcpyHostToDevice));
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = channels<T>();
  resource.res.linear.sizeInBytes = row.texels.size() * sizeof(T);
  const hipTextureDesc how = texture_desc(hipAddressModeClamp, hipFilterModePoint, false, read);
  hipTextureObject_t texture{};
  CHECK(hipCreateTextureObject(&texture, &resource, &how, nullptr));
  fetch_linear<Read><<<blocks_of(row.extent.width), 64>>>(texture, out, row.extent.width);
  CHECK(hipGetLastError());
  std::vector<Read> back(row.texels.size());
  CHECK(hipMemcpy(back.data(), out, back.size() * sizeof(Read), hipMemcpyDeviceToHost));
  for (int i = 0; i < row.extent.width; ++i) {
    decltype(Read::x) values[channels_of<Read>];
    std::memcpy(values, &back[i], sizeof values);
    for (int c = 0; c < channels_of<T>; ++c) {
      const double expected = normalized(row.at(i, 0, 0, c), read == hipReadModeNormalizedFloat);
      EXPECT(std::abs(static_cast<double>(values[c]) - expected) < 1e-6);
    }
  }
  CHECK(hipDestroyTextureObject(texture));
  CHECK(hipFree(memory));
  CHECK(hipFree(out));

  // Rows with a pitch, which another program part may have written.
  const Image<T> plane(Kind::two, {37, 19});
  void* rows = nullptr;
  std::size_t pitch = 0;
  const std::size_t row_bytes = 37 * sizeof(T);
  CHECK(hipMallocPitch(&rows, &pitch, row_bytes, 19));
  CHECK(hipMemcpy2D(rows, pitch, plane.texels.data(), row_bytes, row_bytes, 19, hipMemcpyHostToDevice));
  resource = {};
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D.devPtr = rows;
  resource.res.pitch2D.desc = channels<T>();
  resource.res.pitch2D.width = 37;
  resource.res.pitch2D.height = 19;
  resource.res.pitch2D.pitchInBytes = pitch;
  compare_modes<Read>(plane, resource, read, type + " with a pitch");
  CHECK(hipFree(rows));
}

template <class T>
void surfaces() {
  const Image<T> image(Kind::two, {37, 19});
  hipArray* from = array_of(image);
  const auto desc = channels<T>();
  hipArray* to = nullptr;
  CHECK(hipMallocArray(&to, &desc, 19, 37, hipArrayDefault));
  hipResourceDesc resource{};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = from;
  hipSurfaceObject_t from_surface{};
  hipSurfaceObject_t to_surface{};
  CHECK(hipCreateSurfaceObject(&from_surface, &resource));
  resource.res.array.array = to;
  CHECK(hipCreateSurfaceObject(&to_surface, &resource));
  transpose_and_add<T><<<dim3(3, 2), dim3(16, 16)>>>(from_surface, to_surface, 37, 19);
  CHECK(hipGetLastError());
  std::vector<T> back(image.texels.size());
  CHECK(hipMemcpy2DFromArray(back.data(), 19 * sizeof(T), to, 0, 0, 19 * sizeof(T), 37, hipMemcpyDeviceToHost));
  for (int y = 0; y < 19; ++y)
    for (int x = 0; x < 37; ++x) {
      T expected = image.texels.at(y * 37 + x);
      expected.x += 3;
      EXPECT(std::memcmp(&expected, &back.at(x * 19 + y), sizeof(T)) == 0);
    }
  CHECK(hipDestroySurfaceObject(from_surface));
  CHECK(hipDestroySurfaceObject(to_surface));
  CHECK(hipFreeArray(from));
  CHECK(hipFreeArray(to));
}

}  // namespace

int main() {
  hipDeviceProp_t properties;
  CHECK(hipGetDeviceProperties(&properties, 0));
  const std::string_view name = properties.gcnArchName;
  if (name.starts_with("gfx94") || name.starts_with("gfx95")) return EXIT_SUCCESS;

  textures<uchar1>("uchar1");
  textures<char4>("char4");
  textures<short2>("short2");
  textures<ushort4>("ushort4");
  textures<int1>("int1");
  textures<uint4>("uint4");
  textures<Half1, float1>("half1");
  textures<Half4, float4>("half4");
  textures<float1>("float1");
  textures<float2>("float2");
  textures<float4>("float4");
  textures<uchar1, float1>("uchar1 as float", hipReadModeNormalizedFloat);
  textures<uchar4, float4>("uchar4 as float", hipReadModeNormalizedFloat);
  textures<char2, float2>("char2 as float", hipReadModeNormalizedFloat);
  textures<ushort1, float1>("ushort1 as float", hipReadModeNormalizedFloat);
  textures<short4, float4>("short4 as float", hipReadModeNormalizedFloat);
  linear_memory<float1>("float1");
  linear_memory<float4>("float4");
  linear_memory<uchar4>("uchar4");
  linear_memory<short2>("short2");
  linear_memory<int1>("int1");
  linear_memory<uchar4, float4>("uchar4 as float", hipReadModeNormalizedFloat);
  surfaces<float1>();
  surfaces<float4>();
#if HIP_VERSION_MAJOR > 5  // HIP 5.2 converts other numbers to floats, and stores these
  surfaces<int2>();
  surfaces<uchar4>();
  surfaces<short1>();
#endif
}
