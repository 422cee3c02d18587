# A machine with what the library alone needs: with the other parts off the library is configured without the tools, and
# the summary says what brings them.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)

file(REMOVE_RECURSE ${FOLDER})
set(arguments -S ${PROJECT} -B ${FOLDER} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -DFASTDISPATCH_BUILD_SOFTGPU=OFF -DFASTDISPATCH_BUILD_EXAMPLES=OFF
    -DFASTDISPATCH_BUILD_TESTS=OFF -DFASTDISPATCH_BUILD_BENCHMARKS=OFF)
run_cmake(${arguments})
expect_equal("The exit code without CLI11" ${status} 0)
expect_match("The summary without CLI11" "${output}" "built +library[ \n].*left out +tools: CLI11 was not found: it comes with ")

run_cmake(${arguments} -DFASTDISPATCH_BUILD_TOOLS=ON)
expect_equal("The exit code when the tools are asked for" ${status} 1)
expect_match("The error when the tools are asked for" "${output}"
             "FASTDISPATCH_BUILD_TOOLS asks for it .*CLI11 was not found: it comes with ")
