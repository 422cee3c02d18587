# Installs the package into FOLDER, takes the first C++ block of the README as example.cpp, builds and runs it.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(NOTICE "${output}")  # as it is: an error's text would be wrapped
    message(FATAL_ERROR "exit code ${status}: ${ARGN}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(COPY ${PROJECT}/ DESTINATION ${FOLDER}/source)
file(READ ${README} readme)
if(NOT readme MATCHES "\n```cpp\n([^`]+)```\n")
  message(FATAL_ERROR "${README} has no C++ block")
endif()
file(WRITE ${FOLDER}/source/example.cpp "${CMAKE_MATCH_1}")

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix)
run(${CMAKE_COMMAND} -S ${FOLDER}/source -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${FOLDER}/prefix
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS} -Wall -Wextra -Werror")
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
run(${FOLDER}/build/example ${FOLDER}/prefix/${LIBRARIES}/fastdispatch/kernels/bitonic_sort.hsaco)
if(NOT output STREQUAL "sorted\n")
  message(FATAL_ERROR "the example printed: ${output}")
endif()
