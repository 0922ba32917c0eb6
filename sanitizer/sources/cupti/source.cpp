#include "sanitizer/sources/cupti/source.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "sanitizer/capture/loaded_object.h"
#include "sanitizer/runtime/journal_writer.h"
#include "sanitizer/runtime/launch_frames.h"
#include "sanitizer/runtime/settings.h"
#include "sanitizer/sources/call_check.h"
#include "sanitizer/sources/cupti/session.h"

namespace dtype_guard::san::cupti {

namespace {

constinit Session session;
constinit std::atomic<std::uint64_t> graph_nodes{0};
constinit std::atomic<std::uint64_t> graph_launches{0};

// Not through std::string_view's members that may throw, which need libstdc++.
const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool has_prefix(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

// As a loaded libc has it: a reference here would ask for the newest version of the symbol.
void* open_library(const char* path) {
  void* (*open)(const char*, int) = nullptr;
  each_loaded_object([&](const LoadedObject& object) {
    const char* name = file_name(object.path);
    if (!has_prefix(name, "libc.so.6") && !has_prefix(name, "libdl.so.2")) return true;
    void* address = object.find_function("dlopen");
    memcpy(&open, &address, sizeof open);
    return open == nullptr;
  });
  return open != nullptr ? open(path, RTLD_LAZY | RTLD_LOCAL) : nullptr;
}

// The functions of the libcupti that is loaded; a second copy beside it would see nothing and disturb it.
bool find_loaded(Functions& functions) {
  bool found = false;
  each_loaded_object([&](const LoadedObject& object) {
    if (!has_prefix(file_name(object.path), "libcupti.so")) return true;
    const auto take = [&](auto& function, const char* name) {
      void* address = object.find_function(name);
      memcpy(&function, &address, sizeof function);
    };
    take(functions.subscribe, "cuptiSubscribe");
    take(functions.subscribe_v2, "cuptiSubscribe_v2");
    take(functions.unsubscribe, "cuptiUnsubscribe");
    take(functions.enable_callback, "cuptiEnableCallback");
    take(functions.result_string, "cuptiGetResultString");
    found = true;
    return false;
  });
  return found;
}

// The path of libcupti as NVIDIA's layouts have it beside libcudart: in the same folder (CUDA 13 wheels), in
// a toolkit's extras, in a sibling package (CUDA 12 wheels). Of the same major version, which the file's name
// ends with.
void open_beside_runtime() {
  TextBuffer<1024> folder;
  TextBuffer<32> version;
  each_loaded_object([&](const LoadedObject& object) {
    constexpr char kRuntime[] = "libcudart.so";
    const char* name = file_name(object.path);
    if (!has_prefix(name, kRuntime)) return true;
    folder << std::string_view(object.path, static_cast<std::size_t>(name - object.path));
    for (const char* c = name + sizeof kRuntime - 1; *c != '\0'; ++c) {
      if (*c == '.' && version.size() > 0) break;
      version << *c;
    }
    return false;
  });
  if (folder.size() == 0) return;
  for (const std::string_view place : {"", "../extras/CUPTI/lib64/", "../../cuda_cupti/lib/"}) {
    TextBuffer<1200> path;
    path << folder.view() << place << "libcupti.so" << version.view();
    if (open_library(path.c_str()) != nullptr) return;
  }
}

void write_state() {
  Process* mapped = process();
  if (mapped != nullptr)
    record_source(*mapped,
                  {"cupti", session.is_on(), session.reason(), graph_nodes.load(std::memory_order_relaxed),
                   graph_launches.load(std::memory_order_relaxed)});
}

// A launch by the runtime comes twice, once more from the driver's entry point inside it: the outer one
// counts.
bool is_outermost(Process& process, CallbackSite site) {
  CallSlot* slot = call_slot(process);
  if (slot == nullptr) return site == kEnter;
  const std::uint32_t depth = slot->launch_depth.load(std::memory_order_relaxed);
  if (site == kExit) {
    if (depth > 0) slot->launch_depth.store(depth - 1, std::memory_order_relaxed);
    return false;
  }
  slot->launch_depth.store(depth + 1, std::memory_order_relaxed);
  return depth == 0;
}

void on_callback(void*, std::uint32_t domain, std::uint32_t id, const void* data) {
  if (!session.is_on()) return;
  if (domain == kResource) {
    if (id == kGraphNodeCreated) graph_nodes.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Process* mapped = process();
  if (mapped == nullptr) return;
  const auto& call = *static_cast<const CallbackData*>(data);
  // Kept also while watching is off: a thread may be inside a launch when that is switched.
  if (!is_outermost(*mapped, call.site) || !is_watching()) return;
  if (call.symbol_name == nullptr) {
    graph_launches.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::string_view name = call.symbol_name;
  const Launches::Seen seen = mapped->launches.count(name);
  if (seen.count == 1) record_launch(*mapped, seen.index, name);
}

bool is_wanted() {
  const Options& options = settings();
  if (!options.enabled || options.cupti == Switch::kOff) return false;
  // A bare preload leaves CUPTI to others; under the launcher the user has asked for a report.
  return options.cupti == Switch::kOn || getenv("DTYPE_SAN_COMMAND_PID") != nullptr;
}

void start() {
  if (!is_wanted()) return;
  Functions functions;
  if (!find_loaded(functions)) {
    open_beside_runtime();
    (void)find_loaded(functions);
  }
  (void)session.start(functions, on_callback, nullptr);
  write_state();
}

void step_back() {
  if (!session.is_on()) return;
  QuietSection quiet;
  session.stop("gave its place to another CUPTI client");
  write_state();
}

template <typename Function>
Function real(const char* name) {
  void* address = nullptr;
  each_loaded_object([&](const LoadedObject& object) {
    if (has_prefix(file_name(object.path), "libcupti.so")) address = object.find_function(name);
    return address == nullptr;
  });
  Function function;
  memcpy(&function, &address, sizeof function);
  return function;
}

constexpr Result kNotInitialized = 15;

}  // namespace

void record_end(Process& process, Scratch& scratch) {
  if (session.state() == SessionState::kNever) return;
  write_launch_counts(process, scratch);
  if (const std::uint64_t uncounted = process.launches.uncounted(); uncounted != 0) {
    TextBuffer<128> text;
    text << uncounted << " kernel launches were not counted: the table of kernel names was full";
    FrameBuilder note(scratch.frame, FrameType::kNote);
    note.text(text.view());
    (void)append_frame(process, note, scratch);
  }
  write_source(process, scratch,
               {"cupti", session.is_on(), session.reason(), graph_nodes.load(std::memory_order_relaxed),
                graph_launches.load(std::memory_order_relaxed)});
}

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
  cupti::step_back();
  const auto subscribe = cupti::real<decltype(cupti::Functions::subscribe)>("cuptiSubscribe");
  return subscribe != nullptr ? subscribe(subscriber, callback, user_data) : cupti::kNotInitialized;
}

extern "C" [[gnu::visibility("default")]] cupti::Result cuptiSubscribe_v2(
    cupti::Subscriber* subscriber, cupti::Callback callback, void* user_data,
    cupti::SubscriberParameters* parameters) {
  cupti::step_back();
  const auto subscribe = cupti::real<decltype(cupti::Functions::subscribe_v2)>("cuptiSubscribe_v2");
  return subscribe != nullptr ? subscribe(subscriber, callback, user_data, parameters)
                              : cupti::kNotInitialized;
}
