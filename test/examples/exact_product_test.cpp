// The check of matmul's results, on products that are known.
#include "exact_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace {

constexpr Shape small = {.rows = 5, .columns = 7, .inner = 11};

std::vector<float> product_by_definition(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(small.rows * small.columns);
  for (std::size_t row = 0; row < small.rows; ++row) {
    for (std::size_t column = 0; column < small.columns; ++column) {
      float sum = 0;
      for (std::size_t k = 0; k < small.inner; ++k) sum += a[row * small.inner + k] * b[k * small.columns + column];
      c[row * small.columns + column] = sum;
    }
  }
  return c;
}

class ProductCheckTest : public testing::Test {
protected:
  const std::vector<float> a_ = random_integers(small.rows * small.inner, 1);
  const std::vector<float> b_ = random_integers(small.inner * small.columns, 2);
  const ProductCheck check_{small, a_, b_};
  std::vector<float> c_ = product_by_definition(a_, b_);
};

TEST_F(ProductCheckTest, AcceptsTheProduct) { EXPECT_EQ(check_.first_wrong_row(c_), std::nullopt); }

TEST_F(ProductCheckTest, FindsEverySingleElementThatIsOffByOne) {
  for (std::size_t i = 0; i < c_.size(); ++i) {
    std::vector<float> wrong = c_;
    wrong[i] -= 1;
    EXPECT_EQ(check_.first_wrong_row(wrong), i / small.columns);
  }
}

TEST_F(ProductCheckTest, FindsTwoErrorsThatCancelInTheSum) {
  c_[0] += 3;
  c_[1] -= 3;
  EXPECT_EQ(check_.first_wrong_row(c_), 0);
}

TEST_F(ProductCheckTest, FindsSwappedRows) {
  std::swap_ranges(c_.begin() + small.columns, c_.begin() + 2 * small.columns, c_.begin() + 2 * small.columns);
  EXPECT_EQ(check_.first_wrong_row(c_), 1);
}

TEST_F(ProductCheckTest, FindsWhatIsNoInteger) {
  for (const float value :
       {0.5F, 3e38F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> wrong = c_;
    wrong.back() = value;
    EXPECT_EQ(check_.first_wrong_row(wrong), small.rows - 1);
  }
}

TEST(RandomIntegers, AreFromMinusFourToFourAndRepeatable) {
  const std::vector<float> values = random_integers(10000, 1);
  for (int value = -4; value <= 4; ++value) EXPECT_NE(std::count(values.begin(), values.end(), value), 0) << value;
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), -4);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 4);
  EXPECT_EQ(values, random_integers(10000, 1));
  EXPECT_NE(values, random_integers(10000, 2));
}

}  // namespace
