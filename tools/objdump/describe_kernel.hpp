// A kernel's arguments and resources, as its code object's metadata tells them.
#pragma once

#include "describe_file.hpp"
#include "document.hpp"
#include "machine_code.hpp"

#include "dispatch/code_object/kernel_metadata.hpp"

[[nodiscard]] Document describe_kernel(const fastdispatch::detail::KernelMetadata& kernel,
                                       const MachineCode& machine_code, const DumpOptions& options);
