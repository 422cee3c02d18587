// Which sanitizer this source is compiled for: GCC and Clang tell it in different ways.
#pragma once

#if defined(__has_feature)
#define SOFTGPU_HAS_FEATURE(name) __has_feature(name)
#else
#define SOFTGPU_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SOFTGPU_HAS_FEATURE(address_sanitizer)
#define SOFTGPU_ADDRESS_SANITIZER 1
#else
#define SOFTGPU_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || SOFTGPU_HAS_FEATURE(thread_sanitizer)
#define SOFTGPU_THREAD_SANITIZER 1
#else
#define SOFTGPU_THREAD_SANITIZER 0
#endif
