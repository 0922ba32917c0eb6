// A Report is what one run of either tool says: its findings, what it could not analyse, and (at run time)
// what it watched. Writers turn it into text for people or JSON for tools; the JSON reader gives the same
// Report back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rules/finding/finding.h"
#include "rules/report/shown_frames.h"

namespace dtype_guard {

struct NotAnalysed {
  std::string file;
  std::string function;
  std::string reason;  // "parse-error", "budget", "crash", "unreadable"
  std::string detail;
};

// dtype-lint: a call that has a contract, and what of its operands was known. One that was not reached, or
// has an operand of unknown dtype, is not decided.
struct CheckedCall {
  std::string api;
  SourceLocation location;
  bool reached = true;
  std::uint64_t operands = 0;             // that arrived there
  std::vector<std::string> unknown = {};  // roles
  std::string given_up = {};              // not reached: a function over its budget that comes to it
  bool decided() const { return reached && unknown.empty(); }
};

// dtype-lint: a call that is spelt like attention and left no CheckedCall.
struct UnseenCall {
  std::string name;  // "LlamaAttention"
  SourceLocation location;
  std::string cause;   // "library", "unknown", "budget", "outside" of functions, "errors" in the file
  std::string detail;  // the library; the function over its budget
};

struct WatchedProcess {
  std::int64_t pid = 0;
  std::string command;
  std::string host;
  bool complete = true;          // the process wrote its closing frame
  std::uint64_t hook_us = 0;     // spent in records, where the process was complete
  std::string replaced_by = {};  // the command that it became by exec
  bool joined = false;           // while it ran: what it did before was not seen
};
struct WatchedLibrary {
  std::string name;
  std::string path;
};
struct WatchedSource {
  std::string name;  // "flash_ref", "torch", "cupti"
  bool on = false;
  std::string why;
};
struct Watched {
  std::vector<WatchedProcess> processes;
  std::vector<WatchedLibrary> libraries;
  std::map<std::string, std::uint64_t> calls;  // API -> calls seen
  std::vector<WatchedSource> sources;
};

struct Report {
  std::string tool;          // "dtype-lint" or "dtype-san"
  std::string tool_version;  // "0.1.0"
  std::string root;
  std::vector<Finding> findings;
  std::vector<NotAnalysed> not_analysed;
  std::vector<CheckedCall> calls;
  std::vector<UnseenCall> unseen;
  std::vector<std::string> files;  // dtype-lint: those analysed
  std::optional<Watched> watched;
  std::uint64_t files_analysed = 0;  // summary.files
};

// Sorts by file, line, column, rule, and makes fingerprints unique: a finding without one gets it, and the
// second, third, ... of equals get their ordinal. Call once, before writing; a second call changes nothing.
void normalise(Report& report);
// The fingerprints that a finding may have, its own first: among equal ones its ordinal, and so its
// fingerprint, depends on what else was analysed. Only its own where the first is unknown, as in a report
// that was read.
std::vector<std::string> equal_fingerprints(const Finding& finding, int count);

// Neither suppressed nor known from the baseline nor gone: to be looked at.
bool is_open(const Finding& finding);
// An entry that makes the exit status 3: a whole file (or journal) is missing from the report, in part or
// wholly.
bool is_failure(const NotAnalysed& entry);
// The reason of an entry for calls that were counted and no more than that, of the function that it names.
inline constexpr std::string_view kNotSeen = "not-seen";
// Those functions, for a closing line: "; not seen: calls of NAME, NAME", or empty.
std::string not_seen(const Report& report);
// The reason of an entry for a notebook whose cells are in another language.
inline constexpr std::string_view kOtherLanguage = "language";
// The reason of an entry for a call that is not decided.
inline constexpr std::string_view kUndecided = "undecided";

// What the closing lines and the exit status rest on. Suppressed and unchanged findings are in no level's
// count.
struct Summary {
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;
  std::uint64_t notes = 0;
  std::uint64_t suppressed = 0;
  std::uint64_t unchanged = 0;  // known from the baseline
  std::uint64_t fixed = 0;      // in the baseline and gone
  std::uint64_t not_analysed = 0;
  std::uint64_t files = 0;
  std::uint64_t calls = 0;      // to watched kernels, or to functions that have a contract
  std::uint64_t undecided = 0;  // of the latter
  std::uint64_t operands = 0;   // that arrived at these
  std::uint64_t known = 0;      // of those, with a dtype on every way
  std::uint64_t unseen = 0;     // calls spelt like attention that left no record
};
Summary summarise(const Report& report);

struct TextOptions {
  bool color = false;
  bool quiet = false;       // findings and what failed, no summary line
  bool statistics = false;  // counts by rule in place of the findings
  Frames frames = Frames::kFolded;
};

// As clang prints: "file:line:col: error: message [rule]", the source line, a caret, the path as notes, and
// at run time the backtrace. Source lines are read from disk below report.root; an unreadable file just omits
// them.
void write_text(std::ostream& out, const Report& report, const TextOptions& options);
// "schema": "dtype-guard/report/1", two-space indentation, members in the schema's order, final newline.
void write_json(std::ostream& out, const Report& report);

// The JSON Schema of that format, as text (report.schema.json).
std::string_view report_schema();

class ReportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// Throws ReportError with what was found, where (JSON pointer or line), and what was expected.
Report read_json(std::string_view text, const std::string& file);

}  // namespace dtype_guard
