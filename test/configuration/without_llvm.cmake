# A machine without LLVM: by default everything else is configured, and the summary says what brings the soft GPU.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)

file(REMOVE_RECURSE ${FOLDER})
set(arguments -S ${PROJECT} -B ${FOLDER} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DFASTDISPATCH_LLVM_DIR=/nowhere -DFASTDISPATCH_BUILD_EXAMPLES=OFF -DFASTDISPATCH_BUILD_TESTS=OFF
    -DFASTDISPATCH_BUILD_BENCHMARKS=OFF)
run_cmake(${arguments})
expect_equal("The exit code without LLVM" ${status} 0)
expect_match("The summary without LLVM" "${output}" "built +library, tools .*left out +soft GPU: LLVM 15 to [0-9]+ .*was not found: it comes with ")
if(output MATCHES "built [^\n]*soft GPU")
  message(SEND_ERROR "the soft GPU is built without LLVM:\n${output}")
endif()

run_cmake(${arguments} -DFASTDISPATCH_BUILD_SOFTGPU=ON)
expect_equal("The exit code when the soft GPU is asked for" ${status} 1)
expect_match("The error when the soft GPU is asked for" "${output}"
             "FASTDISPATCH_BUILD_SOFTGPU asks for it .*LLVM 15 to [0-9]+ .*was not found: it comes with ")
