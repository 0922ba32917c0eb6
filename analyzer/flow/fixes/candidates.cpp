#include "analyzer/flow/fixes/candidates.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/flow/edits/value_uses.h"
#include "analyzer/flow/fixes/places.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {

bool at(const Module& module, const SourceRange& range, const SourceLocation& location) {
  return range.line == location.line && range.column == location.column && range.file < module.files.size() &&
         module.files[range.file] == location.file &&
         (location.end_line == 0 ||
          (range.end_line == location.end_line && range.end_column == location.end_column));
}

bool is_call(const PathStep& step) { return step.op == "call"; }

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
  if (origin.before.empty() || origin.before == origin.after) {
    at_calls(true);  // made so
    return;
  }
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

Candidates::Site Candidates::call_site(const SourceLocation& location) const {
  Site found = site(location);
  if (found.function) found.instruction = call_in(*found.function, found.instruction->range);
  return found;
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

// A constant, or what a comprehension binds: a variable that the IR has by another name. Where the operand
// stands it is in scope.
static bool may_be_out_of_scope(const std::string& name, const Function& function) {
  const auto& variables = function.variables;
  return std::find(variables.begin(), variables.end(), '<' + name + '>') != variables.end() ||
         std::any_of(function.constants.begin(), function.constants.end(),
                     [&](const Argument& each) { return each.name == name; });
}

void Candidates::after_arithmetic(std::size_t first, std::size_t steps, bool used_once) {
  const Site origin = site(finding_.path.front().location);
  if (!origin.function) return;
  const Site call = steps < finding_.path.size() ? call_site(finding_.path[steps].location) : Site();
  const std::string callee = call.instruction ? call.instruction->name : "";
  for (std::size_t i = steps; i-- > first;) {
    const Site here = site(finding_.path[i].location);
    if (here.function != origin.function || here.instruction->written != Written::kTensor) continue;
    const ValueUses uses = uses_of(*here.function, *here.instruction, callee);
    const bool is_callers = uses.is_returned && !is_result_used_once(module_, *here.function);
    const bool once = uses.calls + uses.others <= 1 && !is_callers;
    if (once != used_once || (!once && uses.others > 0)) continue;
    if (round_.comes_back(*here.function, *here.instruction, finding_).how != ComesBack::kNever) continue;
    for (const std::string& name : dtype_names(*origin.function, origin.instruction->range)) {
      CastEdit edit;
      edit.range = here.instruction->range;
      edit.like = name;
      edit.names_dtype = true;
      add({edit},
          fmt::format("cast back to '{}' after the {} arithmetic", name, finding_.path.front().after));
    }
    for (const std::string& name : names(origin)) {
      const bool may_be_gone = may_be_out_of_scope(name, *origin.function);
      const SourceRange& whole = here.instruction->range;
      if (may_be_gone && whole != origin.instruction->range && !inside(origin.instruction->range, whole))
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

// A mask of integers, which is no bias: a cast to a floating dtype would add what it counts to the scores.
static bool is_of_integers(const Finding& finding) {
  const std::string role = finding.sinks.empty() ? "" : finding.sinks.front().role;
  return std::any_of(finding.operands.begin(), finding.operands.end(), [&](const auto& each) {
    const auto is_integer = [](const std::string& dtype) { return is_dtype_that(dtype, is_integral); };
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
    const Site call = call_site(step.location);
    if (!call.function) continue;
    std::vector<Passed> all = passed(call);
    if (is_sink) judge(call, all);
    const auto moved = [&](const std::string& name) {
      return is_moved_from(module_, *call.function, name, call.instruction->range, text_);
    };
    std::stable_partition(all.begin(), all.end(), [&](const Passed& each) { return is_guilty(call, each); });
    // Where an operand is right and has a name, what else the call takes, as indices, says nothing of dtypes.
    const bool has_right = is_sink && std::any_of(all.begin(), all.end(), [&](const Passed& each) {
                             return each.is_right && !each.word.empty() && !moved(each.word);
                           });
    for (const Passed& each : all) {
      const bool is_another = each.is_wide && !each.is_named && !is_guilty(call, each);
      if (!each.castable || each.is_right || is_another || (only_guilty && !is_guilty(call, each))) continue;
      std::vector<std::string> witnesses;
      for (const Passed& other : all) {
        const bool named = &other != &each && !other.word.empty() && other.word != each.word &&
                           (other.is_right || !has_right);
        if (named && !other.is_wide && !moved(other.word)) add_once(witnesses, other.word);
      }
      for (const std::string& name : witnesses) {
        CastEdit edit = each.edit;
        edit.like = name;
        add({edit}, for_call({&each}, name));
      }
    }
    std::vector<std::string> right;
    for (const Passed& each : all) {
      if (each.is_right && !each.word.empty() && !moved(each.word)) add_once(right, each.word);
    }
    all_wide_ones(all, right);
  }
}

// Where what was widened once arrives as several of them, one cast alone leaves the others.
void Candidates::all_wide_ones(const std::vector<Passed>& all, const std::vector<std::string>& witnesses) {
  std::vector<const Passed*> wide;
  for (const Passed& each : all) {
    if (each.is_wide && each.is_named && each.castable) wide.push_back(&each);
  }
  for (const std::string& name : wide.size() < 2 ? std::vector<std::string>() : witnesses) {
    std::vector<CastEdit> edits;
    for (const Passed* each : wide) {
      edits.push_back(each->edit);
      edits.back().like = name;
    }
    add(std::move(edits), for_call(wide, name));
  }
}

// The wide dtype was asked for: what goes with it is raised to it. Where no name says which that is, all
// are tried.
void Candidates::raise_others() {
  for (std::size_t i = 0; i < finding_.path.size(); ++i) {
    const PathStep& step = finding_.path[i];
    if (!is_call(step) && i + 1 != finding_.path.size()) continue;
    const Site call = call_site(step.location);
    if (!call.function) continue;
    std::vector<Passed> all = passed(call);
    if (i + 1 == finding_.path.size()) judge(call, all);
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
