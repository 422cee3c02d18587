# What the scripts share: comparisons that name both sides, and cmake runs that must succeed or fail.
cmake_minimum_required(VERSION 3.22)

function(expect_equal what actual expected)
  if(NOT "${actual}" STREQUAL "${expected}")
    message(SEND_ERROR "${what} is '${actual}' instead of '${expected}'")
  endif()
endfunction()

function(expect_match what actual pattern)
  string(REGEX REPLACE "[ \n]+" " " text "${actual}")  # messages are wrapped
  if(NOT text MATCHES "${pattern}")
    message(SEND_ERROR "${what} does not match '${pattern}':\n${actual}")
  endif()
endfunction()

# Runs cmake with the arguments; `output` is what it wrote, `status` its exit code.
macro(run_cmake)
  execute_process(COMMAND ${CMAKE_COMMAND} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
endmacro()

# write_program(file text): a shell script that may be executed.
function(write_program file text)
  file(WRITE ${file} "#!/bin/sh\n${text}\n")
  file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()
