// What a call on the path of a finding is given, as it is written, and what the finding says of it there.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/flow/fixes/candidates.h"
#include "analyzer/flow/fixes/places.h"
#include "analyzer/flow/program/watched_body.h"
#include "rules/contracts/roles.h"

namespace dtype_guard::flow {
namespace {

// q of `q=q`.
std::string_view without_keyword(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos || argument.substr(equals).starts_with("==")) return argument;
  std::string_view name = argument.substr(0, equals), given = argument.substr(equals + 1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  while (given.starts_with(' ')) given.remove_prefix(1);
  return is_word(name) ? given : argument;
}

}  // namespace

// What a call is given, by position; what it takes as a list ("einsum(equation, a, b)") by its place there.
static std::vector<std::pair<std::size_t, ValueId>> given_to(const Function& function,
                                                             const Instruction& call) {
  std::vector<std::pair<std::size_t, ValueId>> out;
  for (std::size_t position = 0; position < call.args.size(); ++position) {
    const Instruction* made = definition_in(function, call.args[position].value);
    const bool is_list = made && made->op == Op::kPack && made->range == call.range;
    for (std::size_t i = 0; is_list && i < made->args.size(); ++i) out.emplace_back(i, made->args[i].value);
    if (!is_list) out.emplace_back(position, call.args[position].value);
  }
  return out;
}

std::vector<Candidates::Passed> Candidates::passed(const Site& call) const {
  std::vector<Passed> out;
  const Instruction& instruction = *call.instruction;
  if (instruction.written == Written::kMacro || instruction.range.file >= module_.files.size()) return out;
  const std::string* text = text_(module_.files[instruction.range.file]);
  const auto written = text ? expression_at(*text, instruction) : std::nullopt;
  if (!written) return out;
  std::vector<std::string_view> words;
  for (const ArgumentText& each : arguments_of(*written)) {
    words.push_back(without_keyword(written->substr(each.begin, each.end - each.begin)));
  }
  // The n-th argument of a name is the n-th that is written so; macros and defaults may stand between them.
  const auto index_of = [&](const std::string& name) {
    const auto same = [&](const Passed& each) { return each.word == name; };
    auto left = std::count_if(out.begin(), out.end(), same);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == name && left-- == 0) return i;
    }
    return words.size();
  };
  for (const auto& [position, value] : given_to(*call.function, instruction)) {
    const bool is_callee = position == 0 && instruction.op == Op::kCall && instruction.name.empty();
    const Instruction* made = definition_in(*call.function, value);
    if (!made || is_callee) continue;
    std::string name = made->text;
    for (const Argument& constant : call.function->constants) {
      if (constant.value == made->result) name = constant.name;
    }
    if (!is_tensor(*made) && name == made->text) continue;
    const std::size_t index = is_word(name) ? index_of(name) : words.size();
    Passed& each = out.emplace_back();
    each.position = position;
    each.edit.for_call = true;
    if (index < words.size()) each.word = name;
    if (inside(made->range, instruction.range)) {
      each.edit.range = made->range;
      each.castable = made->op != Op::kParam && made->written == Written::kTensor;
      if (is_word(made->text) && is_tensor(*made)) each.word = made->text;
    } else if (index < words.size()) {
      each.edit.kind = CastEdit::Kind::kArgument;
      each.edit.range = instruction.range;
      each.edit.argument = index;
      each.edit.position = position;
      each.castable = true;
    }
  }
  return out;
}

// Whether it is the operand that the finding speaks of, at the call that it reaches.
bool Candidates::is_guilty(const Site& call, const Passed& each) const {
  const std::string& role = finding_.sinks.empty() ? finding_.rule : finding_.sinks.front().role;
  const std::size_t side = role == "left" ? 0 : role == "right" ? 1 : call.instruction->args.size();
  return call.instruction->args[each.position].name == role || each.role == role || each.position == side;
}

// What is written into, or kept: a cast would give the call another tensor to write into. An operator of
// PyTorch writes into its first.
static bool is_written_into(const Instruction& call, std::string_view role, std::size_t position) {
  const std::string_view callee = std::string_view(call.text).substr(0, call.text.find('('));
  const auto kind = role_kind(role);
  const bool writes =
      (callee.ends_with('_') || call.name.ends_with('_')) && (call.op != Op::kOperator || position == 0);
  return writes || kind == RoleKind::kCache || kind == RoleKind::kOutput;
}

// What each argument is to the call, and what the finding says of it there.
void Candidates::judge(const Site& call, std::vector<Passed>& all) const {
  const Instruction* watch = nullptr;  // stands before a call of a body that has a contract
  for (const Block& block : call.function->blocks) {
    for (const Instruction& each : block.instructions) {
      if (each.op == Op::kSink && !each.result && body_behind(block, each) == call.instruction) watch = &each;
    }
  }
  for (Passed& each : all) {
    const Argument& given = call.instruction->args[each.position];
    const bool is_told = std::any_of(finding_.operands.begin(), finding_.operands.end(),
                                     [&](const FindingOperand& one) { return one.role == given.name; });
    if (is_told || call.instruction->op != Op::kOperator) {
      each.role = given.name;
    } else if (each.position < 2) {
      each.role = each.position ? "right" : "left";
    }
    for (const Argument& watched : watch ? watch->args : std::vector<Argument>()) {
      if (watched.value == given.value) each.role = watched.name;
    }
    const SourceRange& at = call.instruction->range;
    each.is_named = std::any_of(finding_.sinks.begin(), finding_.sinks.end(), [&](const Sink& sink) {
      return sink.role == each.role && sink.location.line == at.line && sink.location.column == at.column;
    });
    each.castable = each.castable && !is_written_into(*call.instruction, each.role, each.position);
    for (const FindingOperand& operand : finding_.operands) {
      if (operand.role != each.role || operand.dtypes.empty()) continue;
      const auto some = [&](auto holds) {
        return std::any_of(operand.dtypes.begin(), operand.dtypes.end(),
                           [&](const std::string& name) { return is_dtype_that(name, holds); });
      };
      if (some(is_integral)) each.castable = false;
      each.is_right = std::all_of(operand.dtypes.begin(), operand.dtypes.end(),
                                  [](const std::string& name) { return is_dtype_that(name, is_half); });
      each.is_wide = some([](Dtype dtype) { return is_floating(dtype) && !is_half(dtype); });
    }
  }
}

std::string Candidates::for_call(const std::vector<const Passed*>& cast, const std::string& like) {
  std::vector<std::string> words;
  for (const Passed* each : cast) {
    if (!each->word.empty()) add_once(words, fmt::format("'{}'", each->word));
  }
  const bool all =
      std::all_of(cast.begin(), cast.end(), [](const Passed* each) { return !each->word.empty(); });
  std::string what;
  for (std::size_t i = 0; all && i < words.size(); ++i) {
    what += (i == 0 ? " " : i + 1 == words.size() ? " and " : ", ") + words[i];
  }
  return fmt::format("cast{} to the dtype of '{}' for this call", what, like);
}

}  // namespace dtype_guard::flow
