// Whether what an expression gives comes back to it: round a loop, or into another call of the function in
// which it stands. Before a fix only the first half value is widened there and all that follows is computed
// wide; a cast behind the expression would round each time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/program/function_index.h"
#include "rules/finding/finding.h"

namespace dtype_guard::flow {

enum class ComesBack : std::uint8_t {
  kNever,
  kBeforeCall,  // the call that has a contract stands behind all rounds
  kInRounds,    // it is made in each of them
};

struct RoundsAround {
  ComesBack how = ComesBack::kNever;
  std::string function;  // kInRounds: by name, where it has the loop
};

class RoundFlow {
 public:
  explicit RoundFlow(const Module& module);
  // What the calls on the finding's path give is theirs; what is cast to half on the way was half before.
  RoundsAround comes_back(const Function& function, const Instruction& expression, const Finding& finding);

 private:
  // Everything that the program puts into fields of that name: objects of these classes, and modules of
  // libraries.
  struct Held {
    std::set<std::string> classes;
    bool others = false;  // what else is not known
  };
  void find_callers();
  void find_held();
  bool is_or_derives(const std::string& type, const std::string& from) const;
  std::vector<std::uint32_t> may_run(const Function& caller, const Instruction& call) const;
  std::vector<const Instruction*> calls(const Function& caller, const std::set<std::uint32_t>& callees) const;

  const Module& module_;
  std::optional<FunctionIndex> index_;  // made when it is needed first
  std::vector<std::vector<std::uint32_t>> callers_;
  std::map<std::string, Held> held_;  // by the name of the field
};

}  // namespace dtype_guard::flow
