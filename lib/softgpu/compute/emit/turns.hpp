// Loops give way: wavefronts share threads, and a wavefront that never ends its turn would stop all others.
//
// Whatever a loop does, another wavefront may have to run before the loop can end: a load without any hint may poll
// memory. So every branch back counts down, and after every so many the wavefront looks whether its turn is over.
#pragma once

#include "softgpu/compute/emit/emitter.hpp"

namespace softgpu::compute {

/// Before a branch that may close a loop.
void count_loop(Emitter& e);

}  // namespace softgpu::compute
