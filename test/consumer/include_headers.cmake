# Compiles the public headers as a user's own code with every compiler that users have and the warnings that they may ask
# for: as C++20 each by itself, as C++23 all together.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(GLOB headers RELATIVE ${PREFIX}/include ${PREFIX}/include/fastdispatch/*.hpp)
if(NOT headers)
  message(FATAL_ERROR "${PREFIX}/include/fastdispatch has no headers")
endif()
file(MAKE_DIRECTORY ${FOLDER})
foreach(header IN LISTS headers)
  string(MAKE_C_IDENTIFIER ${header} name)
  file(WRITE ${FOLDER}/${name}.cpp "#include <${header}>\n")
  list(APPEND sources ${FOLDER}/${name}.cpp)
  string(APPEND all "#include <${header}>\n")
endforeach()
file(WRITE ${FOLDER}/all_headers.cpp "${all}")

# compile COMPILER STANDARD SOURCE...
function(compile compiler standard)
  run(${compiler} -std=${standard} -fsyntax-only -I${PREFIX}/include
      -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror ${ARGN})
endfunction()
foreach(compiler ${COMPILER} ${CLANG})
  compile(${compiler} c++20 ${sources})
  compile(${compiler} c++2b ${FOLDER}/all_headers.cpp)
endforeach()
