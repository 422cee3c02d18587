// What a kernel reaches that only reads the matrix.
#pragma once

#include "problem.hpp"
#include "variant.hpp"

#include <fastdispatch/fastdispatch.hpp>

/// Reads the matrix, which is in `memory`. Both and `problem` must outlive it.
[[nodiscard]] Variant plain_read(Problem& problem, Memory memory, const fastdispatch::MemoryView& matrix);
