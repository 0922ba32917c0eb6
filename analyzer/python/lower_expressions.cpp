// Expressions that are no calls.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "analyzer/python/function_lowering.h"
#include "analyzer/python/literals.h"
#include "analyzer/python/told_numbers.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr int kMaxDepth = 150;  // of expressions in expressions

const std::unordered_map<std::string_view, std::string_view>& binary_names() {
  static const std::unordered_map<std::string_view, std::string_view> names = {{"+", "add"},
                                                                               {"-", "sub"},
                                                                               {"*", "mul"},
                                                                               {"/", "div"},
                                                                               {"//", "floor_divide"},
                                                                               {"%", "remainder"},
                                                                               {"**", "pow"},
                                                                               {"@", "matmul"},
                                                                               {"&", "bitwise_and"},
                                                                               {"|", "bitwise_or"},
                                                                               {"^", "bitwise_xor"},
                                                                               {"<<", "bitwise_left_shift"},
                                                                               {">>", "bitwise_right_shift"}};
  return names;
}

}  // namespace

ValueId FunctionLowering::value(const Node& node) {
  if (!node || depth_ > kMaxDepth || ++work_ > kMaxWork) return builder_.unknown();
  ++depth_;
  const bool elsewhere = global_file_ && global_file_ != &unit_.file();
  const Builder::At at(builder_, elsewhere ? builder_.position() : position(node));
  const ValueId out = value_of(node);
  --depth_;
  return out;
}

ValueId FunctionLowering::value_of(const Node& node) {
  using Handler = ValueId (FunctionLowering::*)(const Node&);
  static const ByKind<Handler> handlers = {
      {"identifier", &FunctionLowering::name_value},
      {"attribute", &FunctionLowering::attribute},
      {"subscript", &FunctionLowering::subscript},
      {"binary_operator", &FunctionLowering::binary},
      {"comparison_operator", &FunctionLowering::comparison},
      {"boolean_operator", &FunctionLowering::boolean},
      {"not_operator", &FunctionLowering::negation},
      {"unary_operator", &FunctionLowering::negation},
      {"conditional_expression", &FunctionLowering::conditional},
      {"tuple", &FunctionLowering::display},
      {"list", &FunctionLowering::display},
      {"expression_list", &FunctionLowering::display},
      {"dictionary", &FunctionLowering::dictionary},
      {"dictionary_comprehension", &FunctionLowering::dictionary_comprehension},
      {"list_comprehension", &FunctionLowering::comprehension},
      {"generator_expression", &FunctionLowering::comprehension},
      {"lambda", &FunctionLowering::lambda},
      {"call", &FunctionLowering::call},
      {"string", &FunctionLowering::text},
      {"concatenated_string", &FunctionLowering::text},
  };
  const std::string_view kind = node.kind();
  if (const Handler handler = handlers[node]) return (this->*handler)(node);
  if (kind == "parenthesized_expression") return value(node.child(0));
  if (kind == "none") return builder_.none();
  if (kind == "true") return builder_.constant(true);
  if (kind == "false") return builder_.constant(false);
  if (kind == "integer") {
    const auto number = written_integer(node);
    return number ? builder_.constant(*number)
                  : builder_.value(Op::kAlloc, "number", {{"dtype", dtype_constant(Dtype::kInt64)}});
  }
  if (kind == "float") return builder_.constant(std::strtod(std::string(node.text()).c_str(), nullptr));
  if (kind == "named_expression") {
    const ValueId given = value(node.field("value"));
    store(std::string(node.field("name").text()), given);
    return given;
  }
  if (kind == "await") {
    value(node.child(0));
    return builder_.unknown();
  }
  if (kind == "yield") return yield(node);
  for (const Node& each : node.children()) {
    if (kind == "list_splat" || kind == "set") value(each);
  }
  return builder_.unknown();
}

ValueId FunctionLowering::text(const Node& node) {
  if (const auto known = literal(node)) return builder_.constant(*known);
  return builder_.unknown();
}

ValueId FunctionLowering::is_installed(const std::string& package) {
  return builder_.op("installed::" + package, {});
}

// torch.FloatTensor and torch.cuda.FloatTensor, as x.type() takes them.
static std::optional<Dtype> dtype_of_tensor_type(std::string_view name) {
  static const std::map<std::string_view, Dtype> all = {
      {"HalfTensor", Dtype::kFloat16},  {"BFloat16Tensor", Dtype::kBFloat16},
      {"FloatTensor", Dtype::kFloat32}, {"DoubleTensor", Dtype::kFloat64},
      {"LongTensor", Dtype::kInt64},    {"IntTensor", Dtype::kInt32},
      {"BoolTensor", Dtype::kBool}};
  const auto found = all.find(name.substr(name.rfind('.') + 1));
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Dtype> named_dtype(const std::string& name) {
  constexpr std::string_view kTorch = "torch.";
  if (name.starts_with(kTorch) && name.ends_with("Tensor")) return dtype_of_tensor_type(name);
  const bool is_of_torch = name.starts_with(kTorch) && name.find('.', kTorch.size()) == std::string::npos;
  return is_of_torch ? parse_dtype(name.substr(kTorch.size())) : std::nullopt;
}

// A function or class that is used as a value.
ValueId FunctionLowering::entity_value(const Entity& entity) {
  if (entity.kind == Entity::Kind::kLibrary) {
    if (const auto dtype = named_dtype(entity.name)) return dtype_constant(*dtype);
    if (entity.name == "math.pi" || entity.name == "math.inf" || entity.name == "math.e" ||
        entity.name == "torch.pi" || entity.name == "torch.inf" || entity.name == "math.nan" ||
        entity.name == "torch.nan")
      return builder_.value(Op::kAlloc, "number", {{"dtype", dtype_constant(Dtype::kFloat64)}});
  }
  if (entity.kind == Entity::Kind::kValue) return global_value(entity);
  if (entity.kind == Entity::Kind::kChoice)
    return chosen(entity, [&](const Entity& each) { return entity_value(each); });
  const auto known = function_value(entity);
  return known ? *known : builder_.unknown();
}

ValueId FunctionLowering::name_value(const Node& node) {
  const std::string name(node.text());
  if (knows(name)) return load(name);
  const Entity entity = resolve(node);
  if (entity) {
    const bool varies = entity.kind == Entity::Kind::kValue || entity.kind == Entity::Kind::kChoice;
    const ValueId known = entity_value(entity);
    return varies ? seen_global(name, entity.file, known) : known;
  }
  return seen_global(name, global_file_ ? global_file_ : &unit_.file(), builder_.unknown());
}

ValueId FunctionLowering::attribute(const Node& node) {
  if (const Entity entity = resolve(node)) return entity_value(entity);
  const Node object_node = node.field("object");
  const std::string name(node.field("attribute").text());
  if (const FunctionDefinition* forward = name == "apply" ? autograd_forward(object_node) : nullptr)
    return apply_value(*forward);
  const bool own = is_self(object_node);
  if (own && own_class()) {
    bool complete = true;
    const FunctionDefinition* method = unit_.modules().method(*own_class(), name, &complete);
    if (method && method->is_property) return call_function(*method, value(object_node), {});
    if (const auto bound = bound_method(name)) return *bound;
  }
  if (const auto held = class_attribute(node)) return *held;
  if (const auto part = named_result(node)) return *part;
  const ValueId object = value(object_node);
  if (!own && name == name_of(Named::kForward)) return object;  // what is called runs it
  if (!own) {
    if (name == "dtype") return builder_.value(Op::kDtypeOf, object);
    if (name == "shape") return builder_.op("sizes", {{"self", object}});
    if (name == "itemsize") return builder_.op(name, {{"self", object}});
    if (name == "ndim") return builder_.op("dim", {{"self", object}});
    if (name == "is_cuda") return builder_.op("is_cuda", {{"self", object}});
    if (name == "T" || name == "mT" || name == "H" || name == "mH")
      return builder_.op("contiguous", {{"self", object}});
    if (name == "real" || name == "imag") return builder_.op(name, {{"self", object}});
    if (name == "data") return builder_.value(Op::kCopy, object);
    if ((name == "is_nested" || name == "is_sparse") && !unit_.is_project_field(name))
      return builder_.constant(false);  // of a tensor, which is taken to be dense
    if (name == "device" || name == "requires_grad" || name == "grad") return builder_.unknown();
  }
  Place place;
  place.base = object;
  place.path.push_back({Place::Step::Kind::kField, name, 0});
  return as_number(node, builder_.load(std::move(place)));
}

ValueId FunctionLowering::as_number(const Node& node, ValueId field) {
  std::string_view type = numbers_.contains(std::string(node.text())) ? "int" : "";
  if (is_self(node.field("object")) && own_class()) {
    for (const Node& each : own_class()->fields) {
      const std::string_view said = each.field("type").text();
      const bool number = said == "int" || said == "float" || said == "bool";
      if (number && each.field("left").text() == node.field("attribute").text()) type = said;
    }
  }
  return type.empty() ? field : builder_.op("number::" + std::string(type), {{"self", field}});
}

ValueId FunctionLowering::element(ValueId of, std::int64_t index) {
  return builder_.op("subscript", {{"self", of}, {"index", builder_.constant(index)}});
}

// list[start:stop], where a stop of 0 is its end, as all negative ones count from there.
ValueId FunctionLowering::slice(ValueId of, std::int64_t start, std::int64_t stop) {
  Arguments arguments = {{"self", of}, {"slice", builder_.constant(true)}};
  if (start != 0) arguments.push_back({"start", builder_.constant(start)});
  if (stop != 0) arguments.push_back({"stop", builder_.constant(stop)});
  return builder_.op("subscript", std::move(arguments));
}

// The bounds of x[1:-1], which lists go by, or that one of them is computed.
void FunctionLowering::add_bounds(const Node& node, Arguments& arguments) {
  const std::string_view text = node.text();
  const std::vector<Node> bounds = node.children();
  const bool is_plain = std::count(text.begin(), text.end(), ':') == 1 &&
                        std::all_of(bounds.begin(), bounds.end(),
                                    [](const Node& each) { return written_integer(each).has_value(); });
  if (!is_plain) return arguments.push_back({"computed", arguments.back().value});
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const bool begins = i == 0 && !text.starts_with(':');
    arguments.push_back({begins ? "start" : "stop", builder_.constant(*written_integer(bounds[i]))});
  }
}

ValueId FunctionLowering::subscript(const Node& node) {
  const Node whole = node.field("value");
  const std::vector<Node> indices = node.children("subscript");
  if (indices.size() == 1 && whole.is("attribute") && whole.field("attribute").text() == "shape") {
    const ValueId of = value(whole.field("object"));
    return builder_.op("size", {{"self", of}, {"dim", value(indices[0])}});
  }
  if (const auto entry = entry_of_library_table(whole)) {
    for (const Node& each : indices) value(each);
    return *entry;
  }
  const ValueId object = value(whole);
  Arguments arguments = {{"self", object}};
  bool keeps = true;  // whether a tensor keeps at least one dimension
  bool added = false;
  const auto look = [&](const Node& index) {
    if (index.is("slice") || index.is("ellipsis")) return;
    added = added || index.is("none");
    if (!index.is("none")) keeps = false;
  };
  std::vector<Node> parts = indices;
  if (parts.size() == 1 && parts[0].is("tuple")) parts = parts[0].children();
  for (const Node& each : parts) look(each);
  if (parts.size() == 1 && written_integer(parts[0])) {
    arguments.push_back({"index", builder_.constant(*written_integer(parts[0]))});
  } else if (parts.size() == 1 && literal(parts[0])) {
    arguments.push_back({"index", builder_.constant(*literal(parts[0]))});
  } else if (parts.size() == 1 && !keeps && !added) {
    arguments.push_back({"any", builder_.constant(true)});
    arguments.push_back({"at", add_key(parts[0], arguments)});
  } else {
    Arguments at;
    for (const Node& each : parts) {
      if (!each.is("slice") && !each.is("ellipsis") && !each.is("none")) at.push_back({"at", value(each)});
    }
    const bool sliced =
        added || std::any_of(parts.begin(), parts.end(), [](const Node& each) { return each.is("slice"); });
    const char* how = keeps ? (added ? "new_dimension" : "slice") : sliced ? "part" : "any";
    arguments.push_back({how, builder_.constant(true)});
    if (keeps && parts.size() == 1 && parts[0].is("slice")) add_bounds(parts[0], arguments);
    arguments.insert(arguments.end(), at.begin(), at.end());
  }
  return builder_.op("subscript", std::move(arguments));
}

// What is computed with is not None: what may be a number or None is a number here.
ValueId FunctionLowering::operand(const Node& node) {
  const ValueId given = value(node);
  if (!node.is("attribute") && !node.is("identifier")) return given;
  const std::string text(node.text());
  auto told = told_.find(text);
  if (told == told_.end()) told = told_.emplace(text, told_number(node, definition_, unit_.modules())).first;
  return told->second.empty() ? given : builder_.op("number::" + told->second, {{"self", given}});
}

static bool is_display(const Node& node) { return node.is("list") || node.is("tuple"); }
static bool is_list(const Node& node) { return node.is("list_comprehension") || is_display(node); }

static bool is_negated(const Node& node) {
  return node.is("parenthesized_expression")
             ? is_negated(node.child(0))
             : node.is("unary_operator") && node.field("operator").text() == "-";
}

ValueId FunctionLowering::binary(const Node& node) {
  const auto name = binary_names().find(node.field("operator").text());
  const Node first = node.field("left"), second = node.field("right");
  if (node.field("operator").text() == "+" && (is_list(first) || is_list(second)))
    return builder_.value(Op::kPack, "", {{"*", value(first)}, {"*", value(second)}});
  if (node.field("operator").text() == "*" && (is_display(first) || is_display(second)))
    return is_display(first) ? repeated(first, second) : repeated(second, first);
  if (node.field("operator").text() == "|" && (first.is("dictionary") || second.is("dictionary"))) {
    const ValueId made = builder_.op("copy_of", {{"", value(first)}});
    builder_.op("dict_update", {{"self", made}, {"other", value(second)}});
    return made;
  }
  const ValueId left = operand(first);
  const ValueId right = operand(second);
  if (name == binary_names().end()) return builder_.unknown();
  const bool is_power = name->second == "pow";
  const ValueId out =
      builder_.op(std::string(name->second), {{"self", left}, {is_power ? "exponent" : "other", right}});
  // Of whole numbers a power with a negative exponent is none.
  return is_power && first.is("integer") && is_negated(second)
             ? builder_.op("mul", {{"self", builder_.constant(1.0)}, {"other", out}})
             : out;
}

ValueId FunctionLowering::display(const Node& node) {
  Arguments all;
  for (const Node& each : node.children()) {
    const bool starred = each.is("list_splat");
    all.push_back({starred ? "*" : "", value(starred ? each.child(0) : each)});
  }
  return builder_.value(Op::kPack, "", std::move(all));
}

ValueId FunctionLowering::lambda(const Node& node) {
  if (global_file_ && global_file_ != &unit_.file()) return builder_.unknown();
  if (scopes_ >= kMaxScopes) return builder_.unknown();
  const auto& made = unit_.keep(unit_.file().define(node, unit_.file().scope(), nullptr));
  FunctionLowering lowering(unit_, *made, global_file_ ? nullptr : this);
  Function function = lowering.run();
  const ValueId out = builder_.value(Op::kClosure, function.key, captures(lowering));
  unit_.add(std::move(function));
  return out;
}

}  // namespace dtype_guard::python
