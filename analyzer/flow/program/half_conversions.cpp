#include "analyzer/flow/program/half_conversions.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "rules/operators/library_names.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMaxSources = 32;

// The instructions that a value can come from, through variables, copies, choices and conversions.
class Sources {
 public:
  Sources(const Function& code, const FunctionInfo& info) : code_(code), info_(info) {}

  bool any(ValueId value, const std::function<bool(const Instruction&)>& fits) {
    if (!seen_.insert(value).second) return false;
    const Instruction* from = info_.definition(value);
    if (!from || seen_.size() > kMaxSources) return true;
    const bool variable = from->op == Op::kLoad && from->place.base == 0 && from->place.path.empty();
    if (variable) return any_stored(from->place.variable, fits);
    const bool same = from->op == Op::kOperator && is_named(Named::kConvertsModule, from->name);
    if (same && !from->args.empty()) return any(from->args[0].value, fits);
    if (from->op != Op::kPhi && from->op != Op::kCopy) return fits(*from);
    return std::any_of(from->args.begin(), from->args.end(),
                       [&](const Argument& each) { return any(each.value, fits); });
  }

 private:
  bool any_stored(VariableId variable, const std::function<bool(const Instruction&)>& fits) {
    bool none = true;
    for (const Block& block : code_.blocks) {
      for (const Instruction& each : block.instructions) {
        const bool here = each.place.base == 0 && each.place.variable == variable;
        if (!here || (each.op != Op::kStore && each.op != Op::kAddress)) continue;
        none = false;
        if (each.op == Op::kAddress || each.args.empty()) return true;
        if (each.place.path.empty() && any(each.args[0].value, fits)) return true;
      }
    }
    return none;  // another function's variable
  }

  const Function& code_;
  const FunctionInfo& info_;
  std::set<ValueId> seen_;
};

// What a caller hands over without a word of what it is may be a configuration.
bool may_be_configuration(const Function& code, const FunctionInfo& info, ValueId value) {
  return Sources(code, info).any(value, [&](const Instruction& from) {
    const Parameter* parameter = from.op == Op::kParam ? parameter_of(code, from) : nullptr;
    return parameter &&
           (parameter->kind == ParameterKind::kOther || parameter->kind == ParameterKind::kObject);
  });
}

// What a tensor is states no dtype, nor does what another value has.
bool may_state_half(const Function& code, const FunctionInfo& info, ValueId dtype) {
  return Sources(code, info).any(dtype, [&](const Instruction& from) {
    if (from.op == Op::kDtypeOf)
      return !from.args.empty() && may_be_configuration(code, info, from.args[0].value);
    if (from.op == Op::kParam) {
      const Parameter* parameter = parameter_of(code, from);
      return !parameter || parameter->kind == ParameterKind::kDtype ||
             parameter->kind == ParameterKind::kOther || parameter->kind == ParameterKind::kObject;
    }
    if (from.op != Op::kConst) return true;
    const Dtype* constant = std::get_if<Dtype>(&from.constant);
    return constant ? is_half(*constant) : std::holds_alternative<Unknown>(from.constant);
  });
}

// Whether all that the body does with it is a conversion, which says no more of a tensor than of a module.
bool is_only_converted(const Function& code, const Instruction& param) {
  std::set<ValueId> known = {param.result};
  std::set<VariableId> variables;
  bool is_only = true;
  const auto is_it = [&](const Argument& each) { return known.contains(each.value); };
  for (const Block& block : code.blocks) {
    for (const Instruction& each : block.instructions) {
      const bool is_variable = each.place.base == 0 && each.place.path.empty();
      if (each.op == Op::kLoad && is_variable && variables.contains(each.place.variable))
        known.insert(each.result);
      if (std::none_of(each.args.begin(), each.args.end(), is_it)) continue;
      if (each.op == Op::kStore && is_variable) variables.insert(each.place.variable);
      const bool converts =
          each.op == Op::kOperator && is_named(Named::kConvertsModule, each.name) && is_it(each.args.front());
      const bool keeps = each.op == Op::kStore || each.op == Op::kReturn || each.op == Op::kRegister;
      is_only = is_only && (converts || keeps);
    }
  }
  return is_only;
}

bool may_be_module(const Function& code, const FunctionInfo& info, ValueId value) {
  return Sources(code, info).any(value, [&](const Instruction& from) {
    if (from.op == Op::kParam) {
      const Parameter* parameter = parameter_of(code, from);
      return !parameter || parameter->kind == ParameterKind::kObject ||
             parameter->kind == ParameterKind::kOther ||
             (parameter->kind == ParameterKind::kTensor && is_only_converted(code, from));
    }
    return from.op != Op::kOperator || !find_operator(from.name);
  });
}
}  // namespace

bool may_convert_to_half(const Function& code, const FunctionInfo& info) {
  const auto converts = [&](const Instruction& each) {
    const bool either = each.op == Op::kOperator && is_named(Named::kConvertsModule, each.name);
    return (either || each.op == Op::kRetype) && each.args.size() == 2 &&
           may_be_module(code, info, each.args[0].value) && may_state_half(code, info, each.args[1].value);
  };
  return std::any_of(code.blocks.begin(), code.blocks.end(), [&](const Block& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(), converts);
  });
}

std::vector<const Instruction*> handed_to_unseen(const Function& code, const FunctionInfo& info,
                                                 const std::function<bool(const Instruction&)>& is_seen) {
  std::vector<const Instruction*> out;
  const auto note = [&](const Instruction& from) {
    if (from.op == Op::kCall && !from.name.empty()) out.push_back(&from);
    return false;
  };
  for (const Block& block : code.blocks) {
    for (const Instruction& each : block.instructions) {
      if (each.op != Op::kCall || is_seen(each)) continue;
      for (std::size_t i = each.name.starts_with(kAttributeCall) ? 1 : 0; i < each.args.size(); ++i)
        Sources(code, info).any(each.args[i].value, note);
    }
  }
  return out;
}

namespace {
bool is_part_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// As a name of its own, in torch.half, and not as a part of one, in rotate_half.
bool has_name(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !is_part_of_name(text[at - 1]);
    if (begins && (end == text.size() || !is_part_of_name(text[end]))) return true;
  }
  return false;
}
}  // namespace

// No text with blanks is a dtype's name: it describes something.
bool may_name_half(const Constant& constant) {
  if (const Dtype* dtype = std::get_if<Dtype>(&constant)) return is_half(*dtype);
  const std::string* text = std::get_if<std::string>(&constant);
  if (!text || text->find_first_of(" \n\t") != std::string::npos) return false;
  return std::any_of(std::begin(kLibraryNames), std::end(kLibraryNames), [&](const LibraryName& each) {
    return each.as == Named::kPartOfHalfName ? text->find(each.name) != std::string::npos
                                             : each.as == Named::kWordForHalf && has_name(*text, each.name);
  });
}

namespace {
// What a dtype is only compared with is not made.
bool only_compares(const Instruction& each) {
  return each.op == Op::kOperator && (each.name == "eq" || each.name == "ne");
}
}  // namespace

bool may_name_half(const Function& code) {
  const bool by_default = std::any_of(
      code.parameters.begin(), code.parameters.end(),
      [](const Parameter& each) { return each.default_value && may_name_half(*each.default_value); });
  if (by_default) return true;
  std::set<ValueId> named;
  for (const Block& block : code.blocks) {
    for (const Instruction& each : block.instructions) {
      if (!may_name_half(each.constant)) continue;
      if (each.op != Op::kConst) return true;
      named.insert(each.result);
    }
  }
  if (named.empty()) return false;
  return std::any_of(code.blocks.begin(), code.blocks.end(), [&](const Block& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(), [&](const Instruction& each) {
      return !only_compares(each) &&
             std::any_of(each.args.begin(), each.args.end(),
                         [&](const Argument& one) { return named.contains(one.value); });
    });
  });
}

}  // namespace dtype_guard::flow
