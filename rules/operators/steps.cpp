#include "rules/operators/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace dtype_guard {
namespace {

bool is_number(std::string_view operand) {
  return operand.front() == '-' || (operand.front() >= '0' && operand.front() <= '9');
}

OperatorInput number(std::string_view operand) {
  const bool integer = operand.find('.') == std::string_view::npos;
  return {{}, integer ? Dtype::kInt64 : Dtype::kFloat64, RankClass::kWrapped};
}

// A broadcast's rank class; the tensors that steps pass on are never wrapped numbers.
RankClass joined_rank(std::span<const OperatorInput> inputs) {
  const bool zero = std::all_of(inputs.begin(), inputs.end(),
                                [](const OperatorInput& input) { return input.rank != RankClass::kDim; });
  return zero ? RankClass::kZeroDim : RankClass::kDim;
}

class Walk {
 public:
  Walk(std::span<const OperatorInput> inputs, const OperatorContext& context)
      : inputs_(inputs), context_(context) {}

  // False where an argument of the step was not given.
  bool take(const OperatorStep& step, OperatorOutcome& outcome) {
    const Operator* op = find_operator(step.name);
    if (op == nullptr || step.operands.size() > op->arguments.size()) {
      throw std::logic_error(
          fmt::format("rules/operators: a step calls {}, which no entry describes", step.name));
    }
    std::vector<OperatorInput> operands;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      std::string_view written = step.operands[i];
      const bool optional = written.ends_with('?');
      if (optional) written.remove_suffix(1);
      const std::optional<OperatorInput> found = operand(written);
      if (!found && optional) return pass_on(operands.at(0), outcome);
      if (!found) return false;
      operands.push_back(*found);
      operands.back().argument = op->arguments[i];
    }
    outcome = evaluate(*op, operands, std::nullopt, context_);
    results_.push_back({{}, outcome.dtype.value_or(Dtype::kUndefined), joined_rank(operands)});
    return true;
  }

 private:
  bool pass_on(const OperatorInput& operand, OperatorOutcome& outcome) {
    outcome = {};
    outcome.dtype = operand.dtype;
    results_.push_back(operand);
    return true;
  }

  std::optional<OperatorInput> operand(std::string_view written) const {
    if (is_number(written)) return number(written);
    if (written.ends_with("[1]")) return second(written.substr(0, written.size() - 3));
    if (written.front() == '#') {
      std::size_t index = 0;
      std::from_chars(written.data() + 1, written.data() + written.size(), index);
      return results_.at(index);
    }
    const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                    [&](const OperatorInput& input) { return input.argument == written; });
    return found == inputs_.end() ? std::nullopt : std::optional(*found);
  }

  // Of a list's tensors the second, or the only one.
  std::optional<OperatorInput> second(std::string_view argument) const {
    std::optional<OperatorInput> found;
    int seen = 0;
    for (const OperatorInput& input : inputs_) {
      if (input.argument == argument && seen++ < 2) found = input;
    }
    return found;
  }

  std::span<const OperatorInput> inputs_;
  const OperatorContext& context_;
  std::vector<OperatorInput> results_;
};

}  // namespace

PromotionResult evaluate_steps(std::span<const OperatorStep> steps, std::span<const OperatorInput> inputs,
                               const OperatorContext& context) {
  Walk walk(inputs, context);
  OperatorOutcome last;
  for (const OperatorStep& step : steps) {
    if (!walk.take(step, last)) return PromotionError{"an operand was not given"};
    if (!last.dtype) return PromotionError{last.error};
  }
  return *last.dtype;
}

}  // namespace dtype_guard
