// Writes the test chart that blur and luminance draw where they get no image, so that it can be shown beside theirs.
#include "image_options.hpp"
#include "output_file.hpp"
#include "program.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
  return run_program("test_image", [&] {
    ImageOptions options;
    CommandLine line("Writes the test chart of blur and luminance.", "test_image");
    add_image_options(line, options);
    line.parse_or_exit(argc, argv);
    OutputFile output(options.output.value_or("-"));
    write_png(output, open_image(options, 0));
    output.commit();
    return EXIT_SUCCESS;
  });
}
