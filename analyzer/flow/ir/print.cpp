#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/flow/ir/mnemonics.h"
#include "analyzer/flow/ir/text.h"

namespace dtype_guard::flow {
namespace {

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string word(std::string_view text) {
  return !text.empty() && word_length(text) == text.size() ? std::string(text) : quoted_text(text);
}

std::string number(double value) {
  std::string out = fmt::format("{}", value);
  return std::isfinite(value) && out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

struct ConstantText {
  std::string operator()(Unknown) const { return "unknown"; }
  std::string operator()(None) const { return "none"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return number(value); }
  std::string operator()(const std::string& value) const { return quoted_text(value); }
  std::string operator()(Dtype value) const { return std::string(name(value)); }
};

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}

  std::string function(const Function& function) {
    function_ = &function;
    std::string out =
        fmt::format("{} {}", kFunctionKinds[static_cast<std::size_t>(function.kind)], word(function.name));
    if (function.key != function.name) out += " key " + word(function.key);
    if (!function.class_name.empty()) out += " of " + word(function.class_name);
    if (function.of_module) out += " module";
    if (!function.external) out += " internal";
    if (function.is_main) out += " main";
    if (function.foreign) out += " foreign";
    out += position(function.range, {}, true) + "\n";
    for (const Parameter& parameter : function.parameters) out += parameter_line(parameter, "parameter");
    if (!function.variables.empty()) {
      out += "  variables ";
      for (std::size_t i = 0; i < function.variables.size(); ++i) {
        out += (i ? ", " : "") + word(function.variables[i]);
      }
      out += "\n";
    }
    for (std::size_t i = 0; i < function.constants.size(); ++i) {
      out += (i ? ", " : "  constants ") + argument(function.constants[i]);
    }
    if (!function.constants.empty()) out += "\n";
    for (std::size_t i = 0; i < function.blocks.size(); ++i) {
      out += fmt::format("b{}:\n", i);
      for (const Instruction& instruction : function.blocks[i].instructions)
        out += instruction_line(instruction);
    }
    return out;
  }

  static std::string class_facts(const ClassFacts& facts) {
    std::string out = "class " + word(facts.name);
    for (std::size_t i = 0; i < facts.bases.size(); ++i) out += (i ? ", " : " : ") + word(facts.bases[i]);
    out += facts.local ? " local\n" : "\n";
    for (const Parameter& each : facts.fields) out += parameter_line(each, "field");
    for (const Parameter& each : facts.settable) out += parameter_line(each, "settable");
    for (const std::string& each : facts.setters) out += "  setter " + word(each) + "\n";
    for (const std::string& each : facts.virtuals) out += "  virtual " + word(each) + "\n";
    for (const std::string& each : facts.owned) out += "  owned " + word(each) + "\n";
    for (const std::string& each : facts.placeholders) out += "  placeholder " + word(each) + "\n";
    return out;
  }

  std::string position(const SourceRange& range, std::string_view text, bool with_file,
                       Written written = Written::kOther) const {
    std::string out;
    if (range != SourceRange{}) {
      if (with_file) {
        const std::string& file = module_.files.at(range.file);
        const bool plain = file.find_first_of(" :\"\\;") == std::string::npos &&
                           file.find_first_not_of("0123456789") != std::string::npos &&
                           std::none_of(file.begin(), file.end(), [](unsigned char c) { return c < 0x21; });
        out += (plain ? file : quoted_text(file)) + ":";
      }
      out += fmt::format("{}:{}-{}:{}", range.line, range.column, range.end_line, range.end_column);
    }
    if (!out.empty() && written != Written::kOther) out += " " + std::string(spelling(written));
    if (!text.empty()) out += (out.empty() ? "" : " ") + quoted_text(text);
    return out.empty() ? out : " ; " + out;
  }

 private:
  static std::string parameter_line(const Parameter& parameter, std::string_view what) {
    std::string out = fmt::format("  {} {}: {}", what, word(parameter.name),
                                  kParameterKinds[static_cast<std::size_t>(parameter.kind)]);
    if (!parameter.type.empty()) out += " " + quoted_text(parameter.type);
    out += parameter.by_reference ? " &" : "";
    if (parameter.rest != Rest::kNone) out += parameter.rest == Rest::kPositional ? " rest" : " keywords";
    if (parameter.default_value) out += " = " + std::visit(ConstantText{}, *parameter.default_value);
    return out + "\n";
  }

  std::string variable(VariableId id) const {
    const auto& names = function_->variables;
    if (id >= names.size()) return fmt::format("\"\"#{}", id);
    const auto first = std::find(names.begin(), names.end(), names[id]);
    if (first - names.begin() == static_cast<std::ptrdiff_t>(id)) return word(names[id]);
    return fmt::format("{}#{}", word(names[id]), id);
  }

  std::string place(const Place& place) const {
    std::string out = place.base ? fmt::format("%{}", place.base) : variable(place.variable);
    for (const Place::Step& step : place.path) {
      switch (step.kind) {
        case Place::Step::Kind::kField:
          out += "." + word(step.field);
          break;
        case Place::Step::Kind::kCell:
          out += fmt::format("[{}]", step.cell);
          break;
        case Place::Step::Kind::kAnyCell:
          out += "[*]";
          break;
        case Place::Step::Kind::kNextCell:
          out += "[+]";
          break;
      }
    }
    return out;
  }

  static std::string argument(const Argument& argument) {
    return (argument.name.empty() ? "" : word(argument.name) + "=") + fmt::format("%{}", argument.value);
  }

  static std::string arguments(const Instruction& instruction, Mnemonic::Arguments style) {
    std::string out;
    for (const Argument& each : instruction.args) out += (out.empty() ? "" : ", ") + argument(each);
    if (style == Mnemonic::Arguments::kParenthesised) return "(" + out + ")";
    return out.empty() ? out : " " + out;
  }

  std::string instruction_line(const Instruction& instruction) const {
    const Mnemonic& row = mnemonic(instruction.op);
    std::string out = "  ";
    if (instruction.result) out += fmt::format("%{} = ", instruction.result);
    if (instruction.implicit) out += "implicit ";
    out += row.word;
    if (row.name) out += " " + word(instruction.name);
    if (row.place) out += " " + place(instruction.place);
    if (row.constant) out += " " + std::visit(ConstantText{}, instruction.constant);
    if (row.arguments != Mnemonic::Arguments::kNone) {
      if ((row.place || row.constant) && !instruction.args.empty()) out += ",";
      out += arguments(instruction, row.arguments);
    }
    if (instruction.op == Op::kJump) out += fmt::format(" b{}", instruction.targets.at(0));
    if (instruction.op == Op::kBranch) {
      out += fmt::format(" ? b{} : b{}", instruction.targets.at(0), instruction.targets.at(1));
    }
    return out +
           position(instruction.range, instruction.text, instruction.range.file != function_->range.file,
                    instruction.written) +
           "\n";
  }

  const Module& module_;
  const Function* function_ = nullptr;
};

}  // namespace

std::string print(const Function& function, const Module& module) {
  return Printer(module).function(function);
}

std::string print(const Module& module) {
  std::string out;
  for (const std::string& file : module.files) out += "file " + quoted_text(file) + "\n";
  Printer printer(module);
  for (const NotLowered& each : module.not_lowered) {
    out += fmt::format("not_lowered {} {}{}\n", quoted_text(each.function), quoted_text(each.reason),
                       printer.position(each.range, {}, true));
  }
  for (const std::string& key : module.overridden) out += "overridden " + word(key) + "\n";
  for (const ClassFacts& each : module.classes) out += Printer::class_facts(each);
  for (const Function& function : module.functions) {
    if (!out.empty()) out += "\n";
    out += printer.function(function);
  }
  return out;
}

}  // namespace dtype_guard::flow
