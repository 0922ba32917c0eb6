// Answers, line by line, what the rules predict; differential_torch.py asks and compares with PyTorch.
//   promote A B               result_type A:RANK B:RANK ...
//   op NAME DTYPE|- DEVICE AUTOCAST|- VERSION ARGUMENT:DTYPE:RANK ...   ARGUMENT is a name or a position,
//   from 0 chain DTYPE VERSION NAME[,ARGUMENT:DTYPE:RANK] ...   each result is the first argument of the next
//   autocast NAME DEVICE VERSION   answered with the policy
//   known NAME                answered with yes or no
//   entry NAME                answered with the entry's canonical name, or -
//   aliases                   all further spellings in the table
//   names                     all entries of the table
//   variants                  all in-place and out= variants
// Dtypes are PyTorch's names; RANK is wrapped, zero or dim. The answer is a dtype's name, "undefined",
// "throws", "DTYPE|throws" where kernels differ, or "error: " and what is wrong with the question.
#include <iostream>
#include <sstream>

#include "rules/operators/operators.h"

using namespace dtype_guard;

namespace {

struct Usage {
  std::string problem;
};

Dtype dtype_of(const std::string& name) {
  const auto parsed = parse_dtype(name);
  if (!parsed) throw Usage{"unknown dtype " + name};
  return *parsed;
}

std::optional<Dtype> optional_dtype(const std::string& name) {
  if (name == "-") return std::nullopt;
  return dtype_of(name);
}

RankClass rank_of(const std::string& name) {
  if (name == "wrapped") return RankClass::kWrapped;
  if (name == "zero") return RankClass::kZeroDim;
  if (name == "dim") return RankClass::kDim;
  throw Usage{"unknown rank " + name};
}

std::vector<std::string> fields_of(const std::string& text) {
  std::vector<std::string> fields;
  std::istringstream in(text);
  for (std::string field; std::getline(in, field, ':');) fields.push_back(field);
  return fields;
}

std::string answer(const PromotionResult& result) {
  if (std::holds_alternative<PromotionError>(result)) return "throws";
  return std::string(name(std::get<Dtype>(result)));
}

std::string_view argument_of(const Operator& op, const std::string& written) {
  if (written.find_first_not_of("0123456789") != std::string::npos) return written;
  const std::size_t position = std::stoul(written);
  if (position >= op.arguments.size()) throw Usage{op.name + " has no argument " + written};
  return op.arguments[position];
}

std::string names_of(const std::vector<Operator>& operators) {
  std::string names;
  for (const Operator& op : operators) names += op.name + " ";
  return names;
}

std::string answer_operator(std::istream& in) {
  std::string spelling, dtype, device, autocast, version;
  in >> spelling >> dtype >> device >> autocast >> version;
  const Operator* op = find_operator(spelling);
  if (op == nullptr) throw Usage{"unknown operator " + spelling};
  std::vector<std::vector<std::string>> parts;
  for (std::string part; in >> part;) parts.push_back(fields_of(part));
  std::vector<OperatorInput> inputs;
  for (const auto& part : parts) {
    inputs.push_back({argument_of(*op, part.at(0)), dtype_of(part.at(1)), rank_of(part.at(2))});
  }
  OperatorContext context;
  context.device = device;
  context.autocast = optional_dtype(autocast).value_or(Dtype::kUndefined);
  context.torch_version = version;
  const OperatorOutcome outcome = evaluate(*op, inputs, optional_dtype(dtype), context);
  if (!outcome.dtype) return "throws";
  return std::string(name(*outcome.dtype)) + (outcome.may_throw ? "|throws" : "");
}

std::string answer_chain(std::istream& in) {
  std::string dtype, version;
  in >> dtype >> version;
  for (std::string step; in >> step && dtype != "throws";) {
    const std::size_t comma = step.find(',');
    const std::string rest = comma == std::string::npos ? "" : step.substr(comma + 1);
    std::istringstream question(step.substr(0, comma) + " - cpu - " + version + " 0:" + dtype + ":dim " +
                                rest);
    dtype = answer_operator(question);
  }
  return dtype;
}

std::string answer_line(const std::string& line) {
  std::istringstream in(line);
  std::string question;
  in >> question;
  if (question == "promote") {
    std::string a, b;
    in >> a >> b;
    return answer(promote_types(dtype_of(a), dtype_of(b)));
  }
  if (question == "result_type") {
    std::vector<ResultTypeOperand> operands;
    for (std::string part; in >> part;) {
      const auto fields = fields_of(part);
      operands.push_back({dtype_of(fields.at(0)), rank_of(fields.at(1))});
    }
    return answer(result_type(operands));
  }
  if (question == "op") return answer_operator(in);
  if (question == "names") return names_of(all_operators());
  if (question == "variants") return names_of(all_variants());
  if (question == "known") {
    std::string spelling;
    in >> spelling;
    return find_operator(spelling) != nullptr ? "yes" : "no";
  }
  if (question == "entry") {
    std::string spelling;
    in >> spelling;
    const Operator* op = find_operator(spelling);
    return op != nullptr ? op->name : "-";
  }
  if (question == "aliases") {
    std::string spellings;
    for (const Operator& op : all_operators()) {
      for (const std::string& alias : op.aliases) spellings += alias + " ";
    }
    return spellings;
  }
  if (question == "chain") return answer_chain(in);
  if (question == "autocast") {
    static constexpr const char* kWords[] = {"none",    "lower_precision", "float32", "float32_set_dtype",
                                             "promote", "banned"};
    std::string spelling, device, version;
    in >> spelling >> device >> version;
    return kWords[static_cast<std::size_t>(autocast_policy(spelling, device, version))];
  }
  throw Usage{"unknown question " + question};
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::cout << answer_line(line) << '\n';
    } catch (const Usage& usage) {
      std::cout << "error: " << usage.problem << '\n';
    }
  }
}
