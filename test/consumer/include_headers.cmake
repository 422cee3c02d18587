# Compiles each public header by itself as a user's own code, with every compiler and language standard that users have
# and the warnings that they may ask for.
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
endforeach()
foreach(compiler ${COMPILER} ${CLANG})
  foreach(standard c++20 c++2b)
    run(${compiler} -std=${standard} -fsyntax-only -I${PREFIX}/include
        -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror ${sources})
  endforeach()
endforeach()
