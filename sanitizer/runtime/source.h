// A source: one thing that the library watches (copies of flash_ref, CUDA's launches), in a folder of
// sources/ of its own. Recorder, dlsym hook and switch know sources only through a constant table, which
// load.cpp assembles: hooks may run before any constructor of ours.
//
// How to add one: the folder sources/ID with files.cmake, which names its files, one of which defines
//   extern const Source ID_source;
//   constinit const Source ID_source = {.name = "ID", ...};
// and a row in sources/sources.inc. A function that it has no need of is left out. All may be called on any
// thread, none on the clean path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sanitizer/contracts/watched_call.h"
#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/process/process.h"

namespace dtype_guard::san {

// The library has come into the process. What sources find there is added up.
struct Arrival {
  bool joined = false;                  // by `dtype-san attach`, into a program that runs
  bool has_watched = false;             // there is something to watch already: the journal is opened now
  const char* remark = nullptr;         // for the journal: what will not be seen
  std::uint32_t observed_copies = 0;    // these three are what `attach` tells the user
  std::uint32_t unobserved_copies = 0;  // of watched libraries
  std::uint32_t bound_calls = 0;
  TextBuffer<400> said{};  // and this, a sentence of what a source watches or does not; empty: nothing
};

using DlsymFunction = void* (*)(void* handle, const char* name);

// A call of dlsym.
struct Lookup {
  void* handle;
  const char* name;       // may be null
  std::uintptr_t caller;  // return address
  DlsymFunction real;     // dlsym as it is without us
};
struct LookupAnswer {
  bool is_given = false;  // `value` is what dlsym returns
  void* value = nullptr;
};

// What the report says in its line of sources.
struct SourceStatus {
  bool is_on = false;
  bool is_refused = false;   // off, though what it watches is in the process: its calls were not looked at
  TextBuffer<512> reason{};  // why it is off, or what it sees while it is on; empty: the text of its row
  std::uint64_t graph_nodes = 0;
  std::uint64_t graph_launches = 0;
};

struct Source {
  std::string_view name;

  // At load, before anything else; also where watching is not enabled.
  void (*loaded)() = [] {};
  // At load, once the options are known and watching is enabled.
  void (*arrived)(Arrival&) = [](Arrival&) {};

  // Start now what is to be started and was not: after `arrived` in a process that was joined, at the first
  // call of each watched API, as watching is switched on by the program, and at each followed call. Cheap
  // when there is nothing to do.
  void (*start_late)() = [] {};

  // dlsym was called. Every name comes by, also before the process has begun: compare with same_text(), and
  // call nothing before the name fits (an address sanitizer looks up its own functions through this). The
  // first answer that is given counts.
  LookupAnswer (*looked_up)(const Lookup&) = [](const Lookup&) { return LookupAnswer{}; };

  // In a forked child, as fork returns there. What lies in a WipedInChild is empty by then.
  void (*forked)() = [] {};

  // The program switched watching in its own process (dtype_san_switch). `dtype-san on`, `off` and `detach`
  // switch from outside, which no function is told of: is_watching() says so at the next event.
  void (*switched)(bool on) = [](bool) {};

  // True when the options ask to be told of calls, see below.
  bool (*wants_calls)() = [] { return false; };
  // A thread enters a watched call, and leaves it: after follow_calls(), for copies with an observer slot.
  void (*entered)(Process&, const CallSlot&, const WatchedCall&) = [](Process&, const CallSlot&,
                                                                      const WatchedCall&) {};
  void (*left)(Process&, const CallSlot&) = [](Process&, const CallSlot&) {};
  // From now on some source is told of calls.
  void (*following)() = [] {};

  // The journal has just been opened, or describes a process that grew: frames that others refer to.
  void (*describe)(Process&, Scratch&) = [](Process&, Scratch&) {};
  // The process ends, or becomes another program: final counts and notes.
  void (*finish)(Process&, Scratch&) = [](Process&, Scratch&) {};
  // For the line of sources, after `finish` and at each record_source(). False when there is nothing to say
  // but what the row in sources.inc does.
  bool (*status)(SourceStatus&) = [](SourceStatus&) { return false; };
};

// The table, in the order of the rows.
std::span<const Source* const> sources();

// Asks all of them.
void start_sources_late();
void describe_sources(Process& process, Scratch& scratch);
// Some source is to be told of calls from now on.
void follow_calls();

// Writes the source's status to the journal, which is opened for that.
void record_source(Process& process, const Source& source);
void write_source(Process& process, Scratch& scratch, const Source& source);

// strcmp without libc.
inline bool same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace dtype_guard::san
