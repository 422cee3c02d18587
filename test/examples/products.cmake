# matmul and atomic_count.

# expect_program(program test STATUS PATTERN argument...): see the script `expect`.
function(expect_program program test status pattern)
  add_test(NAME "${program} ${test}"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/expect ${status} ${pattern} $<TARGET_FILE:${program}> ${ARGN})
endfunction()

# Every variant's verdict is the program's own: a wrong result is an exit code of 1.
expect_program(matmul "multiplies squares of 256 by default" 0 "^256 x 256 times 256 x 256")
expect_program(matmul "multiplies single elements" 0 "blocks of 64 .* correct$" --size 1)
foreach(size 7 17 61 67)
  expect_program(matmul "multiplies squares of ${size}, with no multiple of a tile" 0 "blocks of 64 .* correct$" --size ${size})
endforeach()
expect_program(matmul "multiplies a row by a column" 0 "correct$" --rows 1 --columns 1 --inner 1000)
expect_program(matmul "multiplies a column by a row" 0 "correct$" --rows 100 --columns 37 --inner 1)
expect_program(matmul "multiplies matrices of three different sides" 0 "^65 x 129 times 129 x 31" --rows 65 --columns 31 --inner 129)
expect_program(matmul "multiplies longer sums than its tiles count" 0 "correct$" --rows 3 --columns 2 --inner 100003)
expect_program(matmul "sweeps over sizes" 0 "^100: tiles of 16 " --sweep --size 100 --iterations 1)
# 128 x 128 x 128 untiled: 2 * 128^3 loads and 128^2 stores of 4 bytes; in blocks of 64 two of them in a row.
expect_program(matmul "counts the bytes that the untiled product moves" 0 "^untiled .* 16[.]84 +0[.]25 " --size 128 --iterations 1)
expect_program(matmul "counts the bytes that a product in blocks moves" 0 "^blocks of 64 .* 0[.]33 +12[.]80 " --size 128 --iterations 1)
expect_program(matmul "compares with the host in tiles" 0 "^CPU in tiles, .* correct$" --rows 70 --inner 65 --columns 600)
expect_program(matmul "knows the bound of each intensity" 0 "^tiles of 32 .* [0-9.]+ % +correct$" --size 64)
expect_program(matmul "explains its options" 0 "--inner" --help)
add_test(NAME "matmul draws its roofline"
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/draws ${folder}/roofline.svg "tiles of 16"
                 $<TARGET_FILE:matmul> --sweep --size 128 --iterations 1)

expect_program(matmul "refuses a size of zero" 2 "^matmul: --size: .*not in range" --size 0)
expect_program(matmul "refuses a negative size" 2 "^matmul: .*--rows" --rows -3)
expect_program(matmul "refuses a size that is no number" 2 "^matmul: .*--inner" --inner many)
expect_program(matmul "refuses sums that are not exact" 2 "^matmul: --inner: .*not in range" --inner 1048577)
expect_program(matmul "refuses to sweep over sides" 2 "^matmul: .*excludes" --sweep --rows 4)
expect_program(matmul "tells a size beyond memory" 1 "^matmul: .*MiB of memory" --size 1048576)
expect_program(matmul "tells matrices beyond the GPU's memory" 1 "^matmul: .*memory" --rows 1 --inner 1000000 --columns 40)
set_tests_properties("matmul tells matrices beyond the GPU's memory" PROPERTIES
                     ENVIRONMENT "FASTDISPATCH_DEVICE=softgpu;SOFTGPU_MEMORY=128M")
expect_program(matmul "tells that there is no such GPU" 1 "^matmul: .*GPU" --device 99)
expect_program(matmul "tells that the JSON cannot be written" 1 "^matmul: .*No such file" --json ${folder}/no/folder)

expect_program(atomic_count "counts 100000 work-items by default" 0 "^100000 work-items increment 10 counters")
expect_program(atomic_count "loses increments without atomics" 0 "^no atomics .* wrong, as expected: .* instead of 10000$")
expect_program(atomic_count "loses none in LDS" 0 "^[+] copies in LDS: 32 .* 100000 +correct: 10000 in each counter$")
foreach(variant "[+] system scope" "[+] together in a wavefront" "a wavefront's own, wavefront scope"
                "a group's own, group scope")
  expect_program(atomic_count "counts ${variant}" 0 "^${variant} .* correct: 1538 to 1539 in each counter$"
                 --work-items 100003 --bins 65 --iterations 3)
endforeach()
expect_program(atomic_count "has counters of its own for one group of many counters" 0
               "^a group's own, group scope .* correct: 0 to 1 in" --work-items 1000 --bins 2500000
               --iterations 1)
expect_program(atomic_count "counts a single work-item" 0 "^no atomics .* correct: 0 to 1 in" --work-items 1)
expect_program(atomic_count "counts a number of work-items that is prime" 0 "correct: 14286 to 14287 in" --work-items 100003 --bins 7)
expect_program(atomic_count "counts in a single counter" 0 "^[+] copies in LDS: 32 .* correct: 65537 in" --work-items 65537 --bins 1)
expect_program(atomic_count "counts with more counters than LDS has banks" 0 "^[+] copies in LDS: 8 .* correct" --bins 1000)
expect_program(atomic_count "counts in parts what LDS cannot hold" 0 "^[+] copies in LDS: 1 .* correct: 0 to 1 in" --bins 200003)
expect_program(atomic_count "explains its options" 0 "--bins" --help)
add_test(NAME "atomic_count draws its times"
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/draws ${folder}/atomic_count.svg "atomics in memory"
                 $<TARGET_FILE:atomic_count> --work-items 5000)

expect_program(atomic_count "refuses zero work-items" 2 "^atomic_count: --work-items: .*not in range" --work-items 0)
expect_program(atomic_count "refuses a negative number of counters" 2 "^atomic_count: .*--bins" --bins -1)
expect_program(atomic_count "refuses more counters than it has windows for" 2 "^atomic_count: --bins: .*not in range" --bins 16777217)

add_executable(exact_product_test exact_product_test.cpp ${PROJECT_SOURCE_DIR}/examples/matmul/exact_product.cpp)
target_include_directories(exact_product_test PRIVATE ${PROJECT_SOURCE_DIR}/examples/matmul)
target_link_libraries(exact_product_test PRIVATE GTest::gtest_main fastdispatch_build_options)
gtest_discover_tests(exact_product_test TEST_PREFIX matmul. DISCOVERY_TIMEOUT 60)
