# Builds and runs the README's example against the package in PREFIX, with the shared and with the static library.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${FOLDER})
file(COPY ${PROJECT}/ DESTINATION ${FOLDER}/source)
write_example(${README} ${FOLDER}/source)
set(kernels ${PREFIX}/${LIBRARIES}/fastdispatch/kernels/bitonic_sort.hsaco)

function(build_and_run compiler standard)
  get_filename_component(name ${compiler} NAME)
  set(build ${FOLDER}/${name}_${standard})
  run(${CMAKE_COMMAND} -S ${FOLDER}/source -B ${build} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${PREFIX}
      -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_CXX_STANDARD=${standard}
      "-DCMAKE_CXX_FLAGS=${FLAGS} -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror")
  run(${CMAKE_COMMAND} --build ${build})
  expect_sorted(${build}/example ${kernels})
  # Without the shared library beside it, the program says itself where the soft GPU is.
  expect_sorted(${CMAKE_COMMAND} -E env FASTDISPATCH_SOFTGPU=${PREFIX}/${LIBRARIES}/softgpu/libhsakmt.so.1
                ${build}/example_static ${kernels})
endfunction()
for_each_compiler_and_standard(build_and_run)
