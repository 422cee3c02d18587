#include "matrix_source.hpp"

#include "npy_matrix.hpp"
#include "trips_matrix.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

MatrixSource random_matrix(std::size_t rows, std::size_t columns, std::uint32_t seed) {
  return {.rows = rows, .columns = columns, .row_names = {}, .write_to = [seed](std::span<float> elements) {
            std::mt19937 random(seed);
            // The upper 24 bits of the generator's 32: a float holds no more.
            std::generate(elements.begin(), elements.end(),
                          [&random] { return static_cast<float>(random() >> 8U) * 0x1p-24F; });
          }};
}

MatrixSource matrix_file(const std::filesystem::path& path, const std::optional<TripsColumns>& columns) {
  if (path.extension() == ".npy") return npy_matrix(path);
  if (path.extension() == ".csv") return trips_matrix(path, columns);
  throw std::runtime_error("cannot read " + path.string() + ": the name must end in .npy or .csv");
}
