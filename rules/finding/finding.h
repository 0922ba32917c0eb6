// A Finding is one defect: a rule, the place to edit, the call it reaches, the operands with their dtypes,
// and the path between. Both tools produce it and every report format is written from it. Members carry the
// names of the JSON report (rules/report/report.schema.json), where each is described.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dtype_guard {

enum class Level : std::uint8_t { kError, kWarning, kNote };
enum class Certainty : std::uint8_t { kDefinite, kPossible };

// A place in a cell of a Jupyter notebook, in the source that a person sees. Cells count from 1, those of
// text too.
struct NotebookCell {
  int number = 0;
  int line = 0;
  int column = 0;
  int end_line = 0;
  int end_column = 0;
};

// Lines and columns count from 1, columns in UTF-8 bytes, ends exclusive; 0 means unknown. `file` is relative
// to the report's root when inside it, else absolute. Lines are those of the file, of a notebook too.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  int end_line = 0;
  int end_column = 0;
  std::string function;
  std::optional<NotebookCell> cell = {};  // in a notebook
};

struct StackFrame {
  std::string language;  // "c++", "python", "c"
  std::string function;
  std::string file;
  int line = 0;
  std::string module;
  std::uint64_t offset = 0;  // address in the module
};

struct PathStep {
  SourceLocation location;
  std::string op;      // JSON "operator": "aten::mul", "cast", "call", ...
  std::string before;  // dtype name, empty when there is none
  std::string after;
  std::string note;  // what happens here, for a person
  std::vector<StackFrame> backtrace;
};

struct Sink {
  std::string api;
  std::string role;
  SourceLocation location;
};

struct FindingOperand {
  std::string role;
  std::vector<std::string> dtypes;
  std::vector<std::string> accepts;
  std::vector<std::int64_t> shape;  // empty: unknown
  std::string device;
  std::optional<std::size_t> origin;  // index into Finding::path
};

struct Occurrence {
  std::string host;
  std::optional<int> rank;
  std::int64_t pid = 0;
  std::int64_t thread = 0;
  std::string first_seen;  // RFC 3339, UTC
  std::uint64_t count = 0;
  std::vector<std::string> dtypes;
};

struct Stack {
  std::string kind;  // "call", "forward", "launch"
  std::vector<StackFrame> backtrace;
};

struct Edit {
  SourceLocation range;
  std::string replacement;
};

struct Fix {
  std::string title;
  bool verified = false;
  std::vector<Edit> edits;
};

struct Suppression {
  std::string kind;  // "comment", "file"
  std::string reason;
  int line = 0;
};

struct Finding {
  std::string rule;
  std::vector<std::string> also_rules;
  Level level = Level::kError;
  Certainty certainty = Certainty::kDefinite;
  std::string message;
  std::string fingerprint;
  std::string first_fingerprint;      // that of the first among its equals; known until the report is written
  std::vector<std::string> observed;  // "static", "runtime"
  std::string runtime;                // "confirmed", "not_reached", "contradicted", "unknown"
  SourceLocation location;
  std::string api;
  std::vector<Sink> sinks;
  std::vector<FindingOperand> operands;
  std::vector<PathStep> path;
  std::vector<std::string> precision;
  std::vector<std::string> torch;
  std::string device;
  std::vector<Stack> stacks;
  std::vector<StackFrame> backtrace;
  std::uint64_t count = 1;
  std::vector<Occurrence> occurrences;
  std::vector<Fix> fixes;
  std::optional<Suppression> suppression;
  std::string baseline;  // "new", "unchanged", "fixed"; empty without a baseline
};

// The words of the JSON report and of --fail-on.
std::string_view name(Level level);
std::string_view name(Certainty certainty);
std::optional<Level> parse_level(std::string_view word);
std::optional<Certainty> parse_certainty(std::string_view word);

// The parts of a fingerprint, none of which changes when lines move.
struct FingerprintKey {
  std::string rule;
  std::string function;
  std::string expression;  // promoting operator and operands as written; white space does not count
  std::string api;
  int ordinal = 0;  // among findings that are equal in all of the above
};
// "v1:" and 16 hex digits of XXH3. Producers leave the ordinal 0 and normalise() (report.h) tells equals
// apart.
std::string fingerprint(const FingerprintKey& key);
// The fingerprint of the ordinal-th finding among those that share the fingerprint `first`.
std::string fingerprint_with_ordinal(const std::string& first, int ordinal);

}  // namespace dtype_guard
