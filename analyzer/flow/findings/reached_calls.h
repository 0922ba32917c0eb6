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
#include "analyzer/flow/program/program.h"

namespace dtype_guard::flow {

struct ReachedCall {
  std::string api;
  std::string function;
  SourceRange range;
  bool reached = false;
  int operands = 0;  // that arrived there
  // Roles whose dtype some way to the call leaves open. Where roots that nothing in the program calls come to
  // it, these are the ways: what an inner function is handed is known there, and from nothing else.
  std::vector<std::string> unknown;
  std::string given_up;  // not reached: a root that comes to it and was over its budget
  bool decided() const { return reached && unknown.empty(); }
};

class ReachedCalls {
 public:
  // The calls of the project's functions; instantiations of one template are one call.
  explicit ReachedCalls(const Program& program);
  // What the evaluation of roots recorded.
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
    bool waits = false;              // for another file to call it: no call of this program
    std::set<std::string> operands;  // roles
    std::map<std::string, std::set<std::uint32_t>> open_in;  // by role: roots that leave it open
    std::set<std::uint32_t> roots;
  };
  static Place place(const Instruction& call, const std::string& api) {
    return {call.range.file, call.range.line, call.range.column, api};
  }
  bool is_called(std::uint32_t root) const;
  std::vector<std::string> unknown_of(const Seen& seen) const;

  const Program& program_;
  std::map<Place, Seen> calls_;
};

}  // namespace dtype_guard::flow
