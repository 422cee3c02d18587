// The process's handlers of SIGSEGV and SIGBUS: the soft GPU's stands in front of the program's own, whichever came
// first.
#pragma once

#include <csignal>

namespace softgpu::compute {

using FaultHandler = void (*)(int signal, siginfo_t* info, void* context);

/// Makes `handler` the process's, and remembers the one that it takes the place of: if the program has installed one
/// since the last call, then that one. Costs two system calls. `handler` is always the same function.
///
/// Thread safety: may be called from any thread.
void put_in_front(FaultHandler handler) noexcept;

/// Hands a signal on to the handler that was installed before; to be called by `handler` with its own arguments. A
/// handler of the program's may hand on what it does not want to the handler before, which is `handler` again: then it
/// is the turn of the next one. At last comes the default action.
///
/// Thread safety: for signal handlers.
void hand_on(int signal, siginfo_t* info, void* context);

}  // namespace softgpu::compute
