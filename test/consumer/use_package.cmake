# Builds and runs the README's example against the package in PREFIX, with the shared and with the static library.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${FOLDER})
file(COPY ${PROJECT}/ DESTINATION ${FOLDER}/source)
write_example(${README} ${FOLDER}/source)
run(${CMAKE_COMMAND} -S ${FOLDER}/source -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${PREFIX}
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS} -Wall -Wextra -Werror")
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
set(kernels ${PREFIX}/${LIBRARIES}/fastdispatch/kernels/bitonic_sort.hsaco)
expect_sorted(${FOLDER}/build/example ${kernels})
# Without the shared library beside it, the program says itself where the soft GPU is.
expect_sorted(${CMAKE_COMMAND} -E env FASTDISPATCH_SOFTGPU=${PREFIX}/${LIBRARIES}/softgpu/libhsakmt.so.1
              ${FOLDER}/build/example_static ${kernels})
