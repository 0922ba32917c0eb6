// Functions of other libraries that give a tensor back as it is, or run one of PyTorch's operators on it.
#include <set>

#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
// Whether a pattern of einops leaves a dimension: "b n d -> b n".
bool leaves_dimensions(const std::string& pattern) {
  const std::size_t arrow = pattern.find("->");
  return arrow != std::string::npos && pattern.find_first_not_of(' ', arrow + 2) != std::string::npos;
}
}  // namespace

// What einops.reduce does is in its last argument; where that is no name of an operator, it is unknown.
std::optional<ValueId> FunctionLowering::einops_reduce(const std::vector<Given>& arguments) {
  static const std::set<std::string_view> known = {"mean", "sum", "max", "min", "prod"};
  if (arguments.size() < 3) return std::nullopt;
  const auto pattern = literal(arguments[1].node);
  const auto reduction = literal(arguments[2].node);
  if (!pattern || !reduction || !known.contains(*reduction) || !leaves_dimensions(*pattern))
    return std::nullopt;
  const ValueId tensor = value(arguments[0].node);
  for (std::size_t i = 3; i < arguments.size(); ++i) value(arguments[i].node);
  const bool extreme = *reduction == "max" || *reduction == "min";
  const std::string name = extreme ? "a" + *reduction : *reduction;
  return builder_.op(
      "flatten",
      {{"self", builder_.op(name, {{"self", tensor}, {"dim", builder_.constant(std::int64_t{0})}})}});
}

// torch.finfo(dtype): numbers, and how many bits it has.
ValueId FunctionLowering::limits_of(const std::string& name, const std::vector<Given>& arguments) {
  const bool floating = name == "torch.finfo";
  const ValueId of = arguments.empty() ? builder_.unknown() : value(arguments[0].node);
  const ValueId limits = builder_.value(Op::kObject, name, {});
  const auto store_limit = [&](const char* field, ValueId number) {
    builder_.store({0, limits, {{Place::Step::Kind::kField, field, 0}}}, number);
  };
  const ValueId dtype = dtype_constant(floating ? Dtype::kFloat64 : Dtype::kInt64);
  for (const char* each : {"min", "max", "eps", "tiny", "smallest_normal"})
    store_limit(each, builder_.value(Op::kAlloc, "number", {{"dtype", dtype}}));
  const ValueId bytes = builder_.op("itemsize", {{"self", of}});
  store_limit("bits", builder_.op("mul", {{"self", bytes}, {"other", builder_.constant(std::int64_t{8})}}));
  return limits;
}

std::optional<ValueId> FunctionLowering::other_library(const std::string& name,
                                                       const std::vector<Given>& arguments) {
  const bool annotates = name == "typing.cast" || name == "typing_extensions.cast" ||
                         name == "torch.jit.annotate" || name == "torch.jit._unwrap_optional";
  if (annotates && !arguments.empty() && arguments.back().name.empty()) return value(arguments.back().node);
  if (name == "types.SimpleNamespace") return made_dictionary(arguments);
  if (name == "copy.deepcopy" && arguments.size() == 1)
    return builder_.op("deep_copy_of", {{"", value(arguments[0].node)}});
  if (name == "copy.copy" && arguments.size() == 1)
    return builder_.op("copy_of", {{"", value(arguments[0].node)}});
  if (name == "einops.reduce") return einops_reduce(arguments);
  if (name == "torch.finfo" || name == "torch.iinfo") return limits_of(name, arguments);
  if (name == "torch.Tensor" && !arguments.empty()) {  // of the default dtype, whatever numbers it is made of
    values(arguments);
    const ValueId sizes = builder_.value(Op::kPack, "", {{"*", builder_.unknown()}, {"", counted_number()}});
    return builder_.op("empty", {{"size", sizes}});
  }
  const Operator* product = name == "einops.einsum" ? find_operator("einsum") : nullptr;
  if (!product || arguments.size() < 2 || !literal(arguments.back().node)) return std::nullopt;
  std::vector<Given> pattern_first = {arguments.back()};
  pattern_first.insert(pattern_first.end(), arguments.begin(), arguments.end() - 1);
  return torch_operator(*product, "einsum", std::nullopt, pattern_first);
}

// self.table = nn.Buffer(tensor): registered as register_buffer does it.
bool FunctionLowering::assign_buffer(const Node& target, const Node& source) {
  if (!target.is("attribute") || !is_self(target.field("object")) || !source.is("call")) return false;
  const Entity made = resolve(source.field("function"));
  if (made.name != "torch.nn.Buffer" && made.name != "torch.nn.parameter.Buffer") return false;
  for (const Given& each : given(source)) {
    if (!each.name.empty() && each.name != "data") continue;
    const Builder::At at(builder_, position(source));
    const ValueId held = value(each.node);
    const std::string field(target.field("attribute").text());
    Place place;
    place.base = self_;
    place.path.push_back({Place::Step::Kind::kField, field, 0});
    builder_.store(std::move(place), builder_.registration("buffer", self_, field, held));
    return true;
  }
  return false;
}

// x.max(dim=-1).values: the parts of what gives values and indices are known by name as well.
std::optional<ValueId> FunctionLowering::named_result(const Node& node) {
  const std::string_view part = node.field("attribute").text();
  const Node call = node.field("object");
  if ((part != "values" && part != "indices") || !call.is("call")) return std::nullopt;
  const Node function = call.field("function");
  if (!function.is("attribute")) return std::nullopt;
  if (!find_operator(std::string(function.field("attribute").text()) + ".1")) return std::nullopt;
  return element(value(call), part == "values" ? 0 : 1);
}

}  // namespace dtype_guard::python
