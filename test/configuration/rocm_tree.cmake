# A ROCm as AMD installs it, in one folder and not on the PATH, made of this machine's: the library is configured with it,
# and kernels for a GPU that hipcc knows.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)

file(REMOVE_RECURSE ${FOLDER})
set(rocm ${FOLDER}/opt/rocm)
file(MAKE_DIRECTORY ${rocm}/include ${rocm}/.info)
file(CREATE_LINK ${HSA}/hsa ${rocm}/include/hsa SYMBOLIC)
file(WRITE ${rocm}/.info/version "6.2.4\n")
write_program(${rocm}/bin/hipcc "exec env -u ROCM_PATH ${HIPCC} \"$@\"")  # it has its own parts elsewhere

set(arguments -S ${PROJECT} -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DFASTDISPATCH_BUILD_SOFTGPU=OFF -DFASTDISPATCH_BUILD_TESTS=OFF -DFASTDISPATCH_BUILD_BENCHMARKS=OFF
    -DFASTDISPATCH_GPU_TARGETS=gfx90a)
run_cmake(-E env ROCM_PATH=${rocm} ${CMAKE_COMMAND} ${arguments})
expect_equal("The exit code with the environment's ROCM_PATH" ${status} 0)
expect_match("The summary" "${output}" "ROCm +${rocm} 6.2.4 \\(the environment variable ROCM_PATH\\)")
expect_match("The summary" "${output}" "HSA headers +${rocm}/include")
expect_match("The summary" "${output}" "hipcc +${rocm}/bin/hipcc, .*clang version")
expect_match("The summary" "${output}" "GPU targets +gfx90a")
expect_match("The summary" "${output}" "built +library, examples, tools .*left out +soft GPU: FASTDISPATCH_BUILD_SOFTGPU is off")

# Another ROCm in the same build folder: nothing of the first one is left.
file(COPY ${rocm} DESTINATION ${FOLDER}/other)
run_cmake(${arguments} -DROCM_PATH=${FOLDER}/other/rocm)
expect_equal("The exit code with another ROCM_PATH" ${status} 0)
expect_match("The summary" "${output}" "ROCm +${FOLDER}/other/rocm 6.2.4 \\(the CMake variable ROCM_PATH\\)")
expect_match("The summary" "${output}" "HSA headers +${FOLDER}/other/rocm/include .*hipcc +${FOLDER}/other/rocm/bin/hipcc")
