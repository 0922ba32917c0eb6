// What chosen expressions are in each precision setting: the question of an editor, asked of the engine while
// it evaluates. Nothing is noted unless it was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/settings/analysis_options.h"
#include "rules/finding/finding.h"

namespace dtype_guard::flow {

class Program;

// Where a dtype was decided.
struct SeenOrigin {
  SourceLocation place;
  std::string op;             // "mul", "cast", "conversion"
  std::string text;           // the expression as written
  std::string before, after;  // dtypes; `before` empty where nothing had another
  bool by_autocast = false;
  friend bool operator==(const SeenOrigin& a, const SeenOrigin& b) {
    return a.place.file == b.place.file && a.place.line == b.place.line && a.place.column == b.place.column &&
           a.op == b.op && a.before == b.before && a.after == b.after && a.by_autocast == b.by_autocast;
  }
};
struct SeenAlternative {
  std::string dtype;  // empty: not known
  bool is_tensor = false, is_none = false, is_number = false;
  int min_rank = 0, max_rank = 0;  // of a tensor; kAnyRank: no upper bound
  bool assumed = false;            // the setting's choice, not the code's
  bool uncertain = false;
  std::optional<SeenOrigin> origin;
  friend bool operator==(const SeenAlternative&, const SeenAlternative&) = default;
};
inline constexpr int kAnyRank = 64;

struct SeenValue {
  std::string setting;
  const Instruction* instruction = nullptr;
  std::vector<SeenAlternative> alternatives;  // empty: nothing that is evaluated comes there
};

// By setting, in their order, and then as `watched` has them. Instructions are the program's, with a result.
std::vector<SeenValue> values_of(const Program& program, const std::vector<const Instruction*>& watched,
                                 const AnalysisOptions& options);

}  // namespace dtype_guard::flow
