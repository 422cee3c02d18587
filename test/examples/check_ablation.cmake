# Runs `PROGRAM --ablation --json` and checks what the JSON says: every row there, in the article's order, and sorted.
set(json_file ${FOLDER}/ablation.json)
file(REMOVE ${json_file})
execute_process(COMMAND ${PROGRAM} --ablation --iterations 3 --length 4000 --json ${json_file}
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "exit code ${status}\n${output}\n${errors}")
endif()
file(READ ${json_file} json)

function(expect_equal actual expected what)
  if(NOT "${actual}" STREQUAL "${expected}")
    message(FATAL_ERROR "${what} is ${actual}, not ${expected}\n${json}")
  endif()
endfunction()

string(JSON problem GET "${json}" problem)
# A network for 4096 values has 12 * 13 / 2 passes.
expect_equal(${problem} "4000 unsigned integers, 78 kernels, both copies" "the problem")

set(names "allocating for each kernel" "pooled signal and kernarg" "baseline" "+ preallocated signal"
          "+ preallocated kernarg" "+ no host synchronization" "+ minimal fences" "+ pinned host memory" "+ replay" "+ derived fences")
string(JSON row_count LENGTH "${json}" rows)
expect_equal(${row_count} 10 "the number of rows")
foreach(row RANGE 9)
  list(GET names ${row} expected_name)
  string(JSON name GET "${json}" rows ${row} name)
  expect_equal("${name}" "${expected_name}" "the name of row ${row}")
  string(JSON correct GET "${json}" rows ${row} correct)
  expect_equal(${correct} ON "the result of ${name}")
  string(JSON microseconds GET "${json}" rows ${row} microseconds)
  if(NOT microseconds GREATER 0)
    message(FATAL_ERROR "${name} took ${microseconds} us\n${json}")
  endif()
  string(FIND "${output}" "${name}" position)
  if(position LESS 0)
    message(FATAL_ERROR "the table has no row ${name}\n${output}")
  endif()
endforeach()
