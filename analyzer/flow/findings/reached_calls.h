// How much of a program the evaluation saw: each call that has a contract, whether a root comes to it, and
// which of its operands stayed without a dtype. A report without findings rests on this: no finding and no
// sight are different answers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/flow/engine/sink_record.h"
#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

struct ReachedCall {
  std::string api;
  std::string function;
  SourceRange range;
  bool reached = false;
  int operands = 0;                  // that arrived there
  std::vector<std::string> unknown;  // roles whose dtype some way to the call leaves open
  std::string given_up;              // not reached: a root that comes to it and was over its budget
  bool decided() const { return reached && unknown.empty(); }
};

class ReachedCalls {
 public:
  // The calls of the project's functions; instantiations of one template are one call.
  explicit ReachedCalls(const Module& module);
  // What one root's evaluation recorded.
  void note(const std::vector<SinkRecord>& records);
  // By position; `given_up`: functions that roots over their budget come to, with such a root.
  std::vector<ReachedCall> list(const std::map<std::uint32_t, std::string>& given_up) const;

 private:
  using Place = std::tuple<std::uint32_t, int, int, std::string>;  // file, line, column, API
  struct Seen {
    std::string function;
    std::uint32_t id = 0;  // of that function
    SourceRange range;
    bool reached = false;
    bool waits = false;                       // for another file to call it: no call of this program
    std::set<std::string> operands, unknown;  // roles
  };
  static Place place(const Instruction& call, const std::string& api) {
    return {call.range.file, call.range.line, call.range.column, api};
  }
  std::map<Place, Seen> calls_;
  std::map<std::uint32_t, std::string> own_;  // functions of the project, and their names
};

}  // namespace dtype_guard::flow
