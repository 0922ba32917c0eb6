#include "analyzer/flow/operators/forms.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "analyzer/flow/ir/equation.h"
#include "analyzer/flow/program/function_info.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {

const Argument* argument_of(const Instruction& instruction, std::string_view name, std::size_t position) {
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    const Argument& argument = instruction.args[i];
    if (argument.name == name || (argument.name.empty() && i == position)) return &argument;
  }
  return nullptr;
}

const Instruction* definition(const Argument& argument, const FunctionInfo& info) {
  const Instruction* made = info.definition(argument.value);
  while (made && made->op == Op::kCopy && !made->args.empty()) made = info.definition(made->args[0].value);
  return made;
}

// Whether an optional argument is there: one that is not stated to be none.
bool is_given(const Argument* argument, const FunctionInfo& info) {
  const Instruction* made = argument ? definition(*argument, info) : nullptr;
  return argument && !(made && std::holds_alternative<None>(made->constant));
}

// With a rounding mode integers stay integers; without one that can be read nothing is known.
const Operator* division(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* rounding = argument_of(instruction, "rounding_mode", 2);
  if (!is_given(rounding, info)) return &plain;
  const Instruction* mode = definition(*rounding, info);
  const bool rounds = mode && std::holds_alternative<std::string>(mode->constant);
  return rounds ? find_operator("div.rounded") : nullptr;
}

// The entry for what a word says, where there is one.
const Operator& form_of(const Operator& plain, std::string_view word) {
  const Operator* form = find_operator(plain.name + "." + std::string(word));
  return form ? *form : plain;
}

// What autocast casts: every mode but the mean of areas, and that only where the mode can be read.
const Operator* resized(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* mode = argument_of(instruction, "mode", 3);
  if (!is_given(mode, info)) return &plain;
  const Instruction* made = definition(*mode, info);
  const std::string* word = made ? std::get_if<std::string>(&made->constant) : nullptr;
  return word ? &form_of(plain, *word) : nullptr;
}

// What autocast on the CPU casts: reflected and repeated borders. A mode that cannot be read leaves the dtype
// as a constant border does.
const Operator* padded(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* mode = argument_of(instruction, "mode", 2);
  const Instruction* made = mode ? definition(*mode, info) : nullptr;
  const std::string* word = made ? std::get_if<std::string>(&made->constant) : nullptr;
  return word ? &form_of(plain, *word) : &plain;
}

// Of one operand: what is summed gets sum's dtype, what is exchanged keeps its own.
const Operator* contracted(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Einsum kind = einsum_kind(instruction, info);
  if (kind == Einsum::kUnknown) return &plain;
  const Instruction* first = info.definition(instruction.args.front().value);
  const bool one = std::get<std::string>(first->constant).find(',') == std::string::npos;
  if (one) return find_operator(kind == Einsum::kSums ? "einsum.sum" : "einsum.permute");
  return kind == Einsum::kMultiplies ? find_operator("einsum.mul") : &plain;
}

// Indices are int64, and int32 where the flag says so; a flag that cannot be read says nothing.
const Operator* search(const Operator& wide, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* flag = argument_of(instruction, "out_int32", 2);
  if (!flag) return &wide;
  const Instruction* made = definition(*flag, info);
  const bool* narrow = made ? std::get_if<bool>(&made->constant) : nullptr;
  if (!narrow) return nullptr;
  return *narrow ? find_operator(wide.name + ".int32") : &wide;
}

// cov multiplies with its weights.
const Operator* weighted(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const bool weighs = is_given(argument_of(instruction, "aweights", 3), info);
  return weighs ? find_operator("cov.weighted") : &plain;
}

// What is put before or behind is joined to it first, and that promotes in their order.
const Operator* differences(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  if (is_given(argument_of(instruction, "prepend", 3), info)) return find_operator("diff.prepended");
  if (is_given(argument_of(instruction, "append", 4), info)) return find_operator("diff.appended");
  return &plain;
}

// A constant argument; null: not given, or not one that can be read.
template <typename T>
const T* stated(const Instruction& instruction, const FunctionInfo& info, std::string_view name,
                std::size_t position) {
  const Argument* argument = argument_of(instruction, name, position);
  const Instruction* made = argument ? definition(*argument, info) : nullptr;
  return made ? std::get_if<T>(&made->constant) : nullptr;
}

bool is_stated(const Instruction& instruction, const FunctionInfo& info, std::string_view name,
               std::size_t position, bool wanted) {
  const bool* flag = stated<bool>(instruction, info, name, position);
  return flag && *flag == wanted;
}

// Of a condition alone: the places where it holds, an index for each dimension.
const Operator* places(const Operator& plain, const Instruction& instruction, const FunctionInfo& /*info*/) {
  const bool chooses = argument_of(instruction, "self", 1) || argument_of(instruction, "other", 2);
  return chooses ? &plain : find_operator("where.places");
}
const Operator* placed(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* tuple = argument_of(instruction, "as_tuple", 1);
  if (!tuple) return &plain;
  const bool* flag = stated<bool>(instruction, info, "as_tuple", 1);
  if (!flag) return nullptr;
  return *flag ? find_operator("nonzero.places") : &plain;
}

// What does not train passes anything on; torch::dropout calls the flag `train`, the functional `training`.
const Operator* dropped(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const bool passes =
      is_stated(instruction, info, "train", 2, false) || is_stated(instruction, info, "training", 3, false);
  const Operator* form = passes ? find_operator(plain.name + ".eval") : nullptr;
  return form ? form : &plain;
}

// No product for the powers 0 and 1, an inverse for negative ones. A power that cannot be read may be any.
const Operator* power(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const std::int64_t* n = stated<std::int64_t>(instruction, info, "n", 1);
  if (!n) return nullptr;
  if (*n > 1) return &plain;
  return find_operator(plain.name + (*n >= 0 ? ".copy" : *n == -1 ? ".inverse" : ".inverses"));
}

// What is reduced to a mean is no integer; what is summed, or not reduced, may be.
template <std::size_t kPosition>
const Operator* reduced(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  if (const std::string* word = stated<std::string>(instruction, info, "reduction", kPosition))
    return &form_of(plain, *word);
  const std::int64_t* number = stated<std::int64_t>(instruction, info, "reduction", kPosition);
  const std::string_view word = number && *number >= 0
                                    ? name_of(Named::kReduction, static_cast<std::size_t>(*number))
                                    : std::string_view();
  return word.empty() ? &plain : &form_of(plain, word);
}

// The plain entries of these and each form give one dtype or throw, so a flag that cannot be read takes the
// plain one.
const Operator* swapped(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  return is_stated(instruction, info, "swap", 6, true) ? find_operator("triplet_margin_loss.swap") : &plain;
}
const Operator* of_rates(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const bool rate = is_stated(instruction, info, "log_input", 2, false);
  const bool full = is_stated(instruction, info, "full", 3, true);
  if (rate && full) return nullptr;
  return rate   ? find_operator("poisson_nll_loss.rate")
         : full ? find_operator("poisson_nll_loss.full")
                : &plain;
}

// Norms by singular values take no half type; named ones are those of matrices.
const Operator* norm(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const std::string* word = stated<std::string>(instruction, info, "ord", 1);
  if (!word) return &plain;
  return find_operator(is_named(Named::kSingularValueNorm, *word) ? "linalg_norm.spectral"
                                                                  : "linalg_norm.matrix");
}
const Operator* norm_of_matrix(const Operator& plain, const Instruction& instruction,
                               const FunctionInfo& info) {
  const std::string* word = stated<std::string>(instruction, info, "ord", 1);
  const std::int64_t* number = stated<std::int64_t>(instruction, info, "ord", 1);
  const bool spectral =
      (word && is_named(Named::kSingularValueNorm, *word)) || (number && (*number == 2 || *number == -2));
  return spectral ? find_operator("linalg_matrix_norm.spectral") : &plain;
}

// Coordinates are tensors with a dtype of their own, which the entry does not follow.
const Operator* spaced(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const Argument* spacing = argument_of(instruction, "spacing", 1);
  const Instruction* made = is_given(spacing, info) ? definition(*spacing, info) : nullptr;
  const bool number = made && (std::holds_alternative<std::int64_t>(made->constant) ||
                               std::holds_alternative<double>(made->constant));
  return !is_given(spacing, info) || number ? &plain : nullptr;
}

// What comes out complex is said; what the default is hangs on the release.
const Operator* transformed(const Operator& plain, const Instruction& instruction, const FunctionInfo& info) {
  const bool* complex = stated<bool>(instruction, info, "return_complex", 7);
  if (!complex) return nullptr;
  return *complex ? &plain : find_operator("stft.real");
}
const Operator* transformed_back(const Operator& plain, const Instruction& instruction,
                                 const FunctionInfo& info) {
  if (!is_given(argument_of(instruction, "return_complex", 9), info)) return &plain;
  const bool* complex = stated<bool>(instruction, info, "return_complex", 9);
  if (!complex) return nullptr;
  return *complex ? find_operator("istft.complex") : &plain;
}

using Form = const Operator* (*)(const Operator&, const Instruction&, const FunctionInfo&);
const std::unordered_map<std::string_view, Form>& forms() {
  static const std::unordered_map<std::string_view, Form> all = {
      {"div", division},
      {"where", places},
      {"nonzero", placed},
      {"interpolate", resized},
      {"searchsorted", search},
      {"bucketize", search},
      {"diff", differences},
      {"cov", weighted},
      {"pad", padded},
      {"einsum", contracted},
      {"dropout", dropped},
      {"alpha_dropout", dropped},
      {"feature_dropout", dropped},
      {"feature_alpha_dropout", dropped},
      {"matrix_power", power},
      {"linalg_matrix_power", power},
      {"l1_loss", reduced<2>},
      {"hinge_embedding_loss", reduced<3>},
      {"triplet_margin_loss", swapped},
      {"poisson_nll_loss", of_rates},
      {"linalg_norm", norm},
      {"linalg_matrix_norm", norm_of_matrix},
      {"gradient", spaced},
      {"stft", transformed},
      {"istft", transformed_back},
  };
  return all;
}

// What is known of the tensors given for an argument, in ranks and dtypes.
struct Known {
  bool any = false;
  bool floating = false, other = false, float32 = false, wider = false, mask = false;  // some may be so
  Rank rank;
};

Known known(const std::vector<GivenTensors>& given, std::string_view argument) {
  Known out;
  for (const GivenTensors& each : given) {
    if (each.argument != argument) continue;
    for (const Alternative& one : *each.alternatives) {
      if (one.kind == Alternative::Kind::kNone) continue;
      const bool open =
          one.kind != Alternative::Kind::kTensor || one.dtype == Dtype::kUndefined || one.assumed;
      out.floating = out.floating || open || is_floating(one.dtype);
      out.other = out.other || open || !is_floating(one.dtype);
      out.float32 = out.float32 || open || one.dtype == Dtype::kFloat32;
      out.wider = out.wider || open || one.dtype != Dtype::kFloat32;
      out.mask = out.mask || one.dtype == Dtype::kBool || one.dtype == Dtype::kUInt8;
      const Rank rank = one.kind == Alternative::Kind::kTensor ? one.rank : Rank{};
      out.rank = out.any ? join(out.rank, rank) : rank;
      out.any = true;
    }
  }
  return out;
}

// The forms that what an operator is given may be of: the entry itself, another, or either.
using Chosen = std::vector<const Operator*>;
using Given = std::vector<GivenTensors>;

Chosen either(bool first, const Operator* a, bool second, const Operator* b) {
  Chosen out;
  if (first) out.push_back(a);
  if (second) out.push_back(b);
  return out;
}
Chosen by_target(const Operator& op, const Given& given) {
  const Known target = known(given, "target");
  if (!target.any) return {&op};
  return either(target.other, &op, target.floating, find_operator(op.name + ".probabilities"));
}
Chosen by_weights(const Operator& op, const Given& given) {
  const Known weights = known(given, "weights");
  if (!weights.any) return {&op};
  return either(weights.float32, find_operator(op.name + ".float32"), weights.wider,
                find_operator(op.name + ".float64"));
}
Chosen by_indices(const Operator& op, const Given& given) {
  return {known(given, "indices").mask ? find_operator(op.name + ".mask") : &op};
}
Chosen by_length(const Operator& op, const Given& given) {
  const Rank rank = known(given, "input").rank;
  return either(rank.max > 3, &op, rank.min <= 3, find_operator(op.name + ".sequence"));
}
Chosen by_vectors(const Operator& op, const Given& given) {
  const Rank left = known(given, "self").rank, right = known(given, "tensor").rank;
  return either(left.max > 1 || right.max > 1, &op, left.min <= 1 && right.min <= 1,
                find_operator(op.name + ".vector"));
}
// ggml's rows of integers stay integers; any others come as float32.
Chosen by_rows(const Operator& op, const Given& given) {
  const Known table = known(given, "self");
  const bool open = !table.any;
  return either(open || table.floating, &op, open || table.other, find_operator(op.name + ".int32"));
}
// All dimensions, or not.
Chosen all_or_not(const Operator& op, const Given& /*given*/) {
  return {&op, find_operator(op.name + ".all")};
}
Chosen by_dimensions(const Operator& op, const Given& given) {
  const Rank rank = known(given, "self").rank;
  return either(rank.min <= 4, &op, rank.max >= 4, find_operator(op.name + "3d"));
}

using FormByTensors = Chosen (*)(const Operator&, const Given&);
const std::unordered_map<std::string_view, FormByTensors>& forms_by_tensors() {
  static const std::unordered_map<std::string_view, FormByTensors> all = {
      {"cross_entropy_loss", by_target},  {"bincount", by_weights},   {"index_put", by_indices},
      {"local_response_norm", by_length}, {"inner", by_vectors},      {"tensordot", all_or_not},
      {"pad.reflect", by_dimensions},     {"ggml_get_rows", by_rows},
  };
  return all;
}

}  // namespace

Einsum einsum_kind(const Instruction& instruction, const FunctionInfo& info) {
  if (instruction.args.empty()) return Einsum::kUnknown;
  const Instruction* first = info.definition(instruction.args.front().value);
  const auto* equation = first ? std::get_if<std::string>(&first->constant) : nullptr;
  const std::size_t arrow = equation ? equation->find("->") : std::string::npos;
  if (arrow == std::string::npos) return Einsum::kUnknown;
  const std::string_view inputs = std::string_view(*equation).substr(0, arrow);
  const bool several = inputs.find(',') != std::string_view::npos, are_words = names_stand_apart(inputs);
  const auto kept = names_in(std::string_view(*equation).substr(arrow), are_words);
  // What one operand alone has is summed before they are multiplied.
  std::map<std::string_view, int> operands_with;
  for (std::size_t at = 0; at <= inputs.size();) {
    const std::size_t end = std::min(inputs.find(',', at), inputs.size());
    const auto names = names_in(inputs.substr(at, end - at), are_words);
    for (const std::string_view each : std::set(names.begin(), names.end())) ++operands_with[each];
    at = end + 1;
  }
  const bool sums = std::any_of(operands_with.begin(), operands_with.end(), [&](const auto& each) {
    const bool is_kept = std::find(kept.begin(), kept.end(), each.first) != kept.end();
    return !is_kept && (!several || each.second > 1);
  });
  return sums ? Einsum::kSums : Einsum::kMultiplies;
}

const Operator* operator_of(const Instruction& instruction, const FunctionInfo& info) {
  const Operator* op = find_operator(instruction.name);
  if (!op) return op;
  const auto form = forms().find(op->name);
  return form == forms().end() ? op : form->second(*op, instruction, info);
}

std::vector<const Operator*> forms_of_tensors(const Operator& op, const std::vector<GivenTensors>& given) {
  const auto form = forms_by_tensors().find(op.name);
  return form == forms_by_tensors().end() ? std::vector<const Operator*>{&op} : form->second(op, given);
}

}  // namespace dtype_guard::flow
