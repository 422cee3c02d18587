// Three bytes a pixel to one.
__kernel GROUP(256, 1) void luminance(__global const uchar* pixels, __global uchar* luma) {
  const uint i = get_global_id(0);
  const uint red = pixels[3 * i], green = pixels[3 * i + 1], blue = pixels[3 * i + 2];
  luma[i] = (uchar)((77 * red + 150 * green + 29 * blue + 128) >> 8);
}
