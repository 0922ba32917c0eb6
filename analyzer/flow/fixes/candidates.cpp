#include "analyzer/flow/fixes/candidates.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/flow/edits/value_uses.h"
#include "analyzer/flow/ir/mnemonics.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {

bool is_word(std::string_view text) {
  return !text.empty() && word_length(text) == text.size() && text.find(':') == std::string_view::npos;
}

bool at(const Module& module, const SourceRange& range, const SourceLocation& location) {
  return range.line == location.line && range.column == location.column && range.file < module.files.size() &&
         module.files[range.file] == location.file &&
         (location.end_line == 0 ||
          (range.end_line == location.end_line && range.end_column == location.end_column));
}

bool is_call(const PathStep& step) { return step.op == "call"; }

bool inside(const SourceRange& inner, const SourceRange& outer) {
  const auto begin = [](const SourceRange& each) { return std::pair(each.line, each.column); };
  const auto end = [](const SourceRange& each) { return std::pair(each.end_line, each.end_column); };
  return inner.file == outer.file && begin(inner) >= begin(outer) && end(inner) <= end(outer) &&
         inner != outer;
}

void add_once(std::vector<std::string>& into, const std::string& name) {
  if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
}

// q of `q=q`.
std::string_view without_keyword(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos || argument.substr(equals).starts_with("==")) return argument;
  std::string_view name = argument.substr(0, equals), given = argument.substr(equals + 1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  while (given.starts_with(' ')) given.remove_prefix(1);
  return is_word(name) ? given : argument;
}

bool widened_on_purpose(const PathStep& origin) {
  if (origin.op == "cast") return true;
  const Operator* op = find_operator(origin.op);
  return op && op->result == ResultRule::kCast;
}

}  // namespace

Candidates::Candidates(const Module& module, const SourceText& text, RoundFlow& round, const Finding& finding)
    : module_(module), text_(text), round_(round), finding_(finding) {
  if (finding.rule == "discarded-cast") assign_discarded();
  if (finding.path.size() < 2) return;
  const PathStep& origin = finding.path.front();
  if (origin.before.empty() || origin.before == origin.after) return;  // made so: its dtype is decided there
  std::size_t steps = 0;
  while (steps + 1 < finding.path.size() &&
         finding.path[steps].location.function == origin.location.function &&
         finding.path[steps].location.file == origin.location.file && !is_call(finding.path[steps])) {
    ++steps;
  }
  // The tables of a rotary embedding go with what was widened for it; scores are cast back.
  const bool on_purpose = widened_on_purpose(origin);
  if (on_purpose && finding.rule == "rotary-dtype-mismatch") {
    raise_others();
    return;
  }
  const std::size_t first = on_purpose ? 1 : 0;
  after_arithmetic(first, steps, true);
  at_calls(on_purpose);
  after_arithmetic(first, steps, false);
  if (on_purpose) raise_others();
}

void Candidates::add(std::vector<CastEdit> edits, std::string title) {
  const bool known =
      std::any_of(out_.begin(), out_.end(), [&](const Candidate& each) { return each.edits == edits; });
  if (!known && !edits.empty()) out_.push_back({std::move(edits), std::move(title)});
}

Candidates::Site Candidates::site(const SourceLocation& location) const {
  for (const Function& function : module_.functions) {
    if (function.name != location.function) continue;
    Site found;
    for (const Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.result && at(module_, each.range, location)) found = {&function, &each};
      }
    }
    if (found.function) return found;
  }
  return {};
}

void Candidates::add_operands(const Site& site, const Instruction& taker,
                              std::vector<std::string>& out) const {
  std::vector<const Instruction*> within;
  for (const Argument& each : taker.args) {
    const Instruction* made = definition_in(*site.function, each.value);
    if (made && is_tensor(*made) && is_word(made->text)) add_once(out, made->text);
    for (const Argument& constant : site.function->constants) {
      if (constant.value == each.value) add_once(out, constant.name);
    }
    if (made && inside(made->range, taker.range)) within.push_back(made);
  }
  for (const Instruction* each : within) add_operands(site, *each, out);
}

// Tensors with a name: operands first, then those that the expression makes the operands of, then parameters.
std::vector<std::string> Candidates::names(const Site& site) const {
  std::vector<std::string> out;
  add_operands(site, *site.instruction, out);
  for (const Parameter& each : site.function->parameters) {
    if (each.kind == ParameterKind::kTensor && each.type.empty()) add_once(out, each.name);
  }
  return out;
}

void Candidates::after_arithmetic(std::size_t first, std::size_t steps, bool used_once) {
  const Site origin = site(finding_.path.front().location);
  if (!origin.function) return;
  const Site call = steps < finding_.path.size() ? site(finding_.path[steps].location) : Site();
  const std::string callee = call.instruction ? call.instruction->name : "";
  for (std::size_t i = steps; i-- > first;) {
    const Site here = site(finding_.path[i].location);
    if (here.function != origin.function || here.instruction->written != Written::kTensor) continue;
    const ValueUses uses = uses_of(*here.function, *here.instruction, callee);
    const bool once = uses.calls + uses.others <= 1;
    if (once != used_once || (!once && uses.others > 0)) continue;
    if (round_.comes_back(*here.function, *here.instruction, finding_).how != ComesBack::kNever) continue;
    for (const std::string& name : names(origin)) {
      // A constant may have gone out of scope; where its operand stands it has not.
      const bool constant = std::any_of(origin.function->constants.begin(), origin.function->constants.end(),
                                        [&](const Argument& each) { return each.name == name; });
      const SourceRange& whole = here.instruction->range;
      if (constant && whole != origin.instruction->range && !inside(origin.instruction->range, whole))
        continue;
      CastEdit edit;
      edit.range = here.instruction->range;
      edit.like = name;
      if (is_moved_from(module_, *here.function, name, whole, text_)) continue;
      add({edit}, fmt::format("cast back to the dtype of '{}' after the {} arithmetic", name,
                              finding_.path.front().after));
    }
  }
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
  for (std::size_t position = 0; position < instruction.args.size(); ++position) {
    const Instruction* made = definition_in(*call.function, instruction.args[position].value);
    if (!made) continue;
    std::string name = made->text;
    for (const Argument& constant : call.function->constants) {
      if (constant.value == made->result) name = constant.name;
    }
    if (!is_tensor(*made) && name == made->text) continue;
    const std::size_t index = is_word(name) ? index_of(name) : words.size();
    Passed& each = out.emplace_back();
    each.position = position;
    if (index < words.size()) each.word = name;
    if (inside(made->range, instruction.range)) {
      each.edit.range = made->range;
      each.castable = made->op != Op::kParam && made->written == Written::kTensor;
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

// Whether it is the operand that the finding speaks of, at the call that it reaches.
bool Candidates::is_guilty(const Site& call, const Passed& each) const {
  const std::string& role = finding_.sinks.empty() ? finding_.rule : finding_.sinks.front().role;
  const std::size_t side = role == "left" ? 0 : role == "right" ? 1 : call.instruction->args.size();
  return call.instruction->args[each.position].name == role || each.position == side;
}

// A mask of integers, which is no bias: a cast to a floating dtype would add what it counts to the scores.
static bool is_of_integers(const Finding& finding) {
  const std::string role = finding.sinks.empty() ? "" : finding.sinks.front().role;
  return std::any_of(finding.operands.begin(), finding.operands.end(), [&](const auto& each) {
    const auto is_integer = [](const std::string& dtype) {
      const auto known = parse_dtype(dtype);
      return known && is_integral(*known);
    };
    const bool may_be_bool =
        std::find(each.accepts.begin(), each.accepts.end(), name(Dtype::kBool)) != each.accepts.end();
    return each.role == role && may_be_bool && !each.dtypes.empty() &&
           std::all_of(each.dtypes.begin(), each.dtypes.end(), is_integer);
  });
}

void Candidates::at_calls(bool only_guilty) {
  if (is_of_integers(finding_)) return;
  for (std::size_t i = 0; i < finding_.path.size(); ++i) {
    const PathStep& step = finding_.path[i];
    const bool is_sink = i + 1 == finding_.path.size();
    if (!is_sink && (only_guilty || !is_call(step))) continue;
    const Site call = site(step.location);
    if (!call.function) continue;
    const std::vector<Passed> all = passed(call);
    const auto moved = [&](const std::string& name) {
      return is_moved_from(module_, *call.function, name, call.instruction->range, text_);
    };
    for (const Passed& each : all) {
      if (!each.castable || (only_guilty && !is_guilty(call, each))) continue;
      std::vector<std::string> witnesses;
      for (const Passed& other : all) {
        const bool named = &other != &each && !other.word.empty() && other.word != each.word;
        if (named && !moved(other.word)) add_once(witnesses, other.word);
      }
      for (const std::string& name : witnesses) {
        CastEdit edit = each.edit;
        edit.like = name;
        add({edit}, for_call({&each}, name));
      }
    }
  }
}

// The wide dtype was asked for: what goes with it is raised to it. Where no name says which that is, all
// are tried.
void Candidates::raise_others() {
  for (std::size_t i = 0; i < finding_.path.size(); ++i) {
    const PathStep& step = finding_.path[i];
    if (!is_call(step) && i + 1 != finding_.path.size()) continue;
    const Site call = site(step.location);
    if (!call.function) continue;
    const std::vector<Passed> all = passed(call);
    for (const Passed& wide : all) {
      if (wide.word.empty()) continue;
      if (is_moved_from(module_, *call.function, wide.word, call.instruction->range, text_)) continue;
      std::vector<CastEdit> edits;
      std::vector<const Passed*> others;
      for (const Passed& each : all) {
        if (&each == &wide || !each.castable || each.word == wide.word) continue;
        others.push_back(&each);
        CastEdit edit = each.edit;
        edit.like = wide.word;
        edits.push_back(std::move(edit));
      }
      for (std::size_t one = 0; one < edits.size(); ++one) {
        add({edits[one]}, for_call({others[one]}, wide.word));
      }
      add(std::move(edits), for_call(others, wide.word));
    }
  }
}

void Candidates::assign_discarded() {
  const Site cast = site(finding_.location);
  if (!cast.function || cast.instruction->args.empty()) return;
  const Instruction* target = definition_in(*cast.function, cast.instruction->args.front().value);
  if (!target || target->op != Op::kLoad || target->place.base || !target->place.path.empty()) return;
  if (!is_word(target->text)) return;
  CastEdit edit;
  edit.kind = CastEdit::Kind::kAssign;
  edit.range = cast.instruction->range;
  edit.like = target->text;
  add({edit}, fmt::format("assign the result of the cast to '{}'", target->text));
}

}  // namespace dtype_guard::flow
