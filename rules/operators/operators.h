// The operator table: how the dtype and rank of each ATen operator's result follow from its inputs. Entries
// are data (the JSON files of this folder); `evaluate` applies an entry to concrete input dtypes, under
// autocast when that is on. C++ and Python spellings resolve to one entry.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/dtype/dtype.h"
#include "rules/dtype/dtype_set.h"
#include "rules/dtype/promotion.h"

namespace dtype_guard {

enum class ResultRule : std::uint8_t {
  kPromote,            // result_type of the promoting arguments
  kPromoteIntToFloat,  // the same, integers become the default dtype
  kPromoteToReal,      // the same, complex becomes its value type (abs, norm)
  kToReal,             // the value type of a complex input, else like first (view_as_real)
  kToComplex,          // the complex type over a float input; bfloat16 has none (polar, view_as_complex)
  kPromoteBoolToLong,  // the same, bool becomes int64
  kBool,               // comparisons, isnan, ...
  kBoolOrByte,         // bool, but uint8 stays uint8: all, any
  kLikeFirst,          // dtype of the first tensor: views, in-place variants, reductions of floats, softmax
  kRequireSame,  // promoting arguments must be equal, else PyTorch throws: matmul, linear, bmm; `dtype` of
                 // the last two's product: theirs or, of half types, float32
  kSumLike,      // like kLikeFirst, but integers and bool become int64; `dtype` overrides
  kCast,         // `dtype` argument, else like first: to, type_as, half, float
  kFactory,      // `dtype` argument, else default dtype: zeros, randn, full
  kFactoryFromValue,    // `dtype` argument, else by the numbers given: arange, tensor, full with an integer
                        // value
  kFactoryLike,         // `dtype` argument, else like first: zeros_like, new_zeros
  kPromoteToRealFloat,  // the same, integers become the default dtype (angle, irfft)
  kPromoteToDouble,     // float64, or complex128 when the promoted type is complex (float_power)
  kPromoteToComplex,    // the complex type over the promoted one, integers over the default dtype (fft)
  kFixed,               // always `fixed`: argmax gives int64
  kDescriptor,  // a view through another type that keeps the dtype: toDLPack, data_ptr, contiguous handle
};

enum class RankRule : std::uint8_t {
  kBroadcast,          // the largest rank of the promoting arguments
  kLikeFirst,          // elementwise on the first tensor
  kReduce,             // one dimension fewer without keepdim; zero without dim
  kReduceOrBroadcast,  // max(dim) as kReduce, max(other) as kBroadcast
  kStated,             // by the call: einsum's equation
  kAtLeastOne,         // known only to be dimensioned: cat, linear, view with a shape, factories with sizes
  kPlusOne,            // unsqueeze, stack, whose dimensions are the result's
  kMinusOne,           // select, indexing by one integer
  kJoined,             // that of each tensor in the list but empty ones: cat
  kListed,             // the number of dimensions in `dims`: permute
  kLikeOther,          // that of the second tensor: expand_as
  kLikeFirstAlong,     // like first with `dim`, flat without: repeat_interleave
  kSqueezed,           // like first but for dimensions of size one
  kMatmul,             // of vectors, matrices and batches
  kZero,               // always 0-dim
  kOne,                // always a list: the places where a condition holds
  kTwo,                // always rows: nonzero
  kFromShape,          // length of the shape argument when constant: view, zeros, full
  kFromData,           // of a number none, of a list at least one: tensor, as_tensor
  kUnknown,
};

// What a tensor given as out= must be; it is what the call returns. PyTorch decides it per operator.
enum class OutRule : std::uint8_t {
  kFits,            // able to hold the result: a float result does not go into an integer tensor
  kFitsKind,        // the same, and complex only when the result is
  kExact,           // of the result's dtype
  kAny,             // anything: the result is converted
  kFloating,        // floating or complex, whatever the result (logsumexp)
  kMagnitude,       // exact for a real input; of a complex one any floating dtype, or the input's (abs)
  kExactOfReal,     // exact for a real input, kFits for a complex one (ifft)
  kExactAtTimes,    // exact or anything, by what the table does not see (sum: anything along a dimension)
  kExactOfNumbers,  // exact where the other operands are numbers, kFits with a tensor among them (clamp)
};

// One call inside a composite: `operands` are arguments of the composite, "#0" for the result of the first
// step, or numbers ("1", "1.0"), by position. "hx[1]" is the second tensor of a list, or its last. Where
// "weight?" was not given there is no such call, and its result is its first operand.
struct OperatorStep {
  std::string name;
  std::vector<std::string> operands;
};

// A list of names that the entries of a group and their variants share.
class SharedNames {
 public:
  SharedNames() = default;
  SharedNames(std::vector<std::string> names)
      : names_(std::make_shared<const std::vector<std::string>>(std::move(names))) {}
  const std::vector<std::string>& all() const { return names_ ? *names_ : none(); }
  operator const std::vector<std::string>&() const { return all(); }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }
  std::size_t size() const { return all().size(); }
  bool empty() const { return all().empty(); }
  const std::string& front() const { return all().front(); }
  const std::string& operator[](std::size_t i) const { return all()[i]; }

 private:
  static const std::vector<std::string>& none();
  std::shared_ptr<const std::vector<std::string>> names_;
};

// What most operators call the position of a dimension.
const SharedNames& dim_alone();

struct Operator {
  std::string name;  // ATen base name without overload: "mul", "normalize", "scaled_dot_product_attention"
  ResultRule result = ResultRule::kLikeFirst;
  RankRule rank = RankRule::kUnknown;
  SharedNames arguments;  // names in C++ signature order; for methods `self` is first
  // What a call that does not throw proves of the first tensor's rank: that it is at least this, and has the
  // dimensions that these arguments are the positions of. (A 0-dim tensor may be asked for dimension 0 or -1
  // where `least` is 0.)
  int least = 0;
  SharedNames dims = dim_alone();
  SharedNames promoting;  // names of those whose dtype takes part
  // What PyTorch throws for: `refuses` holds dtypes that the promoted type (kLikeFirst: the first input's)
  // may not be, `refuses_operand` those that no input may have, a number included. An explicit dtype=
  // replaces the promoted type.
  DtypeSet refuses;
  DtypeSet refuses_operand;
  std::vector<std::pair<std::string, DtypeSet>> refuses_argument;  // the same of one argument, or of dtype=
  SharedNames scales;        // numbers that scale the result, whose kind may not exceed its own (add's alpha)
  bool dimensioned = false;  // 0-dim inputs get a dimension first, so they promote as all do
  std::string
      free_scalar;  // an argument that may have any dtype when it is 0-dim, and promotes (lerp's weight)
  bool requires_same = false;  // the promoting arguments must be equal, as for kRequireSame
  bool checks_first = false;   // a composite that refuses mixed inputs before its inner operator casts
  bool exact_target =
      false;  // in place and with out=, the written tensor must have the result's dtype already
  bool dtype_widens = false;     // dtype= must be able to hold the input: norms of torch.linalg
  bool numbers_default = false;  // kLikeFirst: a number has no dtype, the first tensor counts (normal)
  bool bool_counts = false;      // kFactoryFromValue: a bool counts as an integer (arange)
  // Dtypes that CPU kernels check and that do not decide the result. Parameters (weight, bias of a norm) have
  // one dtype, the first input's or, when that is a half type, float32. A mask is bool, or like the first
  // input, or float32.
  SharedNames parameters;
  std::string mask;
  SharedNames
      loose;  // tensors that some kernels want in the first input's dtype and others take in any (bias)
  OutRule out = OutRule::kFits;
  bool out_calls_operator = false;  // the out= variant calls the operator, which autocast then acts on
  DtypeSet unchecked;    // dtypes of the first argument with which a kernel takes any others (kRequireSame)
  SharedNames quotient;  // arguments that are divided, which may not all be integers (addcdiv)
  Dtype fixed = Dtype::kUndefined;  // kFixed; kCast with a built-in target (half, bfloat16, float)
  bool list_result = false;         // chunk, split, unbind: a container of results with the same dtype
  bool in_place = false;    // writes its first argument (self, or out) and returns it; its dtype stays
  std::string composed_of;  // composites: autocast acts on these inner operators ("normalize": "norm")
  std::vector<std::string>
      aliases;  // further spellings, with qualification: "torch::nn::functional::normalize"
  // Composites whose dtype no single rule tells (losses): the last step's dtype is the result's, and a step
  // that throws makes the operator throw. Each step is autocast by itself, unless autocast lists the
  // composite.
  std::vector<OperatorStep> steps;
  // How older releases differed: each entry holds for versions before its `before` ("2.0"), oldest first.
  std::string before;
  std::vector<Operator> earlier;
};

// The entry as it holds for a release.
const Operator& operator_at(const Operator& op, std::string_view torch_version);

// Whether it does no arithmetic that numbers have as well: views, copies and what picks elements.
inline bool is_of_tensors_alone(const Operator& op) {
  return op.result == ResultRule::kLikeFirst && op.promoting.empty();
}

// By canonical name, alias, or any of "at::NAME", "torch::NAME", "at::Tensor::NAME", "aten::NAME",
// "torch.NAME", "torch.special.NAME", "torch::linalg::NAME", ... A trailing underscore finds the in-place
// variant; "NAME_out" the out= variant (first argument `out`, dtype of out).
const Operator* find_operator(std::string_view spelling);
// That of which a spelling ends with this word, as people ask for it: grid_sample.
const Operator* find_operator_by_last_word(std::string_view name);
// The entries as written in the tables, and the in-place and out= variants made from them.
const std::vector<Operator>& all_operators();
const std::vector<Operator>& all_variants();

struct OperatorInput {
  std::string_view argument;  // one of Operator::arguments
  Dtype dtype = Dtype::kUndefined;
  RankClass rank = RankClass::kDim;
};

struct OperatorContext {
  std::string_view device = "cuda";
  Dtype autocast = Dtype::kUndefined;  // lower dtype when autocast is on for that device, else kUndefined
  Dtype default_dtype = Dtype::kFloat32;
  std::string_view torch_version = "2.13";
};

// What autocast does to an operator's eligible arguments: tensors of a floating dtype other than float64.
//   kLowerPrecision   cast to the autocast dtype      kFloat32  cast to float32
//   kFloat32SetDtype  unless dtype= was given, computed in and returned as float32
//   kPromote          cast to float32 when any is float32, else to the autocast dtype
//   kBanned           PyTorch throws
enum class AutocastPolicy : std::uint8_t {
  kNone,
  kLowerPrecision,
  kFloat32,
  kFloat32SetDtype,
  kPromote,
  kBanned
};
AutocastPolicy autocast_policy(std::string_view operator_name, std::string_view device,
                               std::string_view torch_version);

// Recurrent layers that a device's own kernel computes as a whole, which autocast makes compute in the lower
// dtype: whatever the steps of the operator would be. Null where the device has no such kernel; else the
// lower dtypes for which that is certain. For others releases and machines differ.
const DtypeSet* autocast_kernel(std::string_view operator_name, std::string_view device,
                                std::string_view torch_version);

// What moved an operator from one policy to another: `since` is the release that has `to`.
struct AutocastChange {
  AutocastPolicy from = AutocastPolicy::kNone;
  AutocastPolicy to = AutocastPolicy::kNone;
  std::string since;
};
// All changes for releases after `from_version` up to and with `to_version`, in order; empty when there are
// none.
std::vector<AutocastChange> autocast_changes(std::string_view operator_name, std::string_view device,
                                             std::string_view from_version, std::string_view to_version);

struct OperatorOutcome {
  std::optional<Dtype> dtype;  // absent: PyTorch throws; kUndefined: releases or machines differ
  std::string error;           // why, when it throws
  bool may_throw = false;      // some of the operator's kernels refuse these dtypes, others give `dtype`
  bool by_autocast =
      false;  // an autocast policy (not promotion) decided that the result is wider than the inputs
};

// `dtype_argument` is the explicit dtype= of the call, if any. Inputs hold the tensors and numbers of the
// call; list arguments (cat) appear once per element under the same argument name.
OperatorOutcome evaluate(const Operator& op, std::span<const OperatorInput> inputs,
                         std::optional<Dtype> dtype_argument, const OperatorContext& context);

}  // namespace dtype_guard
