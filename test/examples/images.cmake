# luminance and blur.
foreach(tool image_samples check_image)
  add_executable(${tool} ${tool}.cpp)
  target_include_directories(${tool} SYSTEM PRIVATE ${FASTDISPATCH_STB_DIRECTORY})
  target_link_libraries(${tool} PRIVATE example_image fastdispatch_build_options)
endforeach()

set(images ${CMAKE_CURRENT_BINARY_DIR}/images)
add_test(NAME "Images for tests are written" COMMAND image_samples ${images})
set_tests_properties("Images for tests are written" PROPERTIES FIXTURES_SETUP images)

# expect_image(program test STATUS PATTERN argument...): as expect_program, after the images have been written.
function(expect_image program test status pattern)
  expect_program(${program} ${test} ${status} ${pattern} ${ARGN})
  set_tests_properties("${program} ${test}" PROPERTIES FIXTURES_REQUIRED images)
endfunction()

function(expect_luma input)
  add_test(NAME "luminance writes the luma of ${input}"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/writes_image $<TARGET_FILE:check_image> luma ${images}/${input}
                   ${images}/luma_${input}.png -- $<TARGET_FILE:luminance>)
  set_tests_properties("luminance writes the luma of ${input}" PROPERTIES FIXTURES_REQUIRED images)
endfunction()

function(expect_blur input passes group)
  set(test "blur blurs ${input} in ${passes} passes and groups of ${group}")
  add_test(NAME ${test}
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/writes_image $<TARGET_FILE:check_image> blur ${images}/${input}
                   ${images}/blur_${input}_${passes}_${group}.png ${passes} -- $<TARGET_FILE:blur> --group ${group})
  set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED images)
endfunction()

# Every variant's verdict is the program's own: a wrong result is an exit code of 1.
expect_program(luminance "converts a test chart by default" 0 "^one load of a float4 .* correct$")
expect_program(luminance "shows what becomes of a float3 read as another" 0
               "^packed float3 read as padded .* wrong, as expected: the pixel after the first" --width 50 --height 3)
expect_program(luminance "cannot go wrong with a single pixel" 0 "^packed float3 read as padded .* correct$" --width 1 --height 1)
expect_program(luminance "converts a number of pixels that is no multiple of a group" 0 "^padded float3, 16 bytes .* correct$"
               --width 257 --height 3)
expect_program(luminance "loads half a pixel at once" 0 "^two loads of a float2 .* correct$" --width 257 --height 3)
foreach(order "row by row" "column by column" "at random")
  expect_program(luminance "reads its pixels ${order}" 0 "^float4 by index, ${order} .* correct$" --width 257 --height 5)
endforeach()
if(FASTDISPATCH_GNUPLOT)
  add_test(NAME "luminance draws its times"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/draws ${images}/luminance.svg "two loads of a float2"
                   $<TARGET_FILE:luminance> --width 50 --height 40 --iterations 1)
  set_tests_properties("luminance draws its times" PROPERTIES FIXTURES_REQUIRED images)
endif()
expect_program(luminance "explains its options" 0 "--input" --help)
foreach(input 1x1.png 67x41.png grey.png rgb.png noise.jpg)
  expect_luma(${input})
endforeach()

expect_program(blur "blurs a test chart by default" 0 "^tiles in strips, 16 x 12 .* correct$")
foreach(input 1x1.png 1x9.png 9x1.png)
  expect_blur(${input} 1 16x12)
  expect_blur(${input} 5 3x2)
endforeach()
expect_blur(67x41.png 1 16x12)
expect_blur(67x41.png 2 1x1)
expect_blur(67x41.png 3 5x7)
expect_blur(67x41.png 3 1024x1)
expect_blur(67x41.png 3 64x4)
expect_blur(67x41.png 20 32x8)
expect_blur(noise.jpg 4 8x8)
expect_program(blur "shows what becomes of the listing" 0
               "^as listed .* wrong, as expected: five pixels over nine, and edges" --width 50 --height 40)
expect_program(blur "reads beyond no buffer where the listing reads beyond the image" 0 "^as listed .* wrong, as expected"
               --width 1 --height 1 --passes 3)
expect_program(blur "shows its progress when a batch completes" 0 "[1-9][0-9]* of 10000, " --width 9 --height 9 --passes 10000
               --progress --iterations 1 --group 9x9)
expect_program(blur "takes several shapes of groups" 0 "^tiles, 7 x 5 " --width 50 --height 40 --group 9x3 7x5)
expect_program(blur "shows its progress where it is asked for" 0 "0 of 3, untiled" --width 50 --height 40 --passes 3 --progress)
if(FASTDISPATCH_GNUPLOT)
  add_test(NAME "blur draws its times"
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/draws ${images}/blur.svg "tiles in strips, 16 x 12"
                   $<TARGET_FILE:blur> --width 50 --height 40 --iterations 1)
endif()
expect_program(blur "explains its options" 0 "--passes" --help)
expect_program(blur "refuses a group that is none" 2 "^blur: --group: .*WxH work-items.* not 16by12" --group 16by12)
expect_program(blur "refuses an empty group" 2 "^blur: --group: .* not 0x4" --group 0x4)
expect_program(blur "refuses a group that is too large" 2 "^blur: --group: .*1 to 1024 of them. not 64x17" --group 64x17)
expect_program(blur "tells that a tile is too large" 1 "^blur: .*group memory" --width 9 --height 9 --group 1x1024)
expect_program(blur "refuses zero passes" 2 "^blur: --passes: .*not in range" --passes 0)

foreach(program luminance blur)
  expect_program(${program} "refuses a width of zero" 2 "^${program}: --width: .*not in range" --width 0)
  expect_program(${program} "refuses a negative height" 2 "^${program}: .*--height" --height -3)
  expect_program(${program} "refuses a width that is no number" 2 "^${program}: .*--width" --width wide)
  expect_program(${program} "refuses a size besides a file" 2 "^${program}: .*excludes" --input x --width 3)
  expect_program(${program} "tells that a size is too large" 1 "100000 x 100000 pixels is too large" --width 100000 --height 100000)
  expect_program(${program} "tells that there is no such GPU" 1 "^${program}: .*GPU" --device 99)
  expect_program(${program} "tells that the GPU's memory does not suffice" 1 "^${program}: .*memory" --width 6000 --height 3000)
  set_tests_properties("${program} tells that the GPU's memory does not suffice" PROPERTIES
                       ENVIRONMENT "FASTDISPATCH_DEVICE=softgpu;SOFTGPU_MEMORY=64M")
  expect_program(${program} "refuses a result that is no PNG" 2 "^${program}: --output: .*must end in .png, not x.jpg" --output x.jpg)
  expect_program(${program} "tells that the output cannot be written" 1 "^${program}: .*No such file" --output ${images}/no/folder)
  expect_program(${program} "tells that the JSON cannot be written" 1 "^${program}: .*Is a directory" --json ${folder})
  expect_program(${program} "tells that the disk is full" 1 "^${program}: .*No space left" --width 300 --height 300 --output /dev/full)
  expect_program(${program} "tells a missing image" 1 "nothing_here: No such file" --input ${images}/nothing_here)
  expect_image(${program} "tells that the image is a folder" 1 "images: Is a directory" --input ${images})
  expect_image(${program} "tells an empty image" 1 "empty.png: it is empty" --input ${images}/empty.png)
  expect_image(${program} "tells what is no image" 1 "text.png: it is neither a PNG nor a JPEG" --input ${images}/text.png)
  expect_image(${program} "tells where a PNG is cut off" 1 "cut.png: it is cut off: it ends at byte [0-9]+" --input ${images}/cut.png)
  expect_image(${program} "tells where a PNG is damaged" 1 "changed.png: it is damaged: the chunk at byte 33 has a wrong checksum"
               --input ${images}/changed.png)
  expect_image(${program} "tells a PNG without width" 1 "no_width.png: it cannot be decoded: 0-pixel image" --input ${images}/no_width.png)
  expect_image(${program} "tells a PNG that is too large" 1 "huge.png: it cannot be decoded: too large" --input ${images}/huge.png)
  expect_image(${program} "tells where a JPEG is cut off" 1 "cut.jpg: it is cut off: it ends at byte [0-9]+" --input ${images}/cut.jpg)
  expect_image(${program} "tells where a JPEG is damaged" 1 "no_marker.jpg: it is damaged: there is no marker at byte 20" --input ${images}/no_marker.jpg)
endforeach()
