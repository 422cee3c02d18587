// The classical litmus tests, under the names that the literature gives them (Alglave, Maranget, Tautschnig: "Herding
// Cats", 2014).
#pragma once

#include <span>
#include <string_view>

#include "litmus_test.hpp"

namespace softgpu::litmus {

[[nodiscard]] std::span<const LitmusTest> classic_tests();
[[nodiscard]] const LitmusTest& classic_test(std::string_view name);

}  // namespace softgpu::litmus
