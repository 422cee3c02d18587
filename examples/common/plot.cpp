#include "plot.hpp"

#include "output_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <unistd.h>

namespace {

struct Close {
  void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
};

// Within single quotes gnuplot takes every character as it is, except a quote, which is written twice.
std::string literal(std::string_view text) {
  std::string result = "'";
  for (const char letter : text) result += letter == '\'' ? std::string("''") : std::string(1, letter);
  return result + "'";
}

const char* place_of(KeyPlace key) {
  switch (key) {
  case KeyPlace::left_top:
    return "left top";
  case KeyPlace::right_bottom:
    return "right bottom";
  case KeyPlace::below:
    return "below";
  }
  return "";
}

// Points without a line have their name above the highest.
bool is_named_in_place(const Curve& curve) { return curve.points_only && !curve.points.empty(); }

void write_name(std::ostream& script, const Curve& curve) {
  const auto& [x, y] = *std::max_element(curve.points.begin(), curve.points.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
  script << "set label " << literal(curve.name) << " at " << x << "," << y << " center offset 0,0.8\n";
}

void write_frame(std::ostream& script, const std::string& title, const std::string& y_label, bool logarithmic_y) {
  script << "set terminal svg size 860,480 font 'sans-serif,14' background '#ffffff' noenhanced\n"
         << "set title " << literal(title) << "\nset ylabel " << literal(y_label) << "\n"
         << "set border 3\nset tics nomirror\nset grid ytics linecolor '#dddddd' linetype 1\n"
         << (logarithmic_y ? "set logscale y\n" : "set yrange [0:*]\n");
}

// Runs gnuplot over the script and returns the drawing.
std::string drawn(const std::string& script) {
  // A file without a name, which the child reads through the inherited descriptor: nothing is left behind.
  const std::unique_ptr<std::FILE, Close> input(std::tmpfile());
  if (!input || std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() ||
      std::fflush(input.get()) != 0) {
    throw std::runtime_error("cannot write a temporary file for gnuplot");
  }
  const std::string command = "gnuplot /dev/fd/" + std::to_string(fileno(input.get())) + " 2>/dev/null";
  std::FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) throw std::runtime_error("cannot start gnuplot");
  std::string svg;
  std::array<char, 65536> part{};
  for (std::size_t size = 0; (size = std::fread(part.data(), 1, part.size(), output)) > 0;)
    svg.append(part.data(), size);
  if (pclose(output) != 0 || svg.empty()) throw std::runtime_error("gnuplot failed to draw the chart");
  return svg;
}

void write_drawing(const std::filesystem::path& file, const std::string& script) {
  if (!gnuplot_is_installed()) throw std::runtime_error("gnuplot, which draws charts, is not installed");
  OutputFile output(file);
  output.write(drawn(script));
  output.commit();
}

}  // namespace

bool gnuplot_is_installed() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/gnuplot").c_str(), X_OK) == 0) return true;
  }
  return false;
}

void write_plot(const std::filesystem::path& file, const LinePlot& plot) {
  std::ostringstream script;
  write_frame(script, plot.title, plot.y_label, plot.logarithmic_y);
  script << "set xlabel " << literal(plot.x_label) << "\nset key " << place_of(plot.key) << "\n";
  if (plot.logarithmic_x) script << "set logscale x 2\n";
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    script << "$curve" << i << " << END\n";
    for (const auto& [x, y] : plot.curves[i].points) script << x << " " << y << "\n";
    script << "END\n";
    if (is_named_in_place(plot.curves[i])) write_name(script, plot.curves[i]);
  }
  script << "plot ";
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const Curve& curve = plot.curves[i];
    script << (i == 0 ? "" : ", ") << "$curve" << i << " with "
           << (curve.points_only ? "points pointtype 7 pointsize 0.8"
               : curve.dashed    ? "lines dashtype 2"
                                 : "linespoints pointtype 7 pointsize 0.6")
           << " linewidth 2 title " << literal(is_named_in_place(curve) ? "" : curve.name);
  }
  script << "\n";
  write_drawing(file, script.str());
}

void write_plot(const std::filesystem::path& file, const BarPlot& plot) {
  std::ostringstream script;
  write_frame(script, plot.title, plot.y_label, plot.logarithmic_y);
  script << "set style fill solid 0.8\nset boxwidth 0.6\nset xtics rotate by -20\nset key off\nset rmargin 12\n"
         << "set xrange [-0.6:" << static_cast<double>(plot.bars.size()) - 0.4 << "]\n$bars << END\n";
  for (std::size_t i = 0; i < plot.bars.size(); ++i) script << i << " " << plot.bars[i].second << "\n";
  script << "END\nset xtics (";
  for (std::size_t i = 0; i < plot.bars.size(); ++i)
    script << (i == 0 ? "" : ", ") << literal(plot.bars[i].first) << " " << i;
  script << ")\nplot $bars using 1:2 with boxes linecolor '#4472a8', $bars using 1:2:(sprintf($2 < 1000 ? '%.4g' : "
            "'%.0f', $2)) with labels "
            "offset 0,0.7\n";
  write_drawing(file, script.str());
}
