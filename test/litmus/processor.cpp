#include "processor.hpp"

#include <vector>

#include <pthread.h>
#include <sched.h>

namespace softgpu::litmus {
namespace {

std::vector<int> usable_processors() {
  std::vector<int> result;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return result;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &set)) result.push_back(processor);
  return result;
}

}  // namespace

void stay_on_processor(unsigned number) {
  static const std::vector<int> processors = usable_processors();
  if (processors.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processors[number % processors.size()], &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace softgpu::litmus
