# Each test is for one device, or for no GPU: its label says so. (Tests under another ROCr have a label of their own.)
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)

function(expect_no_test why)
  execute_process(COMMAND ${CTEST} --test-dir ${BUILD} -N ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT output MATCHES "Total Tests: 0\n")
    message(SEND_ERROR "${why}:\n${output}")
  endif()
endfunction()

expect_no_test("tests without a label" -LE "^(host|softgpu|hardware|rocr)$")
expect_no_test("tests for the soft GPU and for hardware" -L "^softgpu$" -L "^hardware$")
expect_no_test("tests for the soft GPU and for no GPU" -L "^softgpu$" -L "^host$")
expect_no_test("tests for hardware and for no GPU" -L "^hardware$" -L "^host$")
