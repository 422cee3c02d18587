// Standard output that takes nothing, such as a full disk, is an error of the program.
#pragma once

/// Throws std::runtime_error where standard output is closed: the first file that is opened would take its place.
void require_standard_output();

/// Throws std::runtime_error where something that was printed could not be written.
void flush_standard_output();

/// For a program that does not use run_program: to be called first in main. Where standard output is closed, and at the
/// program's exit where something that was printed could not be written, it prints one line that begins with `program`,
/// and the exit code is 1.
void guard_standard_output(const char* program);
