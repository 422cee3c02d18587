// Which cores threads run on: the measured thread on one by itself, the device's on the others, as on a machine with a
// GPU. Otherwise a packet's way between two cores' caches would be counted or not as the scheduler likes.
#pragma once

/// The threads that the calling thread starts from now on run on all cores but the first; none are kept off where there
/// is only one.
void start_threads_on_other_cores();
/// The calling thread runs on the first core.
void stay_on_first_core();
