#include "npy_file.hpp"

#include <cstring>
#include <fstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.hpp"

namespace {

using ::testing::HasSubstr;

template <class T>
Array array_of(ElementType type, std::vector<std::size_t> extents, std::initializer_list<T> values) {
  Array array{.type = type, .extents = std::move(extents), .bytes = std::vector<std::byte>(values.size() * sizeof(T))};
  std::memcpy(array.bytes.data(), values.begin(), array.bytes.size());
  return array;
}

/// A file as numpy.lib.format documents it: the magic, the version, the header's length in two bytes, the dictionary
/// padded with blanks so that the elements begin at a multiple of 64, and a new line.
std::string file_of(const std::string& dictionary, const std::string& elements, char version = 1) {
  const std::size_t unpadded = 10 + dictionary.size() + 1;
  const std::string header = dictionary + std::string((64 - unpadded % 64) % 64, ' ') + "\n";
  return std::string("\x93NUMPY") + version + '\0' + static_cast<char>(header.size() % 256) +
         static_cast<char>(header.size() / 256) + header + elements;
}

class NpyFile : public ::testing::Test {
protected:
  [[nodiscard]] Array read(const std::string& contents) const {
    std::ofstream(path_, std::ios::binary) << contents;
    return read_npy(path_);
  }
  [[nodiscard]] std::string error_of(const std::string& contents) const {
    try {
      static_cast<void>(read(contents));
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path_));
      return error.what();
    }
    return "no error";
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path() / "array.npy";
};

TEST_F(NpyFile, is_written_as_numpy_writes_it) {
  EXPECT_EQ(
      npy_of(array_of<float>(ElementType::f32, {2}, {1.0F, -2.0F})),
      file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", std::string("\0\0\x80\x3f\0\0\0\xc0", 8)));
  EXPECT_EQ(npy_of(array_of<std::uint8_t>(ElementType::u8, {2, 3}, {1, 2, 3, 4, 5, 6})),
            file_of("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }", "\1\2\3\4\5\6"));
  EXPECT_EQ(npy_of(array_of<std::int64_t>(ElementType::i64, {1}, {-2})),
            file_of("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }",
                    std::string("\xfe\xff\xff\xff\xff\xff\xff\xff", 8)));
}

TEST_F(NpyFile, that_numpy_wrote_is_read) {
  const Array array = read(
      file_of("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }", std::string("\1\0\2\0\xff\xff\0\1", 8)));
  EXPECT_EQ(array.type, ElementType::i16);
  EXPECT_EQ(array.extents, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(text_of_elements(array, 10), "1 2 -1 256");
}

TEST_F(NpyFile, of_each_type_is_read_as_it_was_written) {
  for (const ElementType type :
       {ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64, ElementType::u8, ElementType::u16,
        ElementType::u32, ElementType::u64, ElementType::f16, ElementType::f32, ElementType::f64}) {
    Array array{.type = type, .extents = {3}, .bytes = std::vector<std::byte>(3 * size_of(type), std::byte{0x3c})};
    const Array again = read(npy_of(array));
    EXPECT_EQ(again.type, type);
    EXPECT_EQ(again.bytes, array.bytes);
  }
}

TEST_F(NpyFile, that_is_damaged_or_of_another_kind_is_refused_with_the_reason) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  EXPECT_THAT(error_of("PK\3\4"), HasSubstr("no .npy file"));
  EXPECT_THAT(error_of(""), HasSubstr("no .npy file"));
  EXPECT_THAT(error_of(file_of(good, "1234", 2)), HasSubstr("version 2 of the format; version 1 is read"));
  EXPECT_THAT(error_of(file_of(good, "1234").substr(0, 40)), HasSubstr("ends within its header"));
  EXPECT_THAT(error_of(file_of(good, "123")), HasSubstr("f32[1] takes 4 bytes, and 3 follow the header"));
  EXPECT_THAT(error_of(file_of(good, "12345")), HasSubstr("f32[1] takes 4 bytes, and 5 follow the header"));
  EXPECT_THAT(error_of(file_of("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "1234")),
              HasSubstr("'>f4', are big-endian"));
  EXPECT_THAT(error_of(file_of("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "12345678")),
              HasSubstr("NumPy's type '<c8'; those read are i8, i16"));
  EXPECT_THAT(error_of(file_of("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234")),
              HasSubstr("several fields"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "1234123412341234")),
              HasSubstr("numpy.ascontiguousarray"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f4', 'fortran_order': False, }", "1234")), HasSubstr("no 'shape'"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "1234")),
              HasSubstr("no size"));
  EXPECT_THAT(error_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "")),
              HasSubstr("more than any memory holds"));
}

TEST_F(NpyFile, that_is_not_there_is_told_with_the_reason) {
  EXPECT_THAT(
      [] { static_cast<void>(read_npy("nowhere.npy")); },
      ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("cannot read nowhere.npy: No such file or directory")));
}

}  // namespace
