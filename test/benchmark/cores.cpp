#include "cores.hpp"

#include <sched.h>

namespace {

// The cores that the process was allowed to use when it began.
const cpu_set_t& allowed() {
  static const cpu_set_t at_start = [] {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    ::sched_getaffinity(0, sizeof(cores), &cores);
    return cores;
  }();
  return at_start;
}

int first() {
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed())) return core;
  return 0;
}

}  // namespace

void start_threads_on_other_cores() {
  cpu_set_t others = allowed();
  if (CPU_COUNT(&others) < 2) return;
  CPU_CLR(first(), &others);
  ::sched_setaffinity(0, sizeof(others), &others);
}

void stay_on_first_core() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first(), &one);
  ::sched_setaffinity(0, sizeof(one), &one);
}
