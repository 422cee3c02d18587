// What libfastdispatch.so exports; everything else stays hidden.
#pragma once

#define FASTDISPATCH_EXPORT __attribute__((visibility("default")))
