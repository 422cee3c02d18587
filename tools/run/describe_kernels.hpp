// The kernels of a loaded code object.
#pragma once

#include "document.hpp"

#include <fastdispatch/module.hpp>

/// The target, and each kernel with its arguments.
[[nodiscard]] Document describe_kernels(const fastdispatch::Module& module);
