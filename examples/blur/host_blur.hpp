// The blur as a loop over all cores of the host.
#pragma once

#include "image.hpp"

#include <cstdint>

/// Blurs `image` `passes` times, at least once.
[[nodiscard]] Image blur_on_host(const Image& image, std::uint32_t passes);
