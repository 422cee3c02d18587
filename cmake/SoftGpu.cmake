# What the soft GPU is built with, and nothing else of the project: LLVM, the headers of libhsakmt and
# libdrm. Looks for each, and adds to FASTDISPATCH_SOFTGPU_MISSING what to say of those that are not there.
set(FASTDISPATCH_SOFTGPU_MISSING)
include(${CMAKE_CURRENT_LIST_DIR}/ChooseLlvm.cmake)

set(FASTDISPATCH_LLVM_DIR "" CACHE PATH "The LLVM for the soft GPU, such as /usr/lib/llvm-15")
fastdispatch_find_hip_compiler(fastdispatch_no_hip_compiler)
set(fastdispatch_compiler_version)
if(NOT fastdispatch_no_hip_compiler)
  fastdispatch_clang_of_hipcc(fastdispatch_clang fastdispatch_compiler)
  if(fastdispatch_compiler MATCHES "version ([0-9]+)")
    set(fastdispatch_compiler_version ${CMAKE_MATCH_1})
  endif()
endif()
fastdispatch_choose_llvm(fastdispatch_llvm fastdispatch_refusals)
set(LLVM_FOUND FALSE)
if(fastdispatch_llvm)
  set(LLVM_DIR ${fastdispatch_llvm} CACHE PATH "The folder of the LLVMConfig.cmake that the soft GPU is built with" FORCE)
  find_package(LLVM QUIET CONFIG PATHS ${fastdispatch_llvm} NO_DEFAULT_PATH)
endif()
if(NOT LLVM_FOUND)
  fastdispatch_package(llvm-15-dev fastdispatch_words)
  list(JOIN fastdispatch_refusals ", " fastdispatch_refusals)
  if(fastdispatch_refusals)
    string(APPEND fastdispatch_words " (${fastdispatch_refusals})")
  endif()
  list(APPEND FASTDISPATCH_SOFTGPU_MISSING
       "LLVM ${fastdispatch_llvm_first} to ${fastdispatch_llvm_last} with the AMDGPU target and libLLVM.so was not found: \
it comes with ${fastdispatch_words}")
endif()

find_path(FASTDISPATCH_HSAKMT_INCLUDE_DIR hsakmt.h PATHS ${FASTDISPATCH_ROCM}/include PATH_SUFFIXES hsakmt
          DOC "Where hsakmt.h is, the header of ROCr's thunk")
if(NOT FASTDISPATCH_HSAKMT_INCLUDE_DIR)
  fastdispatch_package(libhsakmt-dev fastdispatch_words)
  list(APPEND FASTDISPATCH_SOFTGPU_MISSING "hsakmt.h was not found: it comes with ${fastdispatch_words}")
endif()

find_path(FASTDISPATCH_DRM_INCLUDE_DIR libdrm/amdgpu.h DOC "Where libdrm's headers are: the folder above libdrm")
if(NOT FASTDISPATCH_DRM_INCLUDE_DIR)
  fastdispatch_package(libdrm-dev fastdispatch_words)
  list(APPEND FASTDISPATCH_SOFTGPU_MISSING "libdrm/amdgpu.h was not found: it comes with ${fastdispatch_words}")
endif()
