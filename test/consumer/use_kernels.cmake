# Builds a project with a kernel of its own against the package in PREFIX, and runs it; again after a change of a header
# that the kernel includes.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

function(expect_output expected)
  run(${CMAKE_COMMAND} --build ${FOLDER}/build)
  run(${FOLDER}/build/saxpy)
  if(NOT output STREQUAL "${expected}\n")
    message(FATAL_ERROR "${expected} was expected, the program printed: ${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(COPY ${PROJECT}/ DESTINATION ${FOLDER}/source)
run(${CMAKE_COMMAND} -S ${FOLDER}/source -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${PREFIX}
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_UNITY_BUILD=ON)
expect_output(10)
file(WRITE ${FOLDER}/source/factor.hpp "constexpr float factor = 3;\n")
expect_output(13)

run(${CMAKE_COMMAND} --install ${FOLDER}/build --prefix ${FOLDER}/prefix)
if(NOT EXISTS ${FOLDER}/prefix/share/saxpy/saxpy.hsaco)
  message(FATAL_ERROR "saxpy.hsaco was not installed")
endif()
