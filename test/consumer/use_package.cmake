# Installs the package into FOLDER, and builds and runs the README's example against it.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${FOLDER})
file(COPY ${PROJECT}/ DESTINATION ${FOLDER}/source)
write_example(${README} ${FOLDER}/source)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix)
run(${CMAKE_COMMAND} -S ${FOLDER}/source -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${FOLDER}/prefix
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS} -Wall -Wextra -Werror")
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
expect_sorted(${FOLDER}/build/example ${FOLDER}/prefix/${LIBRARIES}/fastdispatch/kernels/bitonic_sort.hsaco)
