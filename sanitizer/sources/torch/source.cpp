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
#include "sanitizer/sources/torch/bound_operators.h"
#include "sanitizer/sources/torch/callback_lock.h"
#include "sanitizer/sources/torch/callbacks.h"
#include "sanitizer/sources/torch/calls.h"
#include "sanitizer/sources/torch/forward_lines.h"
#include "sanitizer/sources/torch/job_end.h"
#include "sanitizer/sources/torch/operators.h"
#include "sanitizer/sources/torch/origin_windows.h"
#include "sanitizer/sources/torch/probe.h"
#include "sanitizer/sources/torch/recasts.h"
#include "sanitizer/sources/torch/record_reader.h"
#include "sanitizer/sources/torch/sites.h"
#include "sanitizer/sources/torch/stand_ins.h"
#include "sanitizer/sources/torch/storage_life.h"
#include "sanitizer/sources/torch/unread_calls.h"
#include "sanitizer/sources/torch/unseen_calls.h"
#include "sanitizer/sources/torch/written_casts.h"

namespace dtype_guard::san {

extern const Source torch_source;

namespace torch {
namespace {

enum class State : std::uint8_t { kWaiting, kStarting, kOn, kRefused };
constinit std::atomic<State> state{State::kWaiting};
constinit char refusal[256] = {};

bool is_launched() { return getenv("DTYPE_SAN_COMMAND_PID") != nullptr; }

// The one rule of options torch, origins, torch_every and torch_ms.
struct Plan {
  Torch mode = Torch::kOff;  // not kAuto
  WindowPlan windows;
  bool has_origins() const { return mode == Torch::kOrigins || windows.kind != Windows::kNone; }
};

Plan plan_of(const Options& options) {
  Plan plan;
  if (!options.enabled) return plan;
  const bool is_auto = options.torch == Torch::kAuto;
  plan.mode = !is_auto ? options.torch : is_launched() ? Torch::kOrigins : Torch::kCalls;
  if (plan.mode == Torch::kOrigins && !options.origins) plan.mode = Torch::kChecks;
  const bool may_sample = options.origins && (plan.mode == Torch::kOrigins || plan.mode == Torch::kCalls);
  if (plan.mode == Torch::kCalls) plan.windows.add_callback = [] { return add_callbacks(libtorch, true); };
  if (may_sample && options.torch_every > 1) {
    plan.windows.kind = Windows::kSteps;
    plan.windows.every = options.torch_every;
  } else if (may_sample && is_auto && plan.mode == Torch::kCalls && options.torch_ms != 0) {
    plan.windows.kind = Windows::kTimed;
    plan.windows.milliseconds = options.torch_ms;
  }
  return plan;
}

constinit Plan plan;
constinit bool has_thunks = false;

bool make_tables(bool origins) {
  return start_thread_records() && operators.start() && sites.start() && (!origins || storage_life.start());
}

// Where no call goes through a slot, as in a program that has libtorch in itself, auto is contracts.
bool lead_calls(TextSink& reason) {
  if (plan.mode != Torch::kCalls) return true;
  has_thunks = lead_operators_here(reason);
  if (has_thunks || settings().torch == Torch::kCalls) return has_thunks;
  reason.clear();
  plan = {.mode = Torch::kChecks, .windows = {}};
  return true;
}

bool switch_on(const Library& library, TextSink& reason) {
  if (!probe(library, layout, reason)) return false;
  libtorch = library;
  find_callback_lock(library);
  if (!make_tables(plan.has_origins())) {
    reason << "there is no memory for its tables";
    return false;
  }
  find_python();
  // Other threads of a job that goes on come through the slots from here on, so all that calls need is there.
  if (!lead_calls(reason)) return false;
  const bool origins = plan.has_origins();
  if (origins && was_joined()) lead_allocators_here();
  storage_life.switch_on(origins);
  if (plan.mode != Torch::kCalls || origins) start_forward_lines(library);
  (void)decide_watching();
  if (!has_thunks) (void)add_callbacks(library, origins);
  if (plan.windows.kind != Windows::kNone) start_windows(plan.windows);
  return true;
}

// Libtorch is called here: not with signals blocked.
bool start() {
  State waiting = State::kWaiting;
  if (plan_of(settings()).mode == Torch::kOff || !state.compare_exchange_strong(waiting, State::kStarting))
    return false;
  plan = plan_of(settings());
  const int saved = errno;
  Library library;
  TextSink reason(refusal, sizeof refusal);
  bool is_on = find_library(library, reason);
  if (is_on && was_joined()) {
    const JobGoesOn goes_on;
    is_on = !is_python_ending(reason) && switch_on(library, reason);
  } else if (is_on) {
    is_on = switch_on(library, reason);
  }
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
  if (start()) arrival.has_watched = true;  // one in which it is refused says so, as one of Python's does
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

void tell_windows(TextSink& reason) {
  if (plan.windows.kind == Windows::kSteps)
    reason << "noted in one of " << plan.windows.every << " optimizer steps";
  if (plan.windows.kind == Windows::kTimed)
    reason << "noted for " << plan.windows.milliseconds << " ms of each second";
}

void tell_bound(TextSink& reason) {
  const BoundOperators all = bound_operators();
  reason << "calls of " << std::uint64_t{all.operators} << " attention operators of PyTorch's own through "
         << std::uint64_t{all.slots} << " jump slots, entered " << all.entered << " times (torch=calls). ";
  if (plan.has_origins()) {
    reason << "Origins are ";
    tell_windows(reason);
    reason << ", in which all calls are checked that a contract speaks of. ";
  }
  reason << "Not seen" << (plan.has_origins() ? " at other times" : "")
         << ": operators of libraries, autograd Functions, compiled code, objects that are loaded later"
         << (all.has_unread ? ", some masks" : "") << (plan.has_origins() ? "" : ", origins");
}

bool status(SourceStatus& to) {
  switch (state.load(std::memory_order_acquire)) {
    case State::kOn:
      to.is_on = true;
      if (has_thunks) {
        tell_bound(to.reason);
      } else {
        to.reason << "each call of an attention, rotary or cache operator that a contract speaks of, "
                  << (plan.has_origins() ? "with the origins of its dtypes"
                                         : "without origins (torch=contracts)");
        if (plan.windows.kind != Windows::kNone) to.reason << ", ";
        tell_windows(to.reason);
      }
      if (is_callback_lock_unknown())
        to.reason << "; a child that is forked while another thread computes may hang, for it is not known "
                     "which of libtorch's locks a fork has to hold";
      return true;
    case State::kRefused:
      to.is_refused = true;
      to.reason << refusal;
      return true;
    default:
      if (settings().torch == Torch::kOff) {
        to.reason << "option torch=off";
        return true;
      }
      if (!is_mapped()) return false;
      to.is_refused = true;
      to.reason
          << "libtorch came into the process later than dtype-san, and not by Python's import of torch where "
             "that is seen: none of its calls was looked at";
      return true;
  }
}

// A child tells of what it does itself.
void forked() {
  forget_recasts();
  forget_written_casts();
  forget_unseen();
  forget_unread();
  forget_bound_calls();
}

constinit std::atomic<std::uint64_t> told_storages{0}, told_operators{0};

void note_limit(Process& process, Scratch& scratch, std::uint64_t count, std::atomic<std::uint64_t>& told,
                const char* what) {
  if (told.exchange(count, std::memory_order_relaxed) == count) return;
  TextBuffer<256> text;
  text << "torch: " << count << what;
  write_note(process, scratch, text.view());
}

void finish(Process& process, Scratch& scratch) {
  write_recasts(process, scratch);
  write_written_casts(process, scratch);
  write_unseen(process, scratch);
  write_unread(process, scratch);
  write_stand_ins(process, scratch);
  write_untold(process, scratch);
  note_limit(process, scratch, storage_life.without_room(), told_storages,
             " storages found no room in the table of origins: none is claimed for them");
  note_limit(process, scratch, sites.without_room(), told_operators,
             " operators found no room in the table of places: none is claimed for what they gave");
}

}  // namespace
}  // namespace torch

constinit const Source torch_source = {.name = "torch",
                                       .arrived = torch::arrived,
                                       .looked_up = torch::looked_up,
                                       .forked = torch::forked,
                                       .finish = torch::finish,
                                       .status = torch::status};

}  // namespace dtype_guard::san
