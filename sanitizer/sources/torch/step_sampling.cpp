#include "sanitizer/sources/torch/step_sampling.h"

#include <string.h>

#include <atomic>

#include "sanitizer/sources/torch/origins.h"
#include "sanitizer/sources/torch/storage_life.h"

namespace dtype_guard::san::torch {
namespace {

constinit std::uint64_t sampled_every = 1;
constinit std::atomic<std::uint64_t> steps{0};

ContextPointer on_step_start(const Record&) { return {nullptr}; }

void on_step_end(const Record& record, Context*) {
  constexpr char kStep[] = "Optimizer.step#";
  if (strncmp(libtorch.name(&record), kStep, sizeof kStep - 1) != 0) return;
  const std::uint64_t step = steps.fetch_add(1, std::memory_order_acq_rel) + 1;
  const bool is_sampled = step % sampled_every == 0;
  if (is_sampled == notes_origins.load(std::memory_order_relaxed)) return;
  // What lived and died meanwhile was not announced.
  if (is_sampled) storage_life.clear();
  storage_life.switch_on(is_sampled);
  notes_origins.store(is_sampled, std::memory_order_release);
}

}  // namespace

void start_step_sampling(const Library& library, std::uint64_t every) {
  sampled_every = every;
  Callback callback;
  callback.start = on_step_start;
  callback.end = on_step_end;
  callback.scopes[static_cast<std::size_t>(Scope::kUserScope)] = true;
  (void)library.add_callback(callback);
}

}  // namespace dtype_guard::san::torch
