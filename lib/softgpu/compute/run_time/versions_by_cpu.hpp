// Functions on vectors that are longer than each x86 CPU has: one version for each kind of CPU, chosen when the library
// is loaded. Sanitizers do not know the choice, which happens before they begin; Clang makes one version.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&               \
    !defined(__SANITIZE_THREAD__)
#define SOFTGPU_VERSIONS_BY_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SOFTGPU_VERSIONS_BY_CPU
#endif
