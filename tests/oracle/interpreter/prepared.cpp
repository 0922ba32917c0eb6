#include "tests/oracle/interpreter/prepared.h"

#include "tests/oracle/interpreter/library_modules.h"

namespace dtype_guard::oracle {
namespace {
What what_is(std::string_view name) {
  static const std::unordered_map<std::string_view, What> kNames = {
      {"copy_of", What::kCopyOf},
      {"assign_object", What::kAssignObject},
      {"dict_get", What::kDictGet},
      {"dict_pop", What::kDictPop},
      {"dict_has", What::kDictHas},
      {"dict_update", What::kDictUpdate},
      {"store_element", What::kStoreElement},
      {"subscript", What::kSubscript},
      {flow::kTextOrder, What::kTextOrder},
      {flow::kTextLength, What::kTextLength},
      {flow::kSmallerOf, What::kSmallerOf},
      {flow::kLargerOf, What::kLargerOf},
      {flow::kLoopEntered, What::kLoopEntered},
      {"logical_not", What::kLogicalNot},
      {"logical_and", What::kLogicalAnd},
      {"logical_or", What::kLogicalOr},
      {"defined", What::kDefined},
      {"has_value", What::kDefined},
      {"is_floating_point", What::kIsFloatingPoint},
      {"dim", What::kDim},
      {"size", What::kSize},
      {flow::kMoreElements, What::kChance},
      {flow::kMayThrow, What::kChance},
      {"eq", What::kEqual},
      {"ne", What::kUnequal},
      {"lt", What::kOrdered},
      {"le", What::kOrdered},
      {"gt", What::kOrdered},
      {"ge", What::kOrdered},
      {"default_dtype", What::kDefaultDtype},
      {"to", What::kTo}};
  if (const auto known = kNames.find(name); known != kNames.end()) return known->second;
  const bool is_module = find_library_module(name) || name == kSequentialForward;
  return is_module ? What::kLibraryModule : What::kOther;
}
}  // namespace

PreparedModule::PreparedModule(const flow::Module& module, const ContractSet& contracts,
                               std::string_view torch_version, std::string_view device) {
  functions.reserve(module.functions.size());
  for (const flow::Function& function : module.functions) {
    by_key[function.key] = &function;
    PreparedFunction& own = functions.emplace_back();
    own.blocks.reserve(function.blocks.size());
    for (const flow::Block& block : function.blocks) {
      std::vector<Prepared>& all = own.blocks.emplace_back();
      all.reserve(block.instructions.size());
      own.results += block.instructions.size();
      for (const flow::Instruction& each : block.instructions) {
        Prepared& one = all.emplace_back();
        one.instruction = &each;
        if (each.op == flow::Op::kOperator) {
          one.what = what_is(each.name);
          if (const Operator* op = find_operator(each.name)) one.op = &operator_at(*op, torch_version);
        } else if (each.op == flow::Op::kSink) {
          one.what = each.name == "probe" ? What::kProbe : What::kOther;
          one.api = contracts.named(each.name, torch_version, device);
        }
      }
    }
  }
}

}  // namespace dtype_guard::oracle
