#pragma once

constexpr float factor = 2;
