// The tiles in LDS that kernels/blur.hip lays out and its host program makes room for: the pixels of a work-group of
// `width` x `height` work-items, and one more on each side.
#pragma once

#include <stdint.h>

/// Pixels below one another that a work-item of the kernels with strips computes.
constexpr uint32_t strip = 4;

/// Words from one row of the tile to the next. With 32 more words than the group's width, work-item i reads LDS bank (i
/// + constant) modulo 32 for every shape. So the 32 work-items that are served at once read 32 different banks.
constexpr uint32_t tile_pitch(uint32_t width) { return width + 32; }

/// The same for work-items whose rows are a strip apart: `strip` times the pitch is the width, modulo 32, where the
/// width is a multiple of `strip`.
constexpr uint32_t strip_pitch(uint32_t width) {
  return width + 2 + ((width / strip - (width + 2)) & (32 / strip - 1));
}
static_assert(strip * strip_pitch(16) % 32 == 16 && strip_pitch(16) == 20, "no bank conflicts in groups 16 wide");
static_assert(strip * strip_pitch(64) % 32 == 0 && strip_pitch(64) == 72, "nor in wide ones");

constexpr uint32_t tile_words(uint32_t width, uint32_t height) { return tile_pitch(width) * (height + 2); }
constexpr uint32_t strip_words(uint32_t width, uint32_t height) { return strip_pitch(width) * (strip * height + 2); }
