// What a journal holds, as its reader gives it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rules/dtype/dtype_set.h"

namespace dtype_guard::san {

struct JournalProcess {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  std::uint64_t opened_ns = 0;
  std::optional<int> rank;
  std::string host;
  std::string executable;
  std::string command;
  std::string version;
  std::uint64_t started = 0;  // clock ticks since boot; 0: unknown
  bool joined = false;        // while it ran
};

struct JournalModule {
  std::uint64_t bias = 0;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::string build_id;  // bytes
  std::uint64_t size = 0;
  std::uint64_t modified = 0;
  std::string path;
};

struct JournalOperand {
  std::string role;
  std::uint32_t flags = 0;   // OperandFlag
  std::uint32_t packed = 0;  // DLPack's three numbers
  DtypeSet accepts;
  int same_as = -1;
  std::uint32_t device_type = 0;
  std::uint32_t device_id = 0;
  std::vector<std::int64_t> shape;
};

struct JournalAddress {
  std::uint32_t module = 0;
  std::uint64_t pc = 0;
};

struct JournalPythonFrame {
  std::string file;
  std::string function;
  std::uint32_t line = 0;
  bool from_c = false;  // the next C frame of the evaluation loop belongs to its caller
};

struct JournalOrigin {
  std::uint32_t operand = 0;
  std::uint32_t packed = 0;          // the dtype that was written
  std::vector<std::uint32_t> sites;  // of Journal::sites, the writer first
};

// A finding, or the first call of a site, which has no origins.
struct JournalFinding {
  std::uint32_t index = 0;
  std::string api;
  std::uint64_t thread = 0;
  std::uint64_t time_ns = 0;
  std::vector<JournalOperand> operands;
  std::vector<JournalAddress> stack;  // return addresses, innermost first
  std::vector<JournalPythonFrame> python;
  std::vector<JournalOrigin> origins;
  std::optional<std::size_t> reinterpreted;  // operand whose bits were written as another dtype
  std::uint32_t forward = 0;                 // in a backward call: of Journal::sites, or kForwardUnknown
  std::uint32_t without_origin = 0;          // a bit for each operand, where origins are noted
  std::map<std::size_t, std::uint32_t> first_uses;  // of these: of Journal::sites, or as journal.h says
  std::uint64_t count = 1;
};

struct JournalKernel {
  std::string api;
  std::uint32_t module = 0;
};

struct JournalLibrary {
  std::string name;
  std::uint32_t module = 0;
};

// The first launch of a CUDA kernel: its name stands in the API's place. The operands are those of the
// watched call that it was launched in, none outside.
struct JournalLaunch {
  struct Match {
    std::uint32_t operand = 0;  // whose address stands in
    std::uint32_t parameter = 0;
    std::uint32_t offset = 0;
  };
  JournalFinding place;
  std::string call;  // the watched call's API; empty outside
  bool has_arguments = false;
  std::vector<Match> matches;
  std::uint64_t captured = 0;  // of place.count: into graphs, where nothing runs
  std::uint64_t replayed = 0;  // by graphs

  // How often the kernel ran.
  std::uint64_t runs() const { return (place.count > captured ? place.count - captured : 0) + replayed; }
};

// The first time that a cast wrote what an attention kernel then read; `place` is that kernel's launch.
struct JournalCast {
  JournalFinding place;
  std::uint32_t cast = 0;       // index of its launch
  std::uint32_t attention = 0;  // likewise
  std::uint32_t role = 0;       // 0 q, 1 k, 2 v
  std::uint64_t elements = 0;
  std::uint32_t element_size = 0;
  std::uint32_t x_type = 0;  // at::ScalarType + 1; 0: as the cast's name says
  std::uint32_t out_type = 0;
  std::uint64_t timed = 0;  // of place.count
  std::uint64_t ns = 0;     // that these took together
};

struct JournalSource {
  std::string name;
  bool on = false;
  bool is_refused = false;  // off in a process that has what it watches
  std::string reason;       // why it is off
  std::uint64_t graph_nodes = 0;
  std::uint64_t graph_launches = 0;
};

struct Journal {
  std::string file;
  std::optional<JournalProcess> process;
  std::map<std::uint32_t, JournalModule> modules;
  std::vector<JournalKernel> kernels;
  std::vector<JournalLibrary> libraries;  // watched by an observer slot, called or not
  std::vector<JournalFinding> findings;
  std::map<std::uint32_t, JournalFinding> sites;
  std::map<std::string, std::uint64_t> calls;
  std::map<std::string, std::uint64_t> unseen;  // of functions whose operands were not looked at
  std::vector<JournalLaunch> launches;
  std::vector<JournalCast> casts;
  std::vector<JournalSource> sources;  // those that said how they fared, each once, the last word
  std::vector<std::string> notes;
  std::uint64_t unrecorded = 0;  // distinct findings that the process did not write
  std::uint64_t lost = 0;        // those of them that it could not write
  std::string loss_reason;
  bool closed = false;                // the process ended by exit
  std::optional<std::string> exec;    // or became the program at this path, with all counts written
  std::uint64_t hook_ns = 0;          // spent in records, if closed
  std::vector<std::string> problems;  // one sentence each, without the file's name
};

}  // namespace dtype_guard::san
