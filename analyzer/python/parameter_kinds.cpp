// What a parameter is handed: from its annotation, else its default, else from what the body does with it.
#include <algorithm>
#include <set>

#include "analyzer/flow/ir/list_or_none.h"
#include "analyzer/python/class_constants.h"
#include "analyzer/python/function_lowering.h"
#include "analyzer/python/literals.h"
#include "analyzer/python/signatures.h"

namespace dtype_guard::python {

using flow::Parameter;
using flow::ParameterKind;

namespace {
constexpr int kMaxDepth = 60;
constexpr const char* kTensorOfIntegers = "torch.LongTensor";

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Names by which integers go: ids, positions, lengths.
bool names_integers(std::string_view name) {
  static const std::set<std::string_view> whole = {
      "input_ids", "position_ids", "positions", "offsets", "indices", "index", "idx",
      "ids",       "labels",       "targets",   "tokens",  "lengths", "pos"};
  return whole.contains(name) || name.ends_with("_ids") || contains(name, "seqlen") ||
         name.ends_with("_idx") || name.ends_with("_indices") || name.ends_with("_index") ||
         name.ends_with("_pos") || name.ends_with("position");
}

bool is_tensor(std::string_view type) {
  static const std::set<std::string_view> tensors = {"torch.Tensor", "Tensor", "torch.FloatTensor",
                                                     "FloatTensor"};
  const bool is_shaped = type.starts_with("Float[") || type.starts_with("jaxtyping.Float[");
  return tensors.contains(type) || (is_shaped && contains(type, "Tensor")) || type.starts_with("float[");
}

// A number has no parts: `int["b n"]` is a tensor of that shape.
bool is_tensor_of_integers(std::string_view type) {
  return type == kTensorOfIntegers || type == "torch.IntTensor" || type == "torch.BoolTensor" ||
         type.starts_with("int[") || type.starts_with("bool[");
}

// Whether it may be None as well.
bool by_annotation(const Node& type, const SourceFile& file, const Modules& modules, Parameter& out) {
  std::vector<std::string> parts = parts_of_type(type);
  const bool optional = std::erase(parts, "None") > 0;
  const std::string text = parts.size() == 1 ? parts.front() : std::string();
  if (!parts.empty() && std::all_of(parts.begin(), parts.end(), is_tensor)) {
    out.kind = optional ? ParameterKind::kOptionalTensor : ParameterKind::kTensor;
  } else if (!parts.empty() && std::all_of(parts.begin(), parts.end(), is_tensor_of_integers)) {
    // A tensor; of what is a habit more than a promise.
    out.kind = optional ? ParameterKind::kOther : ParameterKind::kTensor;
    if (!optional) out.type = kTensorOfIntegers;
  } else if (contains(text, "Tensor") &&
             (text.starts_with("List[") || text.starts_with("list[") || text.starts_with("Tuple[") ||
              text.starts_with("tuple[") || text.starts_with("Sequence["))) {
    out.kind = ParameterKind::kTensorList;
    if (optional) out.type = flow::kListOrNone;
  } else if (text == "torch.dtype" || text == "dtype") {
    out.kind = optional ? ParameterKind::kOther : ParameterKind::kDtype;
  } else if (text == "int" || text == "float" || text == "bool") {
    out.kind = optional ? ParameterKind::kOther : ParameterKind::kNumber;
    out.type = text;
  } else if (!text.empty() && text.find_first_of("[(") == std::string::npos) {
    const Entity known = modules.named(file, text);
    if (known.kind == Entity::Kind::kClass) {
      out.kind = ParameterKind::kObject;
      out.type = known.class_definition->qualified;
    }
  }
  return optional;
}

void by_default(const Node& given, Parameter& out) {
  const std::string_view kind = given.kind();
  const std::string_view text = given.text();
  if (kind == "none") {
    out.default_value = flow::None{};
  } else if (kind == "true" || kind == "false") {
    out.default_value = kind == "true";
    if (out.kind == ParameterKind::kOther && out.type.empty()) {
      out.kind = ParameterKind::kNumber;
      out.type = "bool";
    }
  } else if (kind == "integer") {
    if (const auto number = written_integer(given)) out.default_value = *number;
    if (out.kind == ParameterKind::kOther && out.type.empty()) {
      out.kind = ParameterKind::kNumber;
      out.type = "int";
    }
  } else if (kind == "float") {
    out.default_value = std::strtod(std::string(text).c_str(), nullptr);
    if (out.kind == ParameterKind::kOther && out.type.empty()) {
      out.kind = ParameterKind::kNumber;
      out.type = "float";
    }
  } else if (kind == "string" && text.size() >= 2 && given.children().size() <= 3) {
    const std::size_t quote = text.find_first_of("'\"");
    if (quote == 0) out.default_value = std::string(text.substr(1, text.size() - 2));
  } else if (text.starts_with("torch.")) {
    if (const auto dtype = parse_dtype(text.substr(6))) out.default_value = *dtype;
  }
}
}  // namespace

Parameter describe_field(const ClassDefinition& of, const Node& assignment, const Modules& modules) {
  Parameter out;
  out.name = std::string(assignment.field("left").text());
  by_annotation(assignment.field("type"), *of.file, modules, out);
  if (const Node given = assignment.field("right")) by_default(given, out);
  return out;
}

Parameter describe_parameter(const FunctionDefinition& function, const Node& node, const Modules& modules) {
  Parameter out;
  const Node pattern = written_name(node);
  if (pattern.is("list_splat_pattern")) out.rest = flow::Rest::kPositional;
  if (pattern.is("dictionary_splat_pattern")) out.rest = flow::Rest::kKeywords;
  out.name = std::string((out.rest == flow::Rest::kNone ? pattern : pattern.child(0)).text());
  if (out.rest != flow::Rest::kNone) return out;
  const Node type = node.field("type");
  const Node given = node.field("value");
  const bool optional = type && by_annotation(type, *function.file, modules, out);
  if (given) by_default(given, out);
  if (const auto member = given.is("attribute") ? named_member(given, *function.file, modules) : std::nullopt)
    out.default_value = *member;
  const bool absent = out.default_value && std::holds_alternative<flow::None>(*out.default_value);
  // `cache: Cache | None`: None is as good as left out.
  if (optional && !given && out.kind == ParameterKind::kObject) out.default_value = flow::None{};
  if (optional && given && !absent && out.kind == ParameterKind::kObject) {
    out.kind = ParameterKind::kOther;
    out.type.clear();
  }
  const bool is_typed = out.kind == ParameterKind::kTensor && !out.type.empty();
  if (absent && is_typed) out = {out.name, ParameterKind::kOther, "", false, out.default_value};
  if (absent && out.kind == ParameterKind::kTensor) out.kind = ParameterKind::kOptionalTensor;
  // As PyTorch's own modules have it: what the parameters are made in, or nothing said of it.
  const bool told = absent && out.name == "dtype" && out.kind == ParameterKind::kOther;
  if (told && function.name == "__init__") out.kind = ParameterKind::kDtype;
  const bool open = out.kind == ParameterKind::kOther && !type && (!given || absent);
  if (open && !names_integers(out.name)) {
    if (is_used_as_tensor(out.name, function, modules)) {
      out.kind = absent ? ParameterKind::kOptionalTensor : ParameterKind::kTensor;
    } else if (!given && numbers_of(function, modules).contains(out.name)) {
      out.kind = ParameterKind::kNumber;
      out.type = "int";
    }
  }
  if (names_integers(out.name) && !is_typed) {
    if (out.kind == ParameterKind::kTensor) out.type = kTensorOfIntegers;
    if (out.kind == ParameterKind::kOptionalTensor) out.kind = ParameterKind::kOther;
  }
  return out;
}

}  // namespace dtype_guard::python
