// Prints the first element of 2 x + y for x = 3 and y = 4.
#include <fastdispatch/fastdispatch.hpp>
#include <saxpy_code_object.hpp>

#include <algorithm>
#include <iostream>

namespace fd = fastdispatch;

int main() {
  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu();
  const fd::Module module = fd::Module::load(gpu, code_objects::saxpy(), "saxpy");
  fd::PinnedBuffer<float> x(gpu, 1000);
  fd::PinnedBuffer<float> y(gpu, 1000);
  std::fill(x.begin(), x.end(), 3.0F);
  std::fill(y.begin(), y.end(), 4.0F);
  fd::Queue queue(gpu);
  queue.dispatch(module.kernel<void(const float*, float*, unsigned)>("saxpy"), fd::grid(1000), x, y, 1000U).wait();
  std::cout << y[0] << "\n";
}
