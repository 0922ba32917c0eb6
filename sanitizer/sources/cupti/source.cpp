// The CUPTI source in the watched process: counts kernel launches by name, notes the first of each with its
// stack, and finds casts that feed attention. The CUDA driver starts it when it is initialised
// (CUDA_INJECTION64_PATH); where it could not, because the library came later, start_late() does.
#include "sanitizer/runtime/source.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/runtime/watching.h"
#include "sanitizer/settings/settings.h"
#include "sanitizer/sources/cupti/launch_callback.h"
#include "sanitizer/sources/cupti/launch_frames.h"
#include "sanitizer/sources/cupti/libcupti.h"
#include "sanitizer/sources/cupti/session.h"
#include "sanitizer/sources/cupti/state.h"

namespace dtype_guard::san {
extern const Source cupti_source;
}

namespace dtype_guard::san::cupti {
namespace {

constinit Session session;
constinit LaunchSettings launch_settings;
// Since the subscription: off before that is a dormant start, which waits with the subscription held.
constinit std::atomic<bool> was_watching{false};

// The subscription was given back because watching was switched off, and is taken again once it is on.
constinit std::atomic<bool> given_back{false};

// Whether the options and the way in ask for launches at all.
bool is_wanted() {
  const Options& options = settings();
  if (!options.enabled || options.cupti == Switch::kOff) return false;
  // A bare preload leaves CUPTI to others; under the launcher the user has asked for a report.
  return options.cupti == Switch::kOn || getenv("DTYPE_SAN_COMMAND_PID") != nullptr;
}

void write_state() {
  if (Process* mapped = process()) record_source(*mapped, cupti_source);
}

void stop(const char* reason) {
  if (!session.is_on()) return;
  QuietSection quiet;
  session.stop(reason);
  write_state();
}

void give_back() {
  if (!session.is_on()) return;
  given_back.store(true, std::memory_order_release);
  stop("gave its place back: watching was switched off");
}

void on_callback(void*, std::uint32_t domain, std::uint32_t id, const void* data) {
  if (!session.is_on() || data == nullptr) return;
  Process* mapped = process();
  State* known = state.get();
  if (mapped == nullptr || known == nullptr) return;
  const bool watching = is_watching();
  if (domain == kResource) {
    if (watching) on_graph(*mapped, *known, id, data);
    return;
  }
  const auto& call = *static_cast<const CallbackData*>(data);
  on_launch(*mapped, *known, launch_settings, domain, id, call, watching);
  if (watching) {
    if (!was_watching.load(std::memory_order_relaxed)) was_watching.store(true, std::memory_order_relaxed);
  } else if (call.site == kExit && was_watching.load(std::memory_order_relaxed)) {
    give_back();  // on the way out of a call, where CUPTI allows to be detached
  }
}

// Once, and again after the subscription was given back: a failure stays one.
bool is_due() {
  return session.state() == SessionState::kNever || given_back.load(std::memory_order_acquire);
}

void start() {
  static constinit std::atomic<bool> starting{false};
  if (!is_wanted() || !is_due() || starting.exchange(true)) return;
  given_back.store(false, std::memory_order_release);
  Functions functions;
  TextBuffer<256> reason;
  if (find_cupti(functions, reason)) {
    launch_settings.driver = find_driver();
    launch_settings.times_casts = settings().cast_time && launch_settings.driver.has_events();
    was_watching.store(is_watching(), std::memory_order_relaxed);
    launch_settings.session.fetch_add(1, std::memory_order_relaxed);
    if (session.start(functions, on_callback, nullptr)) follow_calls();
  } else {
    session.refuse(reason.c_str());
  }
  write_state();
  starting.store(false);
}

template <typename Function>
Function real(const char* name) {
  void* address = find_in_cupti(name);
  Function function;
  memcpy(&function, &address, sizeof function);
  return function;
}

constexpr Result kNotInitialized = 15;

void start_late() {
  if (!is_due() || !is_wanted()) return;
  if (session.state() == SessionState::kNever && !is_driver_initialised()) return;
  QuietSection quiet;
  start();
}

void switched(bool on) {
  if (on) {
    if (given_back.load(std::memory_order_acquire)) start_late();
  } else {
    give_back();
  }
}

// Why the source was not started, where that is more than that CUDA was not used; empty otherwise.
void why_never(TextSink& reason) {
  if (settings().cupti == Switch::kOff) {
    reason << "option cupti=off";
    return;
  }
  const char* injected = getenv("CUDA_INJECTION64_PATH");
  if (injected != nullptr && strstr(injected, "libdtype_san") == nullptr) {
    reason << "CUDA_INJECTION64_PATH is '" << std::string_view(injected) << "': that tool keeps the place";
  } else if (has_runtime_without_driver()) {
    reason << "CUDA's runtime is loaded, its driver (libcuda.so.1) is not: this machine has none, or CUDA "
              "was not used";
  }
}

bool tell_status(SourceStatus& status) {
  if (session.state() == SessionState::kNever) {
    why_never(status.reason);
    return status.reason.size() != 0;
  }
  status.is_on = session.is_on();
  status.reason << session.reason();
  if (const State* known = state.known()) {
    status.graph_nodes = known->graphs.nodes();
    status.graph_launches = known->graphs.replays();
  }
  return true;
}

void finish(Process& process, Scratch& scratch) {
  State* known = state.known();
  if (session.state() == SessionState::kNever || known == nullptr) return;
  if (launch_settings.times_casts) known->cast_times.collect(launch_settings.driver, known->cast_links);
  write_launch_counts(process, scratch, *known);
  const auto note = [&](std::uint64_t count, const char* what) {
    if (count == 0) return;
    TextBuffer<160> text;
    text << count << what;
    write_note(process, scratch, text.view());
  };
  note(known->launches.uncounted(), " kernel launches were not counted: the table of kernel names was full");
  note(known->graphs.lost(),
       " launches in CUDA graphs have no count of replays: the table of graphs was full");
}

void enter(Process& process, const CallSlot& slot, const WatchedCall& call) {
  if (State* known = state.get())
    enter_call(thread_launch(*known, process, slot), static_cast<std::uint32_t>(call.api), call.operands,
               call.caller);
}

void leave(Process& process, const CallSlot& slot) {
  if (State* known = state.get()) leave_call(thread_launch(*known, process, slot));
}

}  // namespace
}  // namespace dtype_guard::san::cupti

namespace cupti = dtype_guard::san::cupti;

// The driver calls this once it is initialised, in a library that CUDA_INJECTION64_PATH names.
extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  dtype_guard::san::QuietSection quiet;
  cupti::start();
  return 1;
}

// Another client: it gets the place, whatever we were doing.
extern "C" [[gnu::visibility("default")]] cupti::Result cuptiSubscribe(cupti::Subscriber* subscriber,
                                                                       cupti::Callback callback,
                                                                       void* user_data) {
  cupti::stop("gave its place to another CUPTI client");
  const auto subscribe = cupti::real<decltype(cupti::Functions::subscribe)>("cuptiSubscribe");
  return subscribe != nullptr ? subscribe(subscriber, callback, user_data) : cupti::kNotInitialized;
}

extern "C" [[gnu::visibility("default")]] cupti::Result cuptiSubscribe_v2(
    cupti::Subscriber* subscriber, cupti::Callback callback, void* user_data,
    cupti::SubscriberParameters* parameters) {
  cupti::stop("gave its place to another CUPTI client");
  const auto subscribe = cupti::real<decltype(cupti::Functions::subscribe_v2)>("cuptiSubscribe_v2");
  return subscribe != nullptr ? subscribe(subscriber, callback, user_data, parameters)
                              : cupti::kNotInitialized;
}

namespace dtype_guard::san::cupti {
namespace {

void* stand_in(const char* name) {
  if (same_text(name, "cuptiSubscribe")) return reinterpret_cast<void*>(&cuptiSubscribe);
  if (same_text(name, "cuptiSubscribe_v2")) return reinterpret_cast<void*>(&cuptiSubscribe_v2);
  return nullptr;
}

// Another client of CUPTI, which asks for it by handle: it gets the function that makes room for it first.
// What the handle does not have it does not get from us.
LookupAnswer look_up(const Lookup& lookup) {
  const char* name = lookup.name;
  if (name == nullptr || lookup.handle == RTLD_NEXT || lookup.handle == RTLD_DEFAULT) return {};
  if (name[0] != 'c' || name[1] != 'u' || name[2] != 'p' || !is_wanted()) return {};
  void* ours = stand_in(name);
  return {ours != nullptr && lookup.real(lookup.handle, name) != nullptr, ours};
}

}  // namespace
}  // namespace dtype_guard::san::cupti

namespace dtype_guard::san {

constinit const Source cupti_source = {
    .name = "cupti",
    .start_late = cupti::start_late,
    .looked_up = cupti::look_up,
    .switched = cupti::switched,
    .wants_calls = cupti::is_wanted,
    .entered = cupti::enter,
    .left = cupti::leave,
    .finish = cupti::finish,
    .status = cupti::tell_status,
};

}  // namespace dtype_guard::san
