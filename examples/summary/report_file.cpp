#include "report_file.hpp"

#include "input_file.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace {

using Json = nlohmann::json;

Measurement measurement_of(const Json& row) {
  Measurement measurement = {.name = row.at("name"), .microseconds = {}};
  if (const auto time = row.find("microseconds"); time != row.end()) measurement.microseconds = time->get<double>();
  measurement.doubtful = row.value("doubtful", false);
  measurement.correct = row.at("correct");
  measurement.compares = row.value("compares", false);
  measurement.shows_an_error = row.value("shows_an_error", false);
  return measurement;
}

ReportFile report_of(const Json& document) {
  const auto text = [&document](const char* key) { return document.at(key).get<std::string>(); };
  ReportFile report;
  report.program = text("program");
  report.problem = text("problem");
  report.device = text("gpu") + (document.at("softgpu") ? " (soft GPU), " : ", ") + text("gpu_product");
  report.host = text("host");
  report.runtime = text("runtime") + ", which implements HSA " + text("hsa_version");
  report.fastdispatch_version = text("fastdispatch_version");
  report.date = text("date");
  document.at("command").get_to(report.command);
  for (const Json& row : document.at("rows")) report.rows.push_back(measurement_of(row));
  const Json& table = document.at("table");
  table.at("caption").get_to(report.table.caption);
  table.at("lines").get_to(report.table.lines);
  table.at("notes").get_to(report.table.notes);
  return report;
}

}  // namespace

ReportFile read_report(const std::filesystem::path& path) {
  try {
    return report_of(Json::parse(read_file(path)));
  } catch (const Json::exception& error) {
    throw std::runtime_error(path.string() + ": it is no report of an example: " + error.what());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path.string() + ": " + error.what());
  }
}
