# fibonacci and row_sum.
expect_program(fibonacci "computes 1024 numbers 1024 times by default" 0 "^1024 Fibonacci numbers, 1024 times to pinned")
expect_program(fibonacci "verifies the look-ahead" 0 "^look-ahead, 8 work-items .* correct$" --repetitions 10)
expect_program(fibonacci "writes to device memory" 0 "to device memory" --destination device --repetitions 10)
expect_program(fibonacci "times the copy from device memory" 0 "fastest +MB/s +us with copy +MB/s with copy " --destination device
               --repetitions 10)
expect_program(fibonacci "stores a block of numbers from LDS, and the rest" 0 "^through LDS .* correct$" --count 997
               --repetitions 5)
expect_program(fibonacci "copies what it computed in device memory" 0 "^in device memory, copied .* correct$" --repetitions 10)
expect_program(fibonacci "looks its coefficients up" 0 "^look-ahead by a table, 1 work-item .* correct$" --work-items 1
               --repetitions 10)
expect_program(fibonacci "looks up as many coefficients as there may be" 0
               "^look-ahead by a table, 1024 work-items .* correct$" --work-items 1024 --count 1477 --repetitions 3)
expect_program(fibonacci "computes a single number" 0 "^look-ahead, 1024 work-items .* correct$" --count 1 --repetitions 1
               --work-items 1024)
expect_program(fibonacci "computes all that a double holds, with any stride" 0 "^look-ahead, 1024 work-items .* correct$"
               --count 1477 --repetitions 3 --sweep)
expect_program(fibonacci "is exact up to F(78)" 0 "^look-ahead, 64 work-items .* 0[.]0e[+]00 +correct$" --count 79
               --repetitions 7 --sweep)
expect_program(fibonacci "computes a number of numbers that is no power of two" 0
               "^look-ahead, 16 work-items .* correct$" --count 997 --repetitions 5 --work-items 16)
expect_program(fibonacci "explains its options" 0 "--work-items" --help)
expect_program(fibonacci "refuses work-items that are no power of two" 2 "^fibonacci: --work-items: 6 is no power of two"
               --work-items 6)
expect_program(fibonacci "refuses too many work-items" 2 "^fibonacci: --work-items: .*not in range" --work-items 2048)
expect_program(fibonacci "refuses numbers that no double holds" 2 "^fibonacci: --count: .*not in range" --count 1478)
expect_program(fibonacci "refuses a negative number of repetitions" 2 "^fibonacci: --repetitions" --repetitions -1)
expect_program(fibonacci "refuses an unknown destination" 2 "^fibonacci: --destination" --destination disk)
expect_program(fibonacci "refuses a chart of no sweep" 2 "^fibonacci: --plot" --plot ${folder}/never.svg)
expect_program(fibonacci "tells a size beyond memory" 1 "^fibonacci: .*MiB of memory" --repetitions 4294967295)
expect_program(fibonacci "tells that there is no such GPU" 1 "^fibonacci: .*GPU" --device 99)
expect_program(fibonacci "tells that the JSON cannot be written" 1 "^fibonacci: .*No such file" --json ${folder}/no/folder)

foreach(row "CPU, one core" "passes through the host" "two launches through LDS" "a work-group a row"
            "a wavefront a row" "plain read, device memory" "device memory" "pinned, copied" "pinned, copied in bands"
            "pageable, copied" "pageable, locked, copied" "pinned, in place" "plain read, pinned"
            "pageable, locked, in place" "plain read, locked")
  expect_program(row_sum "has a row: ${row}" 0 "^${row} +[0-9].* correct$" --rows 33 --columns 257 --iterations 1)
endforeach()
# One or more bands, of one row or more, the last of which may be smaller; one to three passes through the host. The exit
# code tells whether all rows are right.
set(all_fences minimal derived)
if(FASTDISPATCH_SANITIZE)
  set(all_fences derived)
endif()
foreach(shape "1;1" "1;257" "257;1" "1;100003" "65521;1" "67;61" "257;1031" "5;4099" "256;256" "16;65536" "17;65537")
  list(GET shape 0 rows)
  list(GET shape 1 columns)
  foreach(fences IN LISTS all_fences)
    expect_program(row_sum "adds up ${rows} rows of ${columns} with ${fences} fences" 0 "^plain read, locked .* correct$"
                   --rows ${rows} --columns ${columns} --iterations 1 --fences ${fences})
  endforeach()
endforeach()
expect_program(row_sum "compares with a plain read" 0 "^a wavefront a row .* [0-9.]+ % .* correct$" --rows 100)
foreach(size "256 x 256" "300 x 512" "300 x 700")
  expect_program(row_sum "sweeps over sizes: ${size}" 0 "^${size}: passes through the host .* correct$"
                 --sweep --rows 300 --columns 700 --iterations 1)
endforeach()
expect_program(row_sum "sweeps over a single small size" 0 "^Sums of rows, up to 3 x 5 floats" --sweep --rows 3 --columns 5)
expect_program(row_sum "refuses to sweep over a file" 2 "^row_sum: .*excludes" --sweep --input x.npy)
expect_program(row_sum "refuses to write the sums of a sweep" 2 "^row_sum: .*excludes" --sweep --output x)
expect_program(row_sum "makes a square matrix of a number of rows" 0 "^Sums of 31 rows of 31 floats" --rows 31)
expect_program(row_sum "explains its options" 0 "--columns" --help)
expect_program(row_sum "refuses zero rows" 2 "^row_sum: --rows: .*not in range" --rows 0)
expect_program(row_sum "refuses a negative number of columns" 2 "^row_sum: --columns" --columns -4)
expect_program(row_sum "refuses a file and a size" 2 "^row_sum: .*excludes" --input x.npy --rows 3)
expect_program(row_sum "tells a size beyond memory" 1 "^row_sum: .*MiB of memory" --rows 2147483648 --columns 1024)
expect_program(row_sum "tells a size beyond all memory" 1 "^row_sum: this size is beyond any memory" --rows 2147483648
               --columns 2147483648)
expect_program(row_sum "tells that there is no such GPU" 1 "^row_sum: .*GPU" --device 99)
expect_program(row_sum "tells that the disk is full" 1 "^row_sum: .*No space left" --rows 9 --output /dev/full)

# expect_sums(test EXPECTED argument...): see the script `sums`.
function(expect_sums test expected)
  string(REPLACE "|" "\;" expected "${expected}")
  add_test(NAME "row_sum ${test}"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/sums ${expected} $<TARGET_FILE:row_sum> --iterations 1 ${ARGN})
endfunction()

# write_npy(name VERSION HEADER DATA): see the script.
function(write_npy name version header data)
  execute_process(COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/write_npy ${folder}/${name} ${version} "${header}" "${data}"
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(expect_npy_failure test name pattern)
  expect_program(row_sum "${test}" 1 "^row_sum: .*${name}, byte ${pattern}" --input ${folder}/${name})
endfunction()

# 1, 2, 3 and 0.5, 0.25, -1 as floats.
set(six_floats "\\x00\\x00\\x80\\x3f\\x00\\x00\\x00\\x40\\x00\\x00\\x40\\x40\\x00\\x00\\x00\\x3f\\x00\\x00\\x80\\x3e\\x00\\x00\\x80\\xbf")
foreach(version 1 2 3)
  write_npy(version${version}.npy ${version} "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" ${six_floats})
  expect_sums("reads version ${version} of NumPy's format" "0,6|1,-0.25|" --input ${folder}/version${version}.npy)
endforeach()
write_npy(by_columns.npy 1 "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }" ${six_floats})
expect_sums("reads a matrix that lies column after column" "0,4.25|1,1.5|" --input ${folder}/by_columns.npy)
write_npy(doubles.npy 1 "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }"
          "\\x00\\x00\\x00\\x00\\x00\\x00\\xf8\\x3f\\x00\\x00\\x00\\x00\\x00\\x00\\x50\\x40")  # 1.5, 64
expect_sums("reads doubles" "0,65.5|" --input ${folder}/doubles.npy)
write_npy(bytes.npy 1 "{\"shape\": (2, 2), \"fortran_order\": False, \"descr\": \"|i1\"}" "\\xff\\xfe\\x7f\\x01")
expect_sums("reads signed bytes" "0,-3|1,128|" --input ${folder}/bytes.npy)
write_npy(shorts.npy 1 "{'descr': '<u2', 'fortran_order': False, 'shape': (1, 2), }" "\\xff\\xff\\x01\\x00")
expect_sums("reads unsigned shorts" "0,65536|" --input ${folder}/shorts.npy)
write_npy(longs.npy 1 "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), }"
          "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x80")
expect_sums("reads 64-bit integers" "0,-9.22337204e+18|" --input ${folder}/longs.npy)

set(square "'fortran_order': False, 'shape': (2, 3), }")
write_npy(truncated.npy 1 "{'descr': '<f4', ${square}" "\\x00\\x00\\x80\\x3f\\x00\\x00")
expect_npy_failure("tells where a file ends too early" truncated.npy "134: the file ends within its elements")
write_npy(longer.npy 1 "{'descr': '<f4', ${square}" "${six_floats}\\x00")
expect_npy_failure("tells where a file goes on" longer.npy "152: the file goes on")
write_npy(big_endian.npy 1 "{'descr': '>f4', ${square}" ${six_floats})
expect_npy_failure("tells big-endian elements" big_endian.npy "20: big-endian elements")
write_npy(complex.npy 1 "{'descr': '<c8', ${square}" ${six_floats})
expect_npy_failure("tells elements that are no numbers" complex.npy "20: elements of type '<c8'")
write_npy(fields.npy 1 "{'descr': [('a', '<f4')], ${square}" ${six_floats})
expect_npy_failure("tells elements with fields" fields.npy "20: elements with several fields")
write_npy(one_dimension.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }" ${six_floats})
expect_npy_failure("tells a vector" one_dimension.npy "61: the array has 1 dimensions")
write_npy(empty_matrix.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }" "")
expect_npy_failure("tells a matrix without elements" empty_matrix.npy "61: the matrix has no elements")
write_npy(negative_shape.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }" ${six_floats})
expect_npy_failure("tells a negative size" negative_shape.npy "61: the shape has an extent that is no size")
write_npy(huge_shape.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 3), }" ${six_floats})
expect_npy_failure("tells a size that kernels do not count" huge_shape.npy "61: more than 2147483648 rows or columns")
write_npy(infinite.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }"
          "\\x00\\x00\\x80\\x3f\\x00\\x00\\x80\\x7f")
expect_npy_failure("tells an element that is not finite" infinite.npy "132: row 0, column 1 is no finite float")
write_npy(no_shape.npy 1 "{'descr': '<f4', 'fortran_order': False}" ${six_floats})
expect_npy_failure("tells a header without a shape" no_shape.npy "10: the header has no 'shape'")
write_npy(unfinished.npy 1 "{'descr': '<f4', 'shape': (2, 3" ${six_floats})
expect_npy_failure("tells a header that does not end" unfinished.npy ".*is missing")
write_npy(version9.npy 9 "{'descr': '<f4', ${square}" ${six_floats})
expect_npy_failure("tells a version that is not known" version9.npy "6: version 9")
file(WRITE ${folder}/text.npy "these are no numbers")
expect_npy_failure("tells a file of another format" text.npy "0: this is no .npy file")
file(WRITE ${folder}/short.npy "1")
expect_npy_failure("tells a file that is too short" short.npy "1: the file ends")
write_npy(too_large.npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (2147483648, 2147483648), }" "")
expect_program(row_sum "tells a file whose matrix is beyond memory" 1 "^row_sum: this size is beyond any memory"
               --input ${folder}/too_large.npy)
expect_program(row_sum "tells a missing file" 1 "^row_sum: .*nothing.npy: No such file" --input ${folder}/nothing.npy)
expect_program(row_sum "tells a name of no format" 1 "^row_sum: .*must end in .npy or .csv" --input ${folder}/nothing)

file(WRITE ${folder}/trips.csv "origin,destination,count\nLeeds,York,12\nYork,Leeds,3.5\nLeeds,York,1\nYork,York,2\n")
expect_sums("adds up trips by their origin" "\"Leeds\",13|\"York\",5.5|" --input ${folder}/trips.csv)
file(WRITE ${folder}/no_header.csv "7,8,10\r\n8,7,16777216\r\n\r\n8,9,4\r\n")
expect_sums("reads trips between numbers, without a header" "\"7\",10|\"8\",16777220|\"9\",0|"
            --input ${folder}/no_header.csv)
file(WRITE ${folder}/quoted.csv "a,b,c\n\"Leeds, West\",\"the \"\"Ridings\"\"\",\"4\"\n")
expect_sums("reads quoted names" "\"Leeds, West\",4|\"the \"\"Ridings\"\"\",0|" --input ${folder}/quoted.csv)

# A table with more columns: from York to Leeds 1 trip on foot and 2.5 by bus.
file(WRITE ${folder}/flows.csv "id,to,note,from,on foot,2011\n1,Leeds,,York,1,2.5\n2,York,x,Leeds,4,\"8\"\n")
file(WRITE ${folder}/flows_only.csv "1,Leeds,,York,1,2.5\n2,York,x,Leeds,4,8\n")
set(places --origin-column 4 --destination-column 2)
expect_sums("reads columns by their numbers" "\"York\",1|\"Leeds\",4|" --input ${folder}/flows.csv ${places}
            --count-column 5)
expect_sums("reads columns without a header" "\"York\",2.5|\"Leeds\",8|" --input ${folder}/flows_only.csv ${places}
            --count-column 6)
expect_sums("reads columns by their names" "\"York\",1|\"Leeds\",4|" --input ${folder}/flows.csv --origin-column from
            --destination-column to --count-column "on foot")
expect_sums("takes the first line for a header where a column has a name" "\"York\",2.5|\"Leeds\",8|"
            --input ${folder}/flows.csv --origin-column from --destination-column 2 --count-column 6)
expect_sums("reads three columns in an order of their own" "\"York\",15|\"Leeds\",3.5|"
            --input ${folder}/trips.csv --origin-column 2 --destination-column 1)

# expect_csv_failure(test TEXT PATTERN argument...)
function(expect_csv_failure test text pattern)
  string(MAKE_C_IDENTIFIER "${test}" name)
  file(WRITE ${folder}/${name}.csv "${text}")
  expect_program(row_sum "${test}" 1 "^row_sum: .*${name}.csv${pattern}" --input ${folder}/${name}.csv ${ARGN})
endfunction()

expect_csv_failure("tells a line with too few fields" "a,b,1\na,b\n" ", line 2: it has 2 fields. .*are 3")
expect_csv_failure("tells a line with too many fields" "a,b,1\na,b,2,3\n" ", line 2: it has 4 fields. .*--count-column")
expect_csv_failure("tells a count that is no number" "o,d,c\na,b,1\nb,c,two\n"
                   ", line 3, column 3: the count is no number: 'two'")
expect_csv_failure("takes no count for a header" "a,b,1x\n" ", line 1, column 3: the count is no number: '1x'")
expect_csv_failure("tells an empty field" "a,b,1\n,b,1\n" ", line 2, column 1: the field is empty")
expect_csv_failure("takes an empty field for no header" "a,b,\n" ", line 1, column 3: the field is empty")
expect_csv_failure("tells a quote that does not end" "a,\"b,1\n" ", line 1, column 2: a quote does not end")
expect_csv_failure("tells what follows a quote" "\"a\"x,b,1\n" ", line 1, column 1: something follows a quoted field")
expect_csv_failure("tells a count beyond a float" "a,b,1\na,b,1e39\n"
                   ", line 2, column 3: the count is more than a float holds")
expect_csv_failure("tells a count that is not finite" "a,b,nan\n" ", line 1, column 3: the count is")
expect_csv_failure("tells counts that add up to too much" "a,b,3e38\na,b,3e38\n" ": the counts from a to b add up to more")
expect_csv_failure("tells a file without trips" "origin,destination,count\n" ": it has no line")
expect_csv_failure("tells an empty file" "" ": it has no line")

expect_csv_failure("tells a number of no column" "o,d,c\na,b,1\n" ", line 1: it has 3 fields: there is no column 4"
                   --count-column 4)
expect_csv_failure("tells a name of no column" "o,d,c\na,b,1\n" ", line 1: no column is called 'origin'"
                   --origin-column origin)
expect_csv_failure("tells names where there is no header" "a,b,1\n" ", line 1: no column is called 'c'" --count-column c)
expect_csv_failure("tells a name of several columns" "o,d,c,c\na,b,1,2\n" ", line 1: several columns are called 'c'"
                   --count-column c)
expect_csv_failure("tells a column that is named twice" "o,d,c\na,b,1\n" ", line 1: .*two of these are one"
                   --destination-column c)
expect_csv_failure("tells a line with fewer fields than the first" "o,d,c,e\na,b,1,2\na,b,1\n"
                   ", line 3: it has 3 fields, and the first line has 4" --count-column 3)
expect_csv_failure("tells which chosen count is no number" "a,x,b,1,2\na,x,b,1,-\n"
                   ", line 2, column 5: the count is no number: '-'" --destination-column 3 --count-column 5)
foreach(column 0 "''" 99999999999999999999)
  add_test(NAME "row_sum refuses a column ${column}"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/expect 2 "^row_sum: --origin-column: neither a column's name nor its number"
                   sh -c "'$<TARGET_FILE:row_sum>' --input x.csv --origin-column ${column}")
endforeach()
expect_program(row_sum "refuses columns of a matrix" 2 "^row_sum: .*are for an --input that ends in .csv"
               --input ${folder}/version1.npy --count-column 3)
expect_program(row_sum "refuses columns of random numbers" 2 "^row_sum: .*are for an --input that ends in .csv"
               --destination-column to)
file(WRITE ${folder}/large_row.csv "a,a,3e38\na,b,3e38\n")
expect_program(row_sum "tells a row that adds up to too much" 1 "^row_sum: row 0 adds up to more than a float holds"
               --input ${folder}/large_row.csv)

if(FASTDISPATCH_GNUPLOT)
  add_test(NAME "fibonacci draws its sweep"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/draws ${folder}/fibonacci.svg "look-ahead"
                   $<TARGET_FILE:fibonacci> --sweep --repetitions 3)
  add_test(NAME "row_sum draws its rates"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/draws ${folder}/row_sum.svg "a wavefront a row"
                   $<TARGET_FILE:row_sum> --rows 100)
  add_test(NAME "row_sum draws its sweep"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/draws ${folder}/row_sum_sweep.svg "passes through the host"
                   $<TARGET_FILE:row_sum> --sweep --rows 300 --iterations 1)
endif()
