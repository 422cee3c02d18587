#include "trips_matrix.hpp"

#include "input_line.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace {

constexpr std::string_view blanks = " \t\r";  // a carriage return: files from Windows are read too

struct Trips {
  std::uint32_t origin;
  std::uint32_t destination;
  double count;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

class TripsFile {
public:
  explicit TripsFile(fs::path path) : path_(std::move(path)), stream_(path_, std::ios::binary) {
    if (!stream_) fail(std::generic_category().message(errno));
  }

  MatrixSource read() {
    errno = 0;
    std::string line;
    for (bool header_may_come = true; read_input_line(stream_, line, path_);) {
      if (++line_number_ == 1) drop_byte_order_mark(line);
      if (trimmed(line).empty()) continue;
      const std::array<std::string, 3> fields = split(line);
      const std::optional<double> count = number(fields[2]);
      if (count) {
        trips_.push_back({place(fields[0]), place(fields[1]), *count});
      } else if (!header_may_come || fields[2].find_first_of("0123456789") == 0) {
        fail_at_line("the count is no number: '" + fields[2].substr(0, 40) + "'");
      }
      header_may_come = false;
    }
    if (stream_.bad()) fail(std::generic_category().message(errno));
    if (trips_.empty()) fail("it has no line with an origin, a destination and a count");
    // Trips of one pair side by side, so that they add up in double precision.
    std::stable_sort(trips_.begin(), trips_.end(), [](const Trips& a, const Trips& b) {
      return std::tie(a.origin, a.destination) < std::tie(b.origin, b.destination);
    });
    return {.rows = names_.size(),
            .columns = names_.size(),
            .row_names = names_,
            .write_to = [trips = std::move(trips_), path = path_, names = names_](std::span<float> elements) {
              write(trips, path, names, elements);
            }};
  }

private:
  static void write(const std::vector<Trips>& trips, const fs::path& path, const std::vector<std::string>& names,
                    std::span<float> elements) {
    std::fill(elements.begin(), elements.end(), 0.0F);
    for (std::size_t i = 0; i < trips.size();) {
      const auto [origin, destination, first] = trips[i];
      double count = 0;
      for (; i < trips.size() && trips[i].origin == origin && trips[i].destination == destination; ++i) {
        count += trips[i].count;
      }
      float& element = elements[std::size_t{origin} * names.size() + destination];
      element = static_cast<float>(count);
      if (!std::isfinite(element)) {
        throw std::runtime_error(path.string() + ": the counts from " + names[origin] + " to " + names[destination] +
                                 " add up to more than a float holds");
      }
    }
  }

  // Fields may be in double quotes, and a quote in them is written twice.
  [[nodiscard]] std::array<std::string, 3> split(std::string_view line) const {
    std::array<std::string, 3> fields;
    std::size_t count = 0;
    for (std::size_t position = 0; position <= line.size(); ++count) {
      std::string quoted;
      const std::size_t begin = std::min(line.find_first_not_of(blanks, position), line.size());
      if (line.substr(begin).starts_with('"')) position = read_quoted(line, begin + 1, quoted);
      const std::size_t end = std::min(line.find(',', position), line.size());
      const std::string_view rest = trimmed(line.substr(position, end - position));
      if (!quoted.empty() && !rest.empty()) fail_at_line("something follows a quoted field");
      if (count < fields.size()) fields[count] = quoted.empty() ? std::string(rest) : std::move(quoted);
      position = end + 1;
    }
    if (count != fields.size()) {
      fail_at_line("it has " + std::to_string(count) + (count == 1 ? " field" : " fields") +
                   "; origin, destination and count are 3");
    }
    for (const std::string& field : fields) {
      if (field.empty()) fail_at_line("a field is empty");
    }
    return fields;
  }

  // Returns where the line goes on behind the quote that ends the field.
  std::size_t read_quoted(std::string_view line, std::size_t position, std::string& field) const {
    for (;; ++position) {
      const std::size_t quote = line.find('"', position);
      if (quote == std::string_view::npos) fail_at_line("a quote does not end");
      field += line.substr(position, quote - position);
      position = quote + 1;
      if (!line.substr(position).starts_with('"')) return position;
      field += '"';
    }
  }

  [[nodiscard]] std::optional<double> number(std::string_view text) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range || !std::isfinite(static_cast<float>(value))) {
      fail_at_line("the count is more than a float holds, or no number at all: " + std::string(text.substr(0, 40)));
    }
    return value;
  }

  std::uint32_t place(const std::string& name) {
    const auto [found, is_new] = indices_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return found->second;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("cannot read " + path_.string() + ": " + what);
  }
  [[noreturn]] void fail_at_line(const std::string& what) const {
    throw std::runtime_error(path_.string() + ", line " + std::to_string(line_number_) + ": " + what);
  }

  fs::path path_;
  std::ifstream stream_;
  std::size_t line_number_ = 0;
  std::unordered_map<std::string, std::uint32_t> indices_;
  std::vector<std::string> names_;
  std::vector<Trips> trips_;
};

}  // namespace

MatrixSource trips_matrix(const fs::path& path) { return TripsFile(path).read(); }
