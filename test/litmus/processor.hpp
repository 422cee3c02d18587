// Where threads run: threads that share a processor do not overlap.
#pragma once

namespace softgpu::litmus {

/// Keeps the calling thread on one of the processors that the process may use: the number-th one, in turn.
void stay_on_processor(unsigned number);

}  // namespace softgpu::litmus
