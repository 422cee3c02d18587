# Puts together the three files of the guide's PAGE, as a reader does, builds them against the package in PREFIX, and runs
# their test.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_CURRENT_LIST_DIR}/../guide/write_first_program ${PAGE} ${FOLDER}/source)
set(build ${FOLDER}/build)
run(${CMAKE_COMMAND} -S ${FOLDER}/source -B ${build} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${PREFIX}
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS} -Wall -Wextra -Wpedantic -Werror")
run(${CMAKE_COMMAND} --build ${build})
run(${build}/saxpy)
if(NOT output STREQUAL "y[0] is 10\n")
  message(FATAL_ERROR "the program printed: ${output}")
endif()
run(ctest --test-dir ${build} --output-on-failure --no-tests=error)
