// The source for unmodified PyTorch jobs: one global callback of libtorch's record functions, added when
// libtorch has come into the process and its layout was found by the start test.
//
// Python asks dlsym for PyInit__C when it imports torch, with libtorch mapped and initialised: that starts
// it. A program that is linked with libtorch has it when this library is loaded.
#include "sanitizer/runtime/source.h"

#include <errno.h>
#include <stdlib.h>

#include "sanitizer/capture/python_frames.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/runtime/control.h"
#include "sanitizer/runtime/recorder.h"
#include "sanitizer/runtime/watching.h"
#include "sanitizer/settings/settings.h"
#include "sanitizer/sources/torch/callback_lock.h"
#include "sanitizer/sources/torch/callbacks.h"
#include "sanitizer/sources/torch/calls.h"
#include "sanitizer/sources/torch/forward_lines.h"
#include "sanitizer/sources/torch/operators.h"
#include "sanitizer/sources/torch/probe.h"
#include "sanitizer/sources/torch/recasts.h"
#include "sanitizer/sources/torch/record_reader.h"
#include "sanitizer/sources/torch/sites.h"
#include "sanitizer/sources/torch/step_sampling.h"
#include "sanitizer/sources/torch/storage_life.h"
#include "sanitizer/sources/torch/unseen_calls.h"

namespace dtype_guard::san {

extern const Source torch_source;

namespace torch {
namespace {

enum class State : std::uint8_t { kWaiting, kStarting, kOn, kRefused };
constinit std::atomic<State> state{State::kWaiting};
constinit bool has_origins = false;
constinit char refusal[256] = {};

Torch mode() {
  const Options& options = settings();
  if (!options.enabled) return Torch::kOff;
  Torch chosen = options.torch;
  if (chosen == Torch::kAuto)
    chosen = getenv("DTYPE_SAN_COMMAND_PID") != nullptr ? Torch::kOrigins : Torch::kChecks;
  return chosen == Torch::kOrigins && !options.origins ? Torch::kChecks : chosen;
}

bool make_tables(bool origins) {
  return start_thread_records() && operators.start() && sites.start() && (!origins || storage_life.start());
}

bool switch_on(const Library& library, TextSink& reason) {
  if (!probe(library, layout, reason)) return false;
  has_origins = mode() == Torch::kOrigins;
  if (!make_tables(has_origins)) {
    reason << "there is no memory for its tables";
    return false;
  }
  if (has_origins && was_joined()) lead_allocators_here();
  storage_life.switch_on(has_origins);
  start_forward_lines(library);
  find_python();
  (void)decide_watching();
  (void)add_callbacks(library, has_origins);
  if (has_origins && settings().torch_every > 1) start_step_sampling(library, settings().torch_every);
  return true;
}

// Libtorch is called here: not with signals blocked.
bool start() {
  State waiting = State::kWaiting;
  if (mode() == Torch::kOff || !state.compare_exchange_strong(waiting, State::kStarting)) return false;
  const int saved = errno;
  Library library;
  TextSink reason(refusal, sizeof refusal);
  const bool is_on = find_library(library, reason) && switch_on(library, reason);
  const State next = is_on ? State::kOn : library.is_mapped ? State::kRefused : State::kWaiting;
  state.store(next, std::memory_order_release);
  errno = saved;
  return next != State::kWaiting;
}

void tell() {
  QuietSection quiet;
  Process* mapped = process();
  if (mapped == nullptr) return;
  open_control();
  record_process(*mapped, nullptr, true);
  record_source(*mapped, torch_source);
}

bool is_mapped() {
  LoadedObject object;
  return find_object(kAddGlobalCallback, object);
}

bool status(SourceStatus& to);

void arrived(Arrival& arrival) {
  if (start() && state.load() == State::kOn) arrival.has_watched = true;
  SourceStatus now;
  if (arrival.joined && is_mapped() && status(now))
    arrival.said << (now.is_on ? "PyTorch is watched: " : "PyTorch is not watched: ") << now.reason.view();
}

LookupAnswer looked_up(const Lookup& lookup) {
  if (lookup.name == nullptr) return {};
  if (same_text(lookup.name, "PyInit__C")) {
    if (start()) tell();
    return {};
  }
  if (state.load(std::memory_order_acquire) != State::kOn || !is_unseen_module(lookup.name)) return {};
  void* made = watch_module(lookup.name, lookup.real(lookup.handle, lookup.name));
  return {made != nullptr, made};
}

bool status(SourceStatus& to) {
  switch (state.load(std::memory_order_acquire)) {
    case State::kOn:
      to.is_on = true;
      to.reason << "each call of an attention, rotary or cache operator that a contract speaks of, "
                << (has_origins ? "with the origins of its dtypes" : "without origins (torch=contracts)");
      if (has_origins && settings().torch_every > 1)
        to.reason << ", noted in one of " << std::uint64_t{settings().torch_every} << " optimizer steps";
      if (is_callback_lock_unknown())
        to.reason << "; a child that is forked while another thread computes may hang, for it is not known "
                     "which of libtorch's locks a fork has to hold";
      return true;
    case State::kRefused:
      to.reason << refusal;
      return true;
    default:
      if (settings().torch == Torch::kOff) {
        to.reason << "option torch=off";
        return true;
      }
      if (!is_mapped()) return false;
      to.reason
          << "libtorch came into the process later than dtype-san, and not by Python's import of torch where "
             "that is seen: none of its calls was looked at";
      return true;
  }
}

void note_limit(Process& process, Scratch& scratch, std::uint64_t count, const char* what) {
  if (count == 0) return;
  TextBuffer<256> text;
  text << "torch: " << count << what;
  write_note(process, scratch, text.view());
}

void finish(Process& process, Scratch& scratch) {
  write_recasts(process, scratch);
  write_unseen(process, scratch);
  note_limit(process, scratch, storage_life.without_room(),
             " storages found no room in the table of origins: none is claimed for them");
  note_limit(process, scratch, sites.without_room(),
             " operators found no room in the table of places: none is claimed for what they gave");
}

}  // namespace
}  // namespace torch

constinit const Source torch_source = {.name = "torch",
                                       .arrived = torch::arrived,
                                       .looked_up = torch::looked_up,
                                       .finish = torch::finish,
                                       .status = torch::status};

}  // namespace dtype_guard::san
