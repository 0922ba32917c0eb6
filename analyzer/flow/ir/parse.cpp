#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "analyzer/flow/ir/text_cursor.h"

namespace dtype_guard::flow {

TextError::TextError(int line_number, const std::string& problem)
    : std::runtime_error(fmt::format("line {}: {}", line_number, problem)), line(line_number) {}

namespace {

class Parser {
 public:
  Module read(std::string_view text) {
    int number = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.size(), text.find('\n'));
      TextCursor line(text.substr(0, end), ++number);
      text.remove_prefix(std::min(text.size(), end + 1));
      if (!line.at_end() && !line.take("//")) read_line(line);
    }
    finish_function();
    return std::move(module_);
  }

 private:
  void read_line(TextCursor& line) {
    if (line.next_is('%')) return instruction(line);
    for (std::size_t kind = 0; kind < kFunctionKinds.size(); ++kind) {
      if (line.take(kFunctionKinds[kind])) return function_header(line, static_cast<FunctionKind>(kind));
    }
    if (line.take("file")) {
      module_.files.push_back(line.quoted("a file name in quotes"));
    } else if (line.take("not_lowered")) {
      NotLowered each;
      each.function = line.quoted("a function name in quotes");
      each.reason = line.quoted("a reason in quotes");
      std::string text;
      position(line, each.range, text);
      module_.not_lowered.push_back(std::move(each));
    } else if (!function_ && line.take("overridden")) {
      module_.overridden.push_back(line.word("a function key"));
    } else if (!function_ && line.take("class")) {
      class_header(line);
    } else if (!function_ && !module_.classes.empty() && line.take("field")) {
      module_.classes.back().fields.push_back(parameter(line));
    } else if (!function_ && !module_.classes.empty() && line.take("settable")) {
      module_.classes.back().settable.push_back(parameter(line));
    } else if (!function_ && !module_.classes.empty() && line.take("setter")) {
      module_.classes.back().setters.push_back(line.word("a function key"));
    } else if (!function_ && !module_.classes.empty() && line.take("virtual")) {
      module_.classes.back().virtuals.push_back(line.word("a function key"));
    } else if (!function_ && !module_.classes.empty() && line.take("owned")) {
      module_.classes.back().owned.push_back(line.word("a field"));
    } else if (!function_ && !module_.classes.empty() && line.take("placeholder")) {
      module_.classes.back().placeholders.push_back(line.word("a field"));
    } else if (function_ && function_->blocks.empty() && line.take("parameter")) {
      function_->parameters.push_back(parameter(line));
    } else if (function_ && function_->blocks.empty() && line.take("variables")) {
      do {
        function_->variables.push_back(line.word("a variable name"));
      } while (line.take(","));
    } else if (function_ && function_->blocks.empty() && line.take("constants")) {
      arguments(line, function_->constants);
    } else if (function_ && !starts_instruction(line)) {
      block_label(line);
    } else if (function_) {
      return instruction(line);
    } else {
      line.expected("'file', 'not_lowered', 'overridden', 'class' or a function");
    }
    if (!line.at_end()) line.expected("the end of the line");
  }

  static bool starts_instruction(TextCursor line) {
    auto first = line.plain_word();
    if (!first) return false;
    return *first == "implicit" || std::any_of(kMnemonics.begin(), kMnemonics.end(),
                                               [&](const Mnemonic& row) { return row.word == *first; });
  }

  void function_header(TextCursor& line, FunctionKind kind) {
    finish_function();
    function_ = &module_.functions.emplace_back();
    function_->kind = kind;
    function_->name = line.word("a function name");
    function_->key = line.take("key") ? line.word("a function key") : function_->name;
    if (line.take("of")) function_->class_name = line.word("a class name");
    function_->of_module = line.take("module");
    function_->external = !line.take("internal");
    function_->is_main = line.take("main");
    function_->foreign = line.take("foreign");
    std::string text;
    position(line, function_->range, text);
    if (!line.at_end())
      line.expected("'key', 'of', 'module', 'internal', 'main', 'foreign', ';' or the end of the line");
  }

  void class_header(TextCursor& line) {
    ClassFacts& facts = module_.classes.emplace_back();
    facts.name = line.word("a class name");
    if (line.take(":")) {
      do {
        facts.bases.push_back(line.word("a class name"));
      } while (line.take(","));
    }
    facts.local = line.take("local");
  }

  Parameter parameter(TextCursor& line) {
    Parameter parameter;
    parameter.name = line.word("a parameter name");
    line.need(":");
    const auto kind = std::find_if(kParameterKinds.begin(), kParameterKinds.end(),
                                   [&](std::string_view word) { return line.take(word); });
    if (kind == kParameterKinds.end())
      line.expected(fmt::format("one of {}", fmt::join(kParameterKinds, ", ")));
    parameter.kind = static_cast<ParameterKind>(kind - kParameterKinds.begin());
    if (line.next_is('"')) parameter.type = line.quoted("a type in quotes");
    parameter.by_reference = line.take("&");
    if (line.take("rest")) parameter.rest = Rest::kPositional;
    if (line.take("keywords")) parameter.rest = Rest::kKeywords;
    if (line.take("=")) parameter.default_value = constant(line);
    return parameter;
  }

  void block_label(TextCursor& line) {
    const BlockId expected = static_cast<BlockId>(function_->blocks.size());
    if (!line.take(fmt::format("b{}:", expected))) {
      line.expected(function_->blocks.empty() ? "'parameter', 'variables', 'constants' or 'b0:'"
                                              : fmt::format("an instruction or 'b{}:'", expected));
    }
    function_->blocks.emplace_back();
  }

  ValueId value(TextCursor& line) {
    line.need("%");
    const ValueId id = line.need_number<ValueId>("a value number");
    if (id) used_.emplace_back(id, line.number());
    return id;
  }

  void instruction(TextCursor& line) {
    if (!function_ || function_->blocks.empty()) line.expected("a block label before the first instruction");
    Instruction out;
    if (line.next_is('%')) {
      line.need("%");
      out.result = line.need_number<ValueId>("a value number");
      line.need("=");
      if (!out.result || !defined_.insert(out.result).second) {
        throw TextError(line.number(), fmt::format("%{} is defined twice, or is %0", out.result));
      }
    }
    out.implicit = line.take("implicit");
    TextCursor at_word = line;
    const auto first = line.plain_word();
    const auto row = std::find_if(kMnemonics.begin(), kMnemonics.end(),
                                  [&](const Mnemonic& each) { return first && each.word == *first; });
    if (row == kMnemonics.end()) at_word.expected("an instruction");
    out.op = static_cast<Op>(row - kMnemonics.begin());
    operands(line, *row, out);
    position(line, out.range, out.text, &out.written);
    if (!line.at_end()) line.expected("';' or the end of the line");
    function_->blocks.back().instructions.push_back(std::move(out));
  }

  void operands(TextCursor& line, const Mnemonic& row, Instruction& out) {
    if (row.name) out.name = line.word("a name");
    if (row.place) out.place = place(line);
    if (row.constant) out.constant = constant(line);
    if (row.arguments == Mnemonic::Arguments::kParenthesised) {
      line.need("(");
      if (!line.take(")")) {
        arguments(line, out.args);
        line.need(")");
      }
    } else if (row.arguments == Mnemonic::Arguments::kBare && !line.at_end() && !line.next_is(';')) {
      if (row.place || row.constant) line.need(",");
      arguments(line, out.args);
    }
    if (out.args.size() < row.least)
      throw TextError(line.number(),
                      fmt::format("'{}' has {} of {} values", row.word, out.args.size(), row.least));
    if (out.op == Op::kJump) target(line, out);
    if (out.op == Op::kBranch) {
      line.need("?");
      target(line, out);
      line.need(":");
      target(line, out);
    }
  }

  void arguments(TextCursor& line, std::vector<Argument>& out) {
    do {
      Argument argument;
      if (!line.next_is('%')) {
        argument.name = line.word("a value or NAME=%value");
        line.need("=");
      }
      argument.value = value(line);
      out.push_back(std::move(argument));
    } while (line.take(","));
  }

  void target(TextCursor& line, Instruction& out) {
    TextCursor before = line;
    const auto word = line.plain_word();
    BlockId id = 0;
    const char* end = word ? word->data() + word->size() : nullptr;
    if (!word || (*word)[0] != 'b' || std::from_chars(word->data() + 1, end, id).ptr != end ||
        word->size() < 2) {
      before.expected("a block such as b1");
    }
    targets_.emplace_back(id, line.number());
    out.targets.push_back(id);
  }

  Place place(TextCursor& line) {
    Place out;
    if (line.next_is('%')) {
      out.base = value(line);
    } else {
      out.variable = variable(line);
    }
    while (true) {
      Place::Step step;
      if (line.take(".")) {
        step.field = line.word("a field name");
      } else if (line.take("[")) {
        step.kind = line.take("*")   ? Place::Step::Kind::kAnyCell
                    : line.take("+") ? Place::Step::Kind::kNextCell
                                     : Place::Step::Kind::kCell;
        if (step.kind == Place::Step::Kind::kCell)
          step.cell = line.need_number<std::int64_t>("an index, '*' or '+'");
        line.need("]");
      } else {
        return out;
      }
      out.path.push_back(std::move(step));
    }
  }

  VariableId variable(TextCursor& line) {
    const std::string name = line.word("a variable or a value");
    if (line.take("#")) return line.need_number<VariableId>("a variable number");
    const auto& names = function_->variables;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      throw TextError(line.number(), fmt::format("'{}' is not among the variables", name));
    return static_cast<VariableId>(found - names.begin());
  }

  static Constant constant(TextCursor& line) {
    if (line.next_is('"')) return line.quoted("a string");
    TextCursor number = line;
    const std::string digits = number.number_characters();
    if (!digits.empty() && !is_word_start(digits[0])) {
      line = number;
      return number_constant(digits, line);
    }
    const TextCursor before = line;
    const std::string word = line.word("a constant");
    if (word == "unknown") return Unknown{};
    if (word == "none") return None{};
    if (word == "true" || word == "false") return word == "true";
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == name(Dtype::kUndefined)) return Dtype::kUndefined;
    for (Dtype dtype : all_dtypes()) {
      if (word == name(dtype)) return dtype;
    }
    before.expected("a constant: a number, a string, true, false, none, unknown or a dtype");
  }

  static Constant number_constant(const std::string& digits, TextCursor& line) {
    const char* end = digits.data() + digits.size();
    std::int64_t integer = 0;
    if (std::from_chars(digits.data(), end, integer).ptr == end) return integer;
    double real = 0;
    if (std::from_chars(digits.data(), end, real).ptr == end) return real;
    throw TextError(line.number(), fmt::format("'{}' is not a number", digits));
  }

  void position(TextCursor& line, SourceRange& range, std::string& text, Written* written = nullptr) {
    if (!line.take(";")) return;
    if (!line.next_is('"') || line_has_position(line)) source_range(line, range);
    for (const Written each : {Written::kTensor, Written::kBound, Written::kMacro}) {
      if (written && line.take(spelling(each))) *written = each;
    }
    if (line.next_is('"')) text = line.quoted("the source text");
  }

  static bool line_has_position(TextCursor line) {  // a quoted file name, not a quoted text
    line.quoted("a file name");
    return line.next_is(':');
  }

  void source_range(TextCursor& line, SourceRange& range) {
    range.file = function_ ? function_->range.file : 0;
    TextCursor start = line;
    if (line.next_is('"') || start.until(": ").find_first_not_of("0123456789") != std::string::npos) {
      const std::string file = line.next_is('"') ? line.quoted("a file") : line.until(":");
      const auto found = std::find(module_.files.begin(), module_.files.end(), file);
      if (found == module_.files.end()) {
        throw TextError(line.number(), fmt::format("'{}' is not among the files declared above", file));
      }
      range.file = static_cast<std::uint32_t>(found - module_.files.begin());
      line.need(":");
    }
    range.line = line.need_number<int>("a line");
    line.need(":");
    range.column = line.need_number<int>("a column");
    line.need("-");
    range.end_line = line.need_number<int>("an end line");
    line.need(":");
    range.end_column = line.need_number<int>("an end column");
  }

  void finish_function() {
    if (!function_) return;
    for (const auto& [id, line] : used_) {
      if (!defined_.count(id)) throw TextError(line, fmt::format("%{} is used but never defined", id));
    }
    for (const auto& [id, line] : targets_) {
      if (id >= function_->blocks.size())
        throw TextError(line, fmt::format("b{} is not a block of this function", id));
    }
    used_.clear();
    defined_.clear();
    targets_.clear();
  }

  Module module_;
  Function* function_ = nullptr;
  std::set<ValueId> defined_;
  std::vector<std::pair<ValueId, int>> used_;
  std::vector<std::pair<BlockId, int>> targets_;
};

}  // namespace

Module parse(std::string_view text) { return Parser().read(text); }

}  // namespace dtype_guard::flow
