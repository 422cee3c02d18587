// The layouts of pixels that kernels/luminance.hip and its host program exchange.
//
// A vector type of three floats has different sizes in HIP, in OpenCL and in a C++ library, and a pointer does not tell
// the size. A struct that both sides include, with its size asserted on both sides, does.
#pragma once

/// HIP's float3, or three floats of a C++ program.
struct PackedPixel {
  float red, green, blue;
};
static_assert(sizeof(PackedPixel) == 12, "three floats after one another");

/// OpenCL's float3, and any float4.
struct alignas(16) PaddedPixel {
  float red, green, blue, unused;
};
static_assert(sizeof(PaddedPixel) == 16, "three floats in the room of four");
