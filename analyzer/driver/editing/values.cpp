#include "analyzer/driver/editing/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "analyzer/driver/editing/value_words.h"
#include "analyzer/driver/explaining.h"
#include "rules/catalog/catalog.h"

namespace dtype_guard::driver {

namespace {

using flow::Instruction;
using flow::Op;
using lsp::Json;

// Of one line and column, from 1 and in bytes.
bool holds(const flow::SourceRange& range, int line, int column) {
  const auto begin = std::pair(range.line, range.column), end = std::pair(range.end_line, range.end_column);
  const auto here = std::pair(line, column);
  return begin <= here && here <= end;
}

std::tuple<int, int> size_of(const flow::SourceRange& range) {
  const int lines = range.end_line - range.line;
  return {lines, lines == 0 ? range.end_column - range.column : range.end_column};
}

template <typename Visit>
void for_each_in(const flow::Module& module, const std::string& file, Visit visit) {
  for (const flow::Function& function : module.functions) {
    if (function.foreign || function.range.file >= module.files.size()) continue;
    for (const flow::Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        const bool is_here = each.range.line > 0 && each.range.file < module.files.size() &&
                             module.files[each.range.file] == file;
        if (is_here) visit(function, each);
      }
    }
  }
}

const Instruction* definition_of(const flow::Function& function, flow::ValueId id) {
  for (const flow::Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      if (id != 0 && each.result == id) return &each;
    }
  }
  return nullptr;
}

// What has a value worth showing: a store's is what it stores.
const Instruction* giver(const flow::Function& function, const Instruction& each) {
  if (each.op == Op::kStore) return each.args.empty() ? nullptr : definition_of(function, each.args[0].value);
  if (each.op == Op::kConst || each.op == Op::kAddress || each.op == Op::kClosure) return nullptr;
  const bool asks =
      each.op == Op::kOperator &&
      (each.name == flow::kMayThrow || each.name == flow::kMoreElements || each.name == flow::kLoopEntered);
  return each.result != 0 && !asks ? &each : nullptr;
}

// What it is computed from. An element is no more of an expression than the list that it is taken of.
std::vector<flow::ValueId> inputs_of(const Instruction& each) {
  std::vector<flow::ValueId> out;
  for (const flow::Argument& argument : each.args) out.push_back(argument.value);
  const bool is_of_object =
      !each.place.path.empty() && each.place.path.front().kind == flow::Place::Step::Kind::kField;
  if (is_of_object) out.push_back(each.place.base);
  return out;
}

// Of the instructions with one range in a function those that give the expression's value: not the callee,
// a list of sizes or what an assignment like *= reads, which others of them are computed from.
std::vector<const Instruction*> without_parts(const flow::Function& function,
                                              std::vector<const Instruction*> all) {
  const auto is_conversion = [](const Instruction* each) { return each->op == Op::kCast && each->implicit; };
  if (!std::all_of(all.begin(), all.end(), is_conversion)) std::erase_if(all, is_conversion);
  if (all.size() < 2) return all;
  std::map<flow::ValueId, const Instruction*> definitions;
  for (const flow::Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      if (each.result != 0) definitions[each.result] = &each;
    }
  }
  std::set<const Instruction*> parts;
  std::vector<const Instruction*> work = all;
  while (!work.empty()) {
    const Instruction* each = work.back();
    work.pop_back();
    for (const flow::ValueId input : inputs_of(*each)) {
      const auto found = definitions.find(input);
      if (found != definitions.end() && parts.insert(found->second).second) work.push_back(found->second);
    }
  }
  std::erase_if(all, [&](const Instruction* each) { return parts.contains(each); });
  return all;
}

SourceLocation location(const flow::Module& module, const flow::SourceRange& range) {
  return {module.files[range.file], range.line, range.column, range.end_line, range.end_column, ""};
}

}  // namespace

Values::Values(EditedProject& project, const EditedTexts& edited, const ClientView& view,
               const BeforeStep& step)
    : project_(project), asked_(project.asked()), view_(view), step_(step), texts_(edited, view.encoding) {
  for (const auto& [path, document] : edited) {
    if (project.is_of_disk(path)) texts_.read_from_disk(path);
  }
}

Values::Expression Values::at(const std::string& path, const lsp::Position& position) {
  const std::string* text = texts_.text(path);
  if (!text || is_notebook(path)) return {};  // whose lines are not those of its code
  const lsp::Lines lines(*text);
  const int line = static_cast<int>(position.line) + 1;
  const std::size_t begin = lines.start(position.line);
  const int column = static_cast<int>(texts_.offset(path, position) - begin) + 1;
  Expression out;
  std::map<const flow::Function*, std::vector<const Instruction*>> givers;
  for_each_in(*asked_.module, project_.report_name(path),
              [&](const flow::Function& function, const Instruction& each) {
                if (!holds(each.range, line, column)) return;
                const Instruction* gives = giver(function, each);
                if (!gives) return;
                const bool is_smaller = !out.shown || size_of(each.range) < size_of(out.shown->range);
                if (!is_smaller && !(each.range == out.shown->range)) return;
                if (is_smaller) {
                  out.shown = &each;
                  givers.clear();
                }
                givers[&function].push_back(gives);
              });
  for (const auto& [function, all] : givers) {
    for (const Instruction* each : without_parts(*function, all)) {
      out.instructions.push_back(each);
      if (each->range == out.shown->range) out.shown = each;
    }
  }
  return out;
}

std::vector<flow::SeenValue> Values::values_of(const std::vector<const Instruction*>& instructions) {
  if (instructions.empty()) return {};
  const flow::Module& module = *asked_.module;
  flow::AnalysisOptions options = asked_.options;
  options.before_root = [&](std::uint32_t root) {
    const flow::SourceRange& range = module.functions[root].range;
    step_(range.file < module.files.size() ? absolute_path(project_.root(), module.files[range.file]) : "");
  };
  return flow::values_of(*asked_.program, instructions, options);
}

std::string Values::place_of(const SourceLocation& place) const {
  const std::string text = fmt::format("{}:{}", place.file, place.line);
  if (!view_.markdown) return text;
  const std::string path = absolute_path(project_.root(), place.file);
  return fmt::format("[{}]({}#L{})", text, texts_.uri(path), place.line);
}

// A row for each answer, with the settings that give it.
std::string Values::table(const std::vector<flow::SeenValue>& values) const {
  std::vector<std::pair<ValueWords, std::vector<std::string>>> rows;
  for (const flow::SeenValue& each : by_setting(values)) {
    const ValueWords words = value_words(each, [&](const SourceLocation& place) { return place_of(place); });
    if (words.dtype.empty()) continue;
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one.first == words; });
    if (row == rows.end()) row = rows.insert(row, {words, {}});
    row->second.push_back(each.setting);
  }
  if (rows.empty()) return {};
  std::string out = view_.markdown ? "| setting | dtype | rank | decided |\n|---|---|---|---|\n" : "";
  for (const auto& [words, names] : rows) {
    const std::string joined = fmt::format("{}", fmt::join(names, ", "));
    out += view_.markdown
               ? fmt::format("| {} | {} | {} | {} |\n", joined, words.dtype, words.rank, words.origin)
               : fmt::format("{}: {}{}{}{}{}\n", joined, words.dtype, words.rank.empty() ? "" : ", ",
                             words.rank, words.origin.empty() ? "" : ", ", words.origin);
  }
  return out;
}

// The rule whose name stands there: in a comment that accepts a finding.
std::string Values::named_rule(const std::string& path, const lsp::Position& position) {
  const std::string* text = texts_.text(path);
  if (!text) return {};
  const auto is_part = [&](std::size_t at) {
    return at < text->size() &&
           (std::isalnum(static_cast<unsigned char>((*text)[at])) != 0 || (*text)[at] == '-');
  };
  std::size_t begin = texts_.offset(path, position), end = begin;
  while (begin > 0 && is_part(begin - 1)) --begin;
  while (is_part(end)) ++end;
  std::string word = text->substr(begin, end - begin);
  if (!find_rule(word) && word.starts_with("dtype-")) word.erase(0, 6);
  return find_rule(word) ? word : "";
}

// What --explain says of the operator, the call with a contract, and the rules that have a finding there.
std::string Values::about(const std::string& path, const lsp::Position& position, const Expression& found) {
  std::string out;
  const auto add = [&](const std::string& text, bool is_markdown) {
    if (text.empty()) return;
    out += !view_.markdown ? "\n" + text : is_markdown ? "\n---\n" + text : "\n```text\n" + text + "```\n";
  };
  const ContractSet& contracts = project_.options().contracts;
  if (found.shown && (found.shown->op == Op::kOperator || found.shown->op == Op::kSink))
    add(explanation(found.shown->name, "", contracts), false);
  std::set<std::string> rules;
  for (const Finding& each : project_.last_report().findings) {
    if (!is_open(each) || absolute_path(project_.root(), each.location.file) != path) continue;
    const lsp::Range range = texts_.range(path, each.location);
    if (range.start <= position && position <= range.end) rules.insert(each.rule);
  }
  if (const std::string named = named_rule(path, position); !named.empty()) rules.insert(named);
  for (const std::string& each : rules) add(explanation(each, "", contracts), true);
  return out;
}

Json Values::hover(const std::string& path, const lsp::Position& position) {
  const Expression found = at(path, position);
  const std::string values = table(values_of(found.instructions));
  std::string text;
  if (!values.empty()) {
    text = view_.markdown ? fmt::format("```{}\n{}\n```\n\n", source::is_python(path) ? "python" : "cpp",
                                        found.shown->text)
                          : found.shown->text + "\n";
    text += values;
  }
  text += about(path, position, found);
  if (text.empty()) return nullptr;
  Json out = {{"contents", {{"kind", view_.markdown ? "markdown" : "plaintext"}, {"value", text}}}};
  if (found.shown) {
    const flow::Module& module = *asked_.module;
    out["range"] = lsp::to_json(texts_.range(path, location(module, found.shown->range)));
  }
  return out;
}

Json Values::definition(const std::string& path, const lsp::Position& position) {
  const Expression found = at(path, position);
  Json out = Json::array();
  const flow::Module& module = *asked_.module;
  std::set<std::string> known;
  for (const flow::SeenValue& value : values_of(found.instructions)) {
    for (const flow::SeenAlternative& each : value.alternatives) {
      if (!each.origin || each.origin->place.file.empty() || each.origin->place.line < 1) continue;
      const SourceLocation& place = each.origin->place;
      if (!known.insert(fmt::format("{}:{}:{}", place.file, place.line, place.column)).second) continue;
      const std::string target = absolute_path(project_.root(), place.file);
      const Json range = lsp::to_json(texts_.range(target, place));
      if (view_.links) {
        out.push_back(
            {{"originSelectionRange", lsp::to_json(texts_.range(path, location(module, found.shown->range)))},
             {"targetUri", texts_.uri(target)},
             {"targetRange", range},
             {"targetSelectionRange", range}});
      } else {
        out.push_back({{"uri", texts_.uri(target)}, {"range", range}});
      }
    }
  }
  if (out.empty()) return nullptr;
  return out;
}

// At the operands of calls that have a contract.
Json Values::hints(const std::string& path, const lsp::Range& range) {
  if (is_notebook(path)) return Json::array();
  struct Operand {
    SourceLocation place;
    std::string role;
    std::vector<const Instruction*> instructions;
  };
  std::map<std::pair<int, int>, Operand> operands;  // by where they end
  std::vector<const Instruction*> watched;
  const flow::Module& module = *asked_.module;
  for_each_in(module, project_.report_name(path),
              [&](const flow::Function& function, const Instruction& each) {
                if (each.op != Op::kSink) return;
                const lsp::Range call = texts_.range(path, location(module, each.range));
                if (!(call.start <= range.end && range.start <= call.end)) return;
                for (const flow::Argument& argument : each.args) {
                  const Instruction* gives = definition_of(function, argument.value);
                  const bool is_inside = gives && gives->range.file == each.range.file &&
                                         holds(each.range, gives->range.line, gives->range.column) &&
                                         holds(each.range, gives->range.end_line, gives->range.end_column);
                  if (!is_inside || argument.name.empty()) continue;
                  Operand& operand = operands[{gives->range.end_line, gives->range.end_column}];
                  operand.place = location(module, gives->range);
                  operand.role = argument.name;
                  operand.instructions.push_back(gives);
                  watched.push_back(gives);
                }
              });
  const std::vector<flow::SeenValue> values = values_of(watched);
  Json out = Json::array();
  for (const auto& [end, operand] : operands) {
    std::vector<flow::SeenValue> own;
    for (const flow::SeenValue& each : values) {
      const auto& list = operand.instructions;
      if (std::find(list.begin(), list.end(), each.instruction) != list.end()) own.push_back(each);
    }
    const std::string label = short_words(own, asked_.options.settings);
    if (label.empty()) continue;
    Json hint = {{"position", lsp::to_json(texts_.range(path, operand.place).end)},
                 {"label", ": " + label},
                 {"kind", 1},
                 {"paddingLeft", false}};
    const std::string all = table(own);
    hint["tooltip"] = {{"kind", view_.markdown ? "markdown" : "plaintext"},
                       {"value", fmt::format("operand '{}'\n\n{}", operand.role, all)}};
    out.push_back(std::move(hint));
  }
  return out;
}

}  // namespace dtype_guard::driver
