# A machine without zlib and zstd: the library is configured, and the summary says what it then lacks and what brings it.
include(${CMAKE_CURRENT_LIST_DIR}/expect.cmake)

file(REMOVE_RECURSE ${FOLDER})
run_cmake(-S ${PROJECT} -B ${FOLDER} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
          -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON -DCMAKE_DISABLE_FIND_PACKAGE_Zstd=ON -DFASTDISPATCH_BUILD_SOFTGPU=OFF
          -DFASTDISPATCH_BUILD_EXAMPLES=OFF -DFASTDISPATCH_BUILD_TOOLS=OFF -DFASTDISPATCH_BUILD_TESTS=OFF
          -DFASTDISPATCH_BUILD_BENCHMARKS=OFF)
expect_equal("The exit code without zlib and zstd" ${status} 0)
foreach(name zlib zstd)
  expect_match("The summary without ${name}" "${output}"
               "left out +reading offload bundles that ${name} compressed: ${name} was not found: it comes with ")
endforeach()
file(STRINGS ${FOLDER}/lib/dispatch/fastdispatch.pc line REGEX "^Libs.private:")
expect_equal("What the static library links" "${line}" "Libs.private: -pthread -ldl")
