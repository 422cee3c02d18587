// All of the library.
#pragma once

#include "fastdispatch/agent.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/grid.hpp"
#include "fastdispatch/kernarg.hpp"
#include "fastdispatch/packets.hpp"
#include "fastdispatch/queue.hpp"
#include "fastdispatch/runtime.hpp"
#include "fastdispatch/signal.hpp"
#include "fastdispatch/submission.hpp"
#include "fastdispatch/wait.hpp"
