# example_summary: the table and the page over all examples.

# write_report(name PROGRAM ROWS): a report in ${folder} whose table has the program's name in all places.
function(write_report name program rows)
  file(WRITE ${folder}/${name}.json "{
    \"program\": \"${program}\", \"problem\": \"q\", \"gpu\": \"g\", \"gpu_product\": \"${program}\", \"softgpu\": false,
    \"host\": \"${program}\", \"runtime\": \"r\", \"hsa_version\": \"1.1\", \"fastdispatch_version\": \"0.1.0\",
    \"date\": \"d\", \"command\": [\"${program}\", \"--json\", \"a file\"], \"rows\": [${rows}],
    \"table\": {\"caption\": \"${program}\", \"lines\": [[\"\", \"us  \", \"\"], [\"${program}\", \"1.0 ~\", \"correct\"]],
                \"notes\": [\"${program}\"]}}\n")
endfunction()

function(expect_summary test status pattern)
  add_test(NAME "The summary ${test}"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/expect ${status} ${pattern} $<TARGET_FILE:example_summary> ${ARGN})
endfunction()

# The host's loop is faster, and no result of the GPU.
write_report(compares p "
  {\"name\": \"CPU\", \"microseconds\": 1, \"correct\": true, \"compares\": true},
  {\"name\": \"wrong\", \"microseconds\": 1, \"correct\": false, \"shows_an_error\": true},
  {\"name\": \"kernel\", \"microseconds\": 2, \"doubtful\": true, \"correct\": true}")
write_report(wrong p "{\"name\": \"n\", \"correct\": false}")
file(WRITE ${folder}/damaged.json "{\"program\": ")
file(WRITE ${folder}/no_program.json "{}")
file(WRITE ${folder}/empty.svg "")
file(WRITE ${folder}/cut.svg "<svg xmlns='http://www.w3.org/2000/svg'>")
file(WRITE ${folder}/text.png "text")
expect_summary("names the fastest on the GPU" 0 "^p +q +kernel +2.0 ~ +2 correct, 1 wrong as expected$" ${folder}/compares.json)
expect_summary("explains its mark" 0 "^~ the iterations spread far" ${folder}/compares.json)
expect_summary("tells a wrong result" 1 "0 correct, 1 WRONG" ${folder}/wrong.json)
expect_summary("tells a missing report" 1 "^example_summary: .*/nothing.json: No such file" ${folder}/nothing.json)
expect_summary("tells that a report is a folder" 1 "^example_summary: .*: Is a directory" ${folder})
expect_summary("tells a damaged report" 1 "^example_summary: .*/damaged.json: it is no report of an example: .* column 13"
               ${folder}/damaged.json)
expect_summary("tells what a report lacks" 1 "it is no report of an example: .*'program'" ${folder}/no_program.json)
expect_summary("tells a missing chart" 1 "/nothing.svg: No such file" ${folder}/compares.json ${folder}/nothing.svg)
expect_summary("tells that a chart is none" 1 "/empty.svg: it is no SVG" ${folder}/compares.json ${folder}/empty.svg)
expect_summary("tells that a chart is cut off" 1 "/cut.svg: it is cut off" ${folder}/compares.json ${folder}/cut.svg)
expect_summary("tells that an image is none" 1 "/text.png: it is neither" ${folder}/compares.json ${folder}/text.png)
expect_summary("tells that a picture has no report" 1 "/cut.svg: there is no report before it" ${folder}/cut.svg)
expect_summary("tells that the page cannot be written" 1 "No such file" ${folder}/compares.json --page ${folder}/no/page.html)

# What files say is text.
write_report(hostile "<script>document.body.remove()</script><img src=x> &lt. \\\"'" "")
expect_summary("escapes what files say" 0
               "^<h2>&lt.script&gt.document.body.remove\\(\\)&lt./script&gt.&lt.img src=x&gt. &amp.lt[.] &quot.'</h2>$"
               ${folder}/hostile.json --page -)
expect_summary("writes a page" 0 "0 correct" ${folder}/hostile.json --page ${folder}/hostile.html)
set_tests_properties("The summary writes a page" PROPERTIES FIXTURES_SETUP hostile_page)

# expect_page(test FIXTURE PAGE FILE...): see the script `shows_page`.
function(expect_page test fixture page)
  add_test(NAME "The page over the examples ${test}"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/shows_page ${page} ${ARGN})
  set_tests_properties("The page over the examples ${test}" PROPERTIES
                       FIXTURES_REQUIRED ${fixture} SKIP_RETURN_CODE 77)
endfunction()

set(files)
foreach(program bitonic_sort fibonacci row_sum matmul luminance atomic_count memory_levels blur)
  list(APPEND files ${folder}/all/${program}.json)
  if(FASTDISPATCH_GNUPLOT)
    list(APPEND files ${folder}/all/${program}.svg)
  endif()
  if(program MATCHES "luminance|blur")
    list(APPEND files ${folder}/all/before.png ${folder}/all/${program}_after.png)
  endif()
endforeach()
expect_page("shows each table and picture" page_of_all ${folder}/all/index.html ${files})
expect_page("shows as text what looks like HTML" hostile_page ${folder}/hostile.html ${folder}/hostile.json)
