# Builds the README's example with the library's sources in its own project, where nothing is to be found that the
# library alone does not need, and runs it on the soft GPU of this build.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${FOLDER})
file(COPY ${PROJECT}/ DESTINATION ${FOLDER}/source)
write_example(${README} ${FOLDER}/source)
set(hidden)
foreach(package LLVM CLI11 nlohmann_json GTest benchmark hip OpenCL)
  list(APPEND hidden -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
run(${CMAKE_COMMAND} -S ${FOLDER}/source -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Debug
    -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_UNITY_BUILD=ON -DHOW=${HOW} -DSTANDARD=${STANDARD} -DCMAKE_CXX_STANDARD=${STANDARD}
    -DFASTDISPATCH_SOURCE=${SOURCE} -DCMAKE_CXX_COMPILER=${COMPILER} -DFASTDISPATCH_HIPCC=FASTDISPATCH_HIPCC-NOTFOUND
    -DFASTDISPATCH_STB_DIRECTORY=FASTDISPATCH_STB_DIRECTORY-NOTFOUND ${hidden})
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
if(NOT EXISTS ${FOLDER}/build/libraries/libfastdispatch.so)
  message(FATAL_ERROR "libfastdispatch.so is not in the output folder of the project that takes it in")
endif()
expect_sorted(${CMAKE_COMMAND} -E env FASTDISPATCH_SOFTGPU=${SOFTGPU} ${FOLDER}/build/example ${KERNELS})
