# A machine with an AMD GPU and without LLVM, as AMD's packages leave it: examples, tests and benchmarks are configured,
# and the tests are those on the GPU and those that need none.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)

file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/machine/sys/class/kfd/kfd/topology/nodes/1/properties "simd_count 4\ngfx_target_version 90010\n")
run_cmake(-S ${PROJECT} -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DFASTDISPATCH_LLVM_DIR=/nowhere
          -DFASTDISPATCH_GPU_TARGETS=gfx90a -DFASTDISPATCH_SYSTEM_ROOT=${FOLDER}/machine)
expect_equal("The exit code" ${status} 0)
expect_match("The summary" "${output}" "in here +gfx90a .*built +library, examples, tools, tests, benchmarks .*left out +soft GPU: LLVM ")

function(list_tests label)
  execute_process(COMMAND ${CTEST} --test-dir ${FOLDER}/build -N -L ^${label}$ OUTPUT_VARIABLE output)
  set(output "${output}" PARENT_SCOPE)
endfunction()
list_tests(hardware)
expect_match("The list of tests on hardware" "${output}" "hardware: bitonic_sort sorts .*hardware: HIP client memory")
list_tests(host)
expect_match("The list of tests without a GPU" "${output}" "The presets work")
list_tests(softgpu)
expect_match("The list of tests on the soft GPU" "${output}" "Total Tests: 0")

# Each test on hardware asks for the GPU, and has it alone.
execute_process(COMMAND ${CTEST} --test-dir ${FOLDER}/build -L ^hardware$ --show-only=json-v1 OUTPUT_VARIABLE output)
string(JSON count LENGTH "${output}" tests)
math(EXPR last "${count} - 1")
foreach(number RANGE ${last})
  string(JSON name GET "${output}" tests ${number} name)
  string(JSON properties GET "${output}" tests ${number} properties)
  if(name MATCHES "NOT_BUILT$")  # what stands for the tests of a program that is not built
    continue()
  endif()
  expect_match("What is set for '${name}'" "${properties}" "FASTDISPATCH_DEVICE=amd")
  expect_match("What is set for '${name}'" "${properties}" "RESOURCE_LOCK\" *, *\"value\" *: *\\[ *\"gpu\"")
endforeach()
