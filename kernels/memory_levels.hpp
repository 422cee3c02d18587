// What kernels/memory_levels.hip and its host program agree on. A read is 16 bytes.
#pragma once

#include <stdint.h>

/// Words that a work-item keeps in registers.
constexpr uint32_t register_words = 16;

/// Reads that a work-group's LDS has room for.
constexpr uint32_t lds_reads = 512;

/// Reads that one scalar load makes.
constexpr uint32_t scalar_reads = 4;

/// Reads in one step of the loop over LDS or memory: as many are on their way at once.
constexpr uint32_t step_reads = 8;
