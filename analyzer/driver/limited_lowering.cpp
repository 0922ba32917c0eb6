#include "analyzer/driver/limited_lowering.h"

#include <unistd.h>

#include <atomic>
#include <future>
#include <iostream>
#include <memory>
#include <thread>
#include <utility>

namespace dtype_guard::driver {

namespace {
std::atomic<bool> given_up = false;
}

std::optional<source::LoweredSource> lower_within(std::chrono::seconds limit,
                                                  std::function<source::LoweredSource()> lower) {
  struct Work {  // outlives a caller that does not wait
    std::function<source::LoweredSource()> lower;
    std::promise<source::LoweredSource> result;
  };
  auto work = std::make_shared<Work>(Work{std::move(lower), {}});
  std::future<source::LoweredSource> result = work->result.get_future();
  std::thread([work] {
    try {
      work->result.set_value(work->lower());
    } catch (...) {
      work->result.set_exception(std::current_exception());
    }
  }).detach();
  if (result.wait_for(limit) == std::future_status::ready) return result.get();
  given_up = true;
  return std::nullopt;
}

void leave_process(int status) {
  if (!given_up) return;
  std::cout << std::flush;
  std::cerr << std::flush;
  ::_exit(status);
}

}  // namespace dtype_guard::driver
