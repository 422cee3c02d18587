// Charts as SVG, drawn by gnuplot.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

/// Points joined by a line. Both coordinates must be positive where their axis is logarithmic.
struct Curve {
  std::string name;  ///< in the key, or above the highest of points without a line
  std::vector<std::pair<double, double>> points;
  bool dashed = false;       ///< for limits and references
  bool points_only = false;  ///< markers without a line
};

enum class KeyPlace { left_top, right_bottom, below };

struct LinePlot {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool logarithmic_x = false;  ///< to the base 2
  bool logarithmic_y = false;
  KeyPlace key = KeyPlace::left_top;
  std::vector<Curve> curves;
};

struct BarPlot {
  std::string title;
  std::string y_label;
  bool logarithmic_y = false;
  std::vector<std::pair<std::string, double>> bars;  ///< each one's name and height
};

/// Whether gnuplot is on the PATH.
[[nodiscard]] bool gnuplot_is_installed();

/// Writes the chart; the file appears whole or not at all. Throws std::runtime_error when gnuplot is missing or fails,
/// or the file can't be written.
void write_plot(const std::filesystem::path& file, const LinePlot& plot);
void write_plot(const std::filesystem::path& file, const BarPlot& plot);
