#include "rules/operators/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "rules/operators/devices.h"
#include "rules/operators/library_operators.h"
#include "rules/operators/version.h"

namespace dtype_guard {
namespace {

constexpr std::array kAsked = {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32, Dtype::kInt64};
constexpr std::size_t kAskedArguments = 3;
constexpr std::size_t kShown = 8;

std::string_view words(ResultRule rule) {
  switch (rule) {
    case ResultRule::kPromote:
      return "the promoted dtype";
    case ResultRule::kPromoteIntToFloat:
      return "the promoted dtype, of integers the default dtype";
    case ResultRule::kPromoteToReal:
      return "the promoted dtype, of complex numbers their value type";
    case ResultRule::kToReal:
      return "the value type of a complex tensor";
    case ResultRule::kToComplex:
      return "the complex dtype over a floating one";
    case ResultRule::kPromoteBoolToLong:
      return "the promoted dtype, of bool int64";
    case ResultRule::kBool:
      return "bool";
    case ResultRule::kBoolOrByte:
      return "bool, of uint8 uint8";
    case ResultRule::kLikeFirst:
      return "the dtype of the first tensor";
    case ResultRule::kRequireSame:
      return "the dtype of the operands, which must have one dtype";
    case ResultRule::kSumLike:
      return "the dtype of the first tensor, of integers and bool int64; dtype= replaces it";
    case ResultRule::kCast:
      return "the dtype that is asked for";
    case ResultRule::kFactory:
      return "dtype=, else the default dtype";
    case ResultRule::kFactoryFromValue:
      return "dtype=, else what the numbers given make";
    case ResultRule::kFactoryLike:
      return "dtype=, else the dtype of the first tensor";
    case ResultRule::kPromoteToRealFloat:
      return "the floating dtype of the promoted one";
    case ResultRule::kPromoteToDouble:
      return "float64, or complex128";
    case ResultRule::kPromoteToComplex:
      return "the complex dtype over the promoted one";
    case ResultRule::kFixed:
      return "always the same dtype";
    case ResultRule::kDescriptor:
      return "no tensor: memory of the same dtype";
  }
  return "";
}

std::string_view words(AutocastPolicy policy) {
  switch (policy) {
    case AutocastPolicy::kNone:
      return "not listed";
    case AutocastPolicy::kLowerPrecision:
      return "computed in autocast's dtype";
    case AutocastPolicy::kFloat32:
      return "computed in float32";
    case AutocastPolicy::kFloat32SetDtype:
      return "computed in float32 unless dtype= is given";
    case AutocastPolicy::kPromote:
      return "computed in the widest dtype given";
    case AutocastPolicy::kBanned:
      return "refused";
  }
  return "";
}

std::vector<std::string> asked_arguments(const Operator& op) {
  std::vector<std::string> names = op.promoting.all();
  if (names.empty() && !op.arguments.empty()) names.push_back(op.arguments.front());
  for (const std::string& more : op.parameters) names.push_back(more);
  if (names.size() > kAskedArguments) names.resize(kAskedArguments);
  return names;
}

// Every way to give the arguments one of the dtypes that are asked for, with 0-dim tensors last. Names stay
// the caller's.
std::vector<std::vector<OperatorInput>> questions(const std::vector<std::string>& arguments) {
  std::vector<std::vector<OperatorInput>> made{{}};
  for (const std::string& argument : arguments) {
    std::vector<std::vector<OperatorInput>> longer;
    for (const auto& before : made) {
      for (const RankClass rank : {RankClass::kDim, RankClass::kZeroDim}) {
        for (const Dtype dtype : kAsked) {
          longer.push_back(before);
          longer.back().push_back({argument, dtype, rank});
        }
      }
    }
    made = std::move(longer);
  }
  std::vector<std::vector<OperatorInput>> ordered;
  for (std::size_t zeros = 0; zeros <= arguments.size(); ++zeros) {
    for (const auto& inputs : made) {
      const auto count = std::count_if(inputs.begin(), inputs.end(), [](const OperatorInput& input) {
        return input.rank == RankClass::kZeroDim;
      });
      if (static_cast<std::size_t>(count) == zeros) ordered.push_back(inputs);
    }
  }
  return ordered;
}

std::string answer(const Operator& op, const std::vector<OperatorInput>& inputs, std::string_view device,
                   Dtype autocast, std::string_view release) {
  OperatorContext context;
  context.device = device;
  context.autocast = autocast;
  context.torch_version = release;
  const OperatorOutcome outcome = evaluate(op, inputs, std::nullopt, context);
  return outcome.dtype ? std::string(name(*outcome.dtype)) : "throws";
}

// Lines such as "float16, float32: throws -> float32" for all inputs whose result is another in the later
// release.
std::vector<std::string> differences(const Operator& op, std::string_view device, Dtype autocast,
                                     std::string_view earlier, std::string_view later) {
  std::vector<std::string> lines;
  const std::vector<std::string> arguments = asked_arguments(op);
  for (const auto& inputs : questions(arguments)) {
    const std::string before = answer(op, inputs, device, autocast, earlier);
    const std::string after = answer(op, inputs, device, autocast, later);
    if (before == after) continue;
    std::vector<std::string> given;
    for (const OperatorInput& input : inputs)
      given.push_back(fmt::format("{} {}{}", input.argument, name(input.dtype),
                                  input.rank == RankClass::kZeroDim ? " (0-dim)" : ""));
    lines.push_back(fmt::format("{}: {} -> {}", fmt::join(given, ", "), before, after));
  }
  return lines;
}

std::string changes_in(const Operator& op, std::string_view earlier, std::string_view later) {
  // Devices and states of autocast of which the same is to be said, by what is to be said.
  std::map<std::vector<std::string>, std::vector<std::string>> where;
  for (const std::string_view device : kDevices) {
    for (const Dtype autocast : {Dtype::kUndefined, Dtype::kFloat16}) {
      const std::vector<std::string> lines = differences(op, device, autocast, earlier, later);
      if (lines.empty()) continue;
      where[lines].push_back(
          fmt::format("{}{}", device, autocast == Dtype::kUndefined ? "" : " under autocast to float16"));
    }
  }
  std::string text;
  for (const auto& [lines, places] : where) {
    text += fmt::format("  since {} on {}\n", later, fmt::join(places, ", "));
    for (std::size_t i = 0; i < std::min(lines.size(), kShown); ++i)
      text += fmt::format("    {}\n", lines[i]);
    if (lines.size() > kShown) text += fmt::format("    and {} more\n", lines.size() - kShown);
  }
  return text;
}

// Of a composite that is not listed it is what it is made of that autocast acts on.
std::string autocast_in(const Operator& op, std::string_view device, std::string_view release) {
  const AutocastPolicy own = autocast_policy(op.name, device, release);
  if (own != AutocastPolicy::kNone || !op.steps.empty()) return std::string(words(own));
  for (const Operator* inner = &op; inner && !inner->composed_of.empty();) {
    inner = find_operator(inner->composed_of);
    const AutocastPolicy policy =
        inner ? autocast_policy(inner->name, device, release) : AutocastPolicy::kNone;
    if (policy != AutocastPolicy::kNone)
      return fmt::format("{}, but '{}' is: {}", words(own), inner->name, words(policy));
  }
  return std::string(words(own));
}

std::string result_of(const Operator& row) {
  std::string text = fmt::format("  result: {}", words(row.result));
  if (takes_one_dtype(row)) return text + fmt::format(", which is {} (it takes no other)", name(row.fixed));
  if (row.fixed != Dtype::kUndefined) text += fmt::format(" ({})", name(row.fixed));
  return text;
}

std::string state_in(const Operator& op, std::string_view release) {
  const Operator& row = operator_at(op, release);
  std::string text = fmt::format("in {}\n{}", release, result_of(row));
  if (!row.promoting.empty()) text += fmt::format("; taking part: {}", fmt::join(row.promoting.all(), ", "));
  if (!row.steps.empty()) {
    std::vector<std::string> steps;
    for (const OperatorStep& step : row.steps) steps.push_back(step.name);
    text += fmt::format("; computed as: {}", fmt::join(steps, ", "));
  }
  if (!row.composed_of.empty()) text += fmt::format("; made of: {}", row.composed_of);
  text += '\n';
  for (const std::string_view device : kDevices) {
    text += fmt::format("  autocast on {}: {}\n", device, autocast_in(row, device, release));
  }
  return text;
}

}  // namespace

std::string explain_operator(const Operator& op, std::string_view from, std::string_view to) {
  if (is_library_operator(op))
    return fmt::format("{}: an operator of {}\n\n{}\n", op.name, library_of(op), result_of(op));
  std::string text = fmt::format("{}: an operator of PyTorch\n\n{}", op.name, state_in(op, to));
  const TorchVersion first = parse_torch_version(from), last = parse_torch_version(to);
  if (first == last) return text;
  std::string changes;
  for (const std::string_view device : kDevices) {
    for (const AutocastChange& change : autocast_changes(op.name, device, from, to))
      changes += fmt::format("  since {} autocast on {}: {} -> {}\n", change.since, device,
                             words(change.from), words(change.to));
  }
  for (std::size_t i = 1; i < kTorchReleases.size(); ++i) {
    const TorchVersion release = parse_torch_version(kTorchReleases[i]);
    if (release > first && release <= last)
      changes += changes_in(op, kTorchReleases[i - 1], kTorchReleases[i]);
  }
  text += fmt::format("\nfrom {} to {}\n", from, to);
  return text + (changes.empty() ? "  nothing changes\n" : changes);
}

}  // namespace dtype_guard
