// A thread of a litmus test on the host, in plain C++ atomics: it does a wavefront's work, lane after lane.
#pragma once

#include "litmus_kernel.hpp"

namespace softgpu::litmus {

void run_host_thread(const Setup& setup, unsigned thread, const ThreadArguments& arguments);

}  // namespace softgpu::litmus
