// What is known of each instruction before it is run: which operation its name says, the row of the operator
// table, the contract of a call. Looked up once for all runs of a module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "rules/contracts/contract.h"
#include "rules/operators/operators.h"

namespace dtype_guard::oracle {

enum class What : std::uint8_t {
  kOther,
  kCopyOf,
  kAssignObject,
  kDictGet,
  kDictPop,
  kDictHas,
  kDictUpdate,
  kStoreElement,
  kSubscript,
  kTextOrder,
  kTextLength,
  kSmallerOf,
  kLargerOf,
  kLoopEntered,
  kLogicalNot,
  kLogicalAnd,
  kLogicalOr,
  kDefined,
  kIsFloatingPoint,
  kDim,
  kSize,
  kChance,  // a further round, or a throw
  kEqual,
  kUnequal,
  kOrdered,
  kDefaultDtype,
  kLibraryModule,
  kTo,
  kProbe
};
constexpr bool is_keyed(What what) { return what >= What::kDictGet && what <= What::kSubscript; }
constexpr bool is_compared(What what) { return what >= What::kTextOrder && what <= What::kLoopEntered; }

struct Prepared {
  const flow::Instruction* instruction = nullptr;
  What what = What::kOther;
  const Operator* op = nullptr;      // in the release that is run
  const Api* api = nullptr;          // of a call
  mutable bool has_decided = false;  // in some run until now
};
struct PreparedFunction {
  std::vector<std::vector<Prepared>> blocks;
  std::size_t results = 1;
};
struct PreparedModule {
  PreparedModule(const flow::Module& module, const ContractSet& contracts, std::string_view torch_version,
                 std::string_view device);
  const PreparedFunction& of(const flow::Module& module, const flow::Function& function) const {
    return functions[static_cast<std::size_t>(&function - module.functions.data())];
  }

  std::vector<PreparedFunction> functions;  // as in the module
  std::unordered_map<std::string_view, const flow::Function*> by_key;
};

}  // namespace dtype_guard::oracle
