#include "problem.hpp"

#include <algorithm>
#include <iterator>

namespace kernel_problems {

const std::vector<NamedProblem>& all_problems() {
  static const std::vector<NamedProblem> all = [] {
    std::vector<NamedProblem> problems;
    for (auto&& field : {sums_and_scans(), sorts_and_counts(), grids_and_images(), linear_algebra(), arithmetic()})
      std::copy(field.begin(), field.end(), std::back_inserter(problems));
    return problems;
  }();
  return all;
}

const NamedProblem& problem(const std::string& name) {
  const auto& all = all_problems();
  const auto found = std::find_if(all.begin(), all.end(), [&](const NamedProblem& one) { return one.name == name; });
  static const NamedProblem& of_gfx950 = *new NamedProblem(fp8_product());
  if (name == of_gfx950.name) return of_gfx950;
  if (found == all.end()) throw std::runtime_error("no problem is called '" + name + "'");
  return *found;
}

}  // namespace kernel_problems
