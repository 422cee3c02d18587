// Whether the process may have what ROCr takes while it starts: ROCr asserts that it gets it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace softgpu::thunk {

/// What is lacking and which limit is in the way; nothing if ROCr can start. Call it when the driver has its threads.
[[nodiscard]] std::optional<std::string> lacking_resource(std::uint32_t gpus);

}  // namespace softgpu::thunk
