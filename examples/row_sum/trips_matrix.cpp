#include "trips_matrix.hpp"

#include "csv_file.hpp"
#include "report.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace {

using Fields = std::vector<std::string>;

struct Trips {
  std::uint32_t origin;
  std::uint32_t destination;
  double count;
};

class TripsFile {
public:
  TripsFile(const fs::path& path, const std::optional<TripsColumns>& columns)
      : path_(path), file_(path), columns_(columns) {}

  MatrixSource read() {
    Fields fields;
    if (file_.read(fields)) read_first_line(fields);
    while (file_.read(fields)) add_trips(fields);
    if (trips_.empty()) file_.fail("it has no line with an origin, a destination and a count");
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

  // Finds the columns. The line is a header or has the first trips.
  void read_first_line(const Fields& fields) {
    if (columns_) width_ = fields.size();
    require_width(fields);
    const TripsColumns columns = columns_.value_or(TripsColumns{});
    origin_ = index_of(columns.origin, fields);
    destination_ = index_of(columns.destination, fields);
    count_ = index_of(columns.count, fields);
    if (origin_ == destination_ || origin_ == count_ || destination_ == count_) {
      file_.fail_in_line("origin, destination and count are in three columns, and two of these are one");
    }
    const bool has_names = std::holds_alternative<std::string>(columns.origin) ||
                           std::holds_alternative<std::string>(columns.destination) ||
                           std::holds_alternative<std::string>(columns.count);
    if (!has_names && !is_title(fields[count_])) add_trips(fields);
  }

  // Counts from 0.
  [[nodiscard]] std::size_t index_of(const Column& column, const Fields& titles) const {
    if (const auto* number = std::get_if<std::size_t>(&column)) {
      if (*number <= titles.size()) return *number - 1;
      file_.fail_in_line("it has " + counted(titles.size(), "field") + ": there is no column " +
                         std::to_string(*number));
    }
    const auto& name = std::get<std::string>(column);
    const auto found = std::find(titles.begin(), titles.end(), name);
    if (found == titles.end()) file_.fail_in_line("no column is called '" + name + "'");
    if (std::find(found + 1, titles.end(), name) != titles.end()) {
      file_.fail_in_line("several columns are called '" + name + "'");
    }
    return static_cast<std::size_t>(found - titles.begin());
  }

  // A text that begins with a digit is a count with a mistake.
  [[nodiscard]] bool is_title(const std::string& count) const {
    return !count.empty() && count.find_first_of("0123456789") != 0 && !number(count);
  }

  void add_trips(const Fields& fields) {
    require_width(fields);
    for (const std::size_t column : {origin_, destination_, count_}) {
      if (fields[column].empty()) file_.fail_in_column(column, "the field is empty");
    }
    const std::optional<double> count = number(fields[count_]);
    if (!count) file_.fail_in_column(count_, "the count is no number: '" + fields[count_].substr(0, 40) + "'");
    trips_.push_back({place(fields[origin_]), place(fields[destination_]), *count});
  }

  void require_width(const Fields& fields) const {
    if (fields.size() == width_) return;
    file_.fail_in_line("it has " + counted(fields.size(), "field") +
                       (columns_
                            ? ", and the first line has " + std::to_string(width_)
                            : "; origin, destination and count are 3, unless --count-column and the like are given"));
  }

  [[nodiscard]] std::optional<double> number(const std::string& text) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range || !std::isfinite(static_cast<float>(value))) {
      file_.fail_in_column(count_, "the count is more than a float holds, or no number at all: " + text.substr(0, 40));
    }
    return value;
  }

  std::uint32_t place(const std::string& name) {
    const auto [found, is_new] = indices_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return found->second;
  }

  fs::path path_;
  CsvFile file_;
  std::optional<TripsColumns> columns_;
  std::size_t width_ = 3;  // fields of a line
  std::size_t origin_ = 0;
  std::size_t destination_ = 1;
  std::size_t count_ = 2;
  std::unordered_map<std::string, std::uint32_t> indices_;
  std::vector<std::string> names_;
  std::vector<Trips> trips_;
};

}  // namespace

MatrixSource trips_matrix(const fs::path& path, const std::optional<TripsColumns>& columns) {
  return TripsFile(path, columns).read();
}
