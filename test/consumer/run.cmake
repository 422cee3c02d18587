# What the tests do: run a command, or stop with what it wrote; take the first C++ block of the README as example.cpp; go
# through the compilers and standards that users have.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(NOTICE "${output}")  # as it is: an error's text would be wrapped
    message(FATAL_ERROR "exit code ${status}: ${ARGN}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(write_example readme folder)
  file(READ ${readme} text)
  if(NOT text MATCHES "\n```cpp\n([^`]+)```\n")
    message(FATAL_ERROR "${readme} has no C++ block")
  endif()
  file(WRITE ${folder}/example.cpp "${CMAKE_MATCH_1}")
endfunction()

# Calls `function_name COMPILER STANDARD` for the compiler of the build and for Clang, if it is there, with C++20 and C++23.
function(for_each_compiler_and_standard function_name)
  foreach(compiler ${COMPILER} ${CLANG})
    foreach(standard 20 23)
      cmake_language(CALL ${function_name} ${compiler} ${standard})
    endforeach()
  endforeach()
endfunction()

function(expect_sorted)
  run(${ARGN})
  if(NOT output STREQUAL "sorted\n")
    message(FATAL_ERROR "the example printed: ${output}")
  endif()
endfunction()
