# What the shared libraries give to the loader: of libfastdispatch.so the API alone, of the soft GPU the thunk's functions
# alone, of the library beside it those that the wrapped program and libfastdispatch ask for.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

function(expect_symbols library pattern needed)
  run(${NM} -D --defined-only -C ${library})
  string(REGEX MATCH "[^\n]*${needed}" found "${output}")
  if(NOT found)
    message(FATAL_ERROR "${library} does not export ${needed}")
  endif()
  string(REGEX REPLACE "[0-9a-f]+ [A-Za-z] ${pattern}[^\n]*\n" "" others "${output}")
  if(others)
    message(FATAL_ERROR "${library} exports more than its API:\n${others}")
  endif()
endfunction()

expect_symbols(${FASTDISPATCH}
               "(((typeinfo|typeinfo name|vtable) for|(non-virtual|virtual) thunk to) )?fastdispatch::"
               "fastdispatch::Queue::submit\\(fastdispatch::Batch const&\\)")
expect_symbols(${SOFTGPU} "(hsaKmt|HSAKMT_1|amdgpu_[a-z_]*@|drmCommandWriteRead@|softgpu_[a-z_]*@)" "hsaKmtOpenKFD")
expect_symbols(${DRIVER_FILES} "(f?open(64)?|hsa_init|softgpu_run_mark)" "open64")
