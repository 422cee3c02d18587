// What an Error says.
#pragma once

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fastdispatch/error.hpp"

namespace fastdispatch::test {

/// The text of the Error that `action` throws; the test fails where it throws none.
template <class Expected = Error, class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  ADD_FAILURE() << "no such error was thrown";
  return {};
}

}  // namespace fastdispatch::test
