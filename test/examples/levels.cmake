# memory_levels.
foreach(level "registers, 64 bytes" "LDS, 8 KiB" "scalar cache, 8 KiB" "L1 cache, 8 KiB" "L2 cache, 512 KiB"
              "device memory, 2 MiB" "host memory, 2 MiB")
  expect_program(memory_levels "reads from the ${level}" 0 "^${level} .* correct$" --reads 3 --memory 2 --iterations 1)
endforeach()
expect_program(memory_levels "reads 1024 MiB by default" 0 "^1024 MiB read from each level" --iterations 1)
expect_program(memory_levels "compares with the device's memory" 0 "^device memory, 1 MiB .* 1[.]00x +correct$"
               --reads 1 --memory 1)
expect_program(memory_levels "explains its options" 0 "--memory" --help)
if(FASTDISPATCH_GNUPLOT)
  add_test(NAME "memory_levels draws its rates"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/draws ${folder}/memory_levels.svg "scalar cache, 8 KiB"
                   $<TARGET_FILE:memory_levels> --reads 1 --memory 1 --iterations 1)
endif()
expect_program(memory_levels "refuses to read nothing" 2 "^memory_levels: --reads: .*not in range" --reads 0)
expect_program(memory_levels "refuses a memory that is no power of two" 2 "^memory_levels: --memory: 3 is no power of two"
               --memory 3)
expect_program(memory_levels "tells that the GPU's memory does not suffice" 1 "^memory_levels: .*memory" --memory 128)
set_tests_properties("memory_levels tells that the GPU's memory does not suffice" PROPERTIES
                     ENVIRONMENT "FASTDISPATCH_DEVICE=softgpu;SOFTGPU_MEMORY=64M")
expect_program(memory_levels "tells that there is no such GPU" 1 "^memory_levels: .*GPU" --device 99)
expect_program(memory_levels "tells that the JSON cannot be written" 1 "^memory_levels: .*No such file"
               --json ${folder}/no/folder)
