# Moves a copy of the package in PREFIX, finds it by pkg-config, and builds and runs the README's example.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
file(COPY ${PREFIX}/ DESTINATION ${FOLDER}/moved)
write_example(${README} ${FOLDER})
set(libraries ${FOLDER}/moved/${LIBRARIES})
run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${libraries}/pkgconfig pkg-config --cflags --libs fastdispatch)
separate_arguments(flags UNIX_COMMAND "${output}")
separate_arguments(more_flags UNIX_COMMAND "${FLAGS}")

function(build_and_run compiler standard)
  string(REPLACE 23 2b standard ${standard})  # as compilers call it that are older than the standard
  run(${compiler} -std=c++${standard} ${more_flags} ${FOLDER}/example.cpp -o ${FOLDER}/example ${flags}
      -Wl,-rpath,${libraries})
  expect_sorted(${FOLDER}/example ${libraries}/fastdispatch/kernels/bitonic_sort.hsaco)
endfunction()
for_each_compiler_and_standard(build_and_run)
