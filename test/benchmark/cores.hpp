// Which cores threads run on: the measured thread on a core of its own, the device's threads on the other cores, as on
// a machine with a GPU. Otherwise the scheduler would decide whether a packet's way between two cores' caches is
// counted.
#pragma once

/// The threads that the calling thread starts from now on run on all cores but the first. If there is only one core,
/// they run on it.
void start_threads_on_other_cores();
/// The calling thread runs on the first core.
void stay_on_first_core();
