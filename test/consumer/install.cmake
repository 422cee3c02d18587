# Installs the build in PREFIX, and each component in a folder of its own beside it, where it must be alone.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

function(expect_files component)
  file(REMOVE_RECURSE ${PREFIX}-${component})
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}-${component} --component ${component})
  file(GLOB_RECURSE files RELATIVE ${PREFIX}-${component} ${PREFIX}-${component}/*)
  foreach(pattern IN LISTS ARGN)
    set(matching ${files})
    list(FILTER matching INCLUDE REGEX ${pattern})
    if(NOT matching)
      message(FATAL_ERROR "the component ${component} has nothing that matches ${pattern}: ${files}")
    endif()
    list(FILTER files EXCLUDE REGEX ${pattern})
  endforeach()
  if(files)
    message(FATAL_ERROR "the component ${component} has more than it should: ${files}")
  endif()
endfunction()

file(REMOVE_RECURSE ${PREFIX})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX})
expect_files(library "/libfastdispatch\\.so\\.[0-9.]+$")
expect_files(dev "^include/fastdispatch/.*\\.hpp$" "/libfastdispatch\\.so$" "/libfastdispatch\\.a$"
             "/cmake/fastdispatch/" "/pkgconfig/fastdispatch\\.pc$")
expect_files(softgpu "^bin/softgpu-run$" "/softgpu/libhsakmt\\.so\\.1$"
             "/softgpu/libsoftgpu_driver_files\\.so$" "/softgpu/tools/lsmod$" "/man1/softgpu-run\\.1\\.gz$")
expect_files(tools "^bin/fastdispatch-(info|run|objdump)$" "/man1/fastdispatch-(info|run|objdump)\\.1\\.gz$")
expect_files(examples "/fastdispatch/kernels/[a-z_]+\\.hsaco$")
