// PyTorch's functions, tensor methods and modules, by rules/operators and the engine's table of modules.
#include <algorithm>
#include <set>

#include "analyzer/flow/ir/module_code.h"
#include "analyzer/flow/settings/module_types.h"
#include "analyzer/python/function_lowering.h"
#include "analyzer/python/literals.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
bool lists(const Operator& entry, std::string_view argument) {
  return std::find(entry.arguments.begin(), entry.arguments.end(), argument) != entry.arguments.end();
}

// A keyword as the table has it: PyTorch's Python functions call their first tensor `input`.
std::string table_name(const Operator& entry, const std::string& keyword) {
  if (lists(entry, keyword)) return keyword;
  if (keyword == "axis") return "dim";
  if (keyword == "input" || keyword == "self" || keyword == "tensors")
    return entry.arguments.empty() ? keyword : entry.arguments[0];
  return keyword;
}

std::string last_part(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

// Whether an expression is several sizes rather than one: x.shape, q.size(), window_size; not hidden_size.
bool names_sizes(std::string_view text) {
  static const std::set<std::string_view> of_areas = {"window", "img",  "image", "patch",
                                                      "kernel", "grid", "input", "output"};
  if (text.find("shape") != std::string_view::npos || text.find("size(") != std::string_view::npos)
    return true;
  const std::size_t last = text.find_last_of("._");
  const std::string_view word = text.substr(last == std::string_view::npos ? 0 : last + 1);
  if (word == "sizes" || text == "size") return true;
  if (word != "size" || last == std::string_view::npos) return false;
  const std::string_view before = text.substr(0, last);
  const std::size_t start = before.find_last_of("._");
  return of_areas.contains(before.substr(start == std::string_view::npos ? 0 : start + 1));
}

// Keywords of many functions that say where and how, not what.
bool has_nothing_to_do_with_dtypes(const std::string& keyword) {
  return keyword == "device" || keyword == "layout" || keyword == "requires_grad" ||
         keyword == "pin_memory" || keyword == "memory_format" || keyword == "generator" ||
         keyword == "non_blocking";
}

std::optional<Dtype> converted_by(const std::string& method) {
  static const std::set<std::string_view> all = {"half",  "float", "double", "bfloat16", "int",    "long",
                                                 "short", "char",  "byte",   "bool",     "cfloat", "cdouble"};
  return all.contains(method) ? parse_dtype(method) : std::nullopt;
}
}  // namespace

bool FunctionLowering::names_device(const Node& node) const {
  if (const auto text = literal(node)) return !parse_dtype(*text);
  if (node.is("integer") || node.is("true") || node.is("false")) return true;
  if (node.is("conditional_expression")) return names_device(node.child(0)) && names_device(node.child(2));
  if (const std::vector<Node> sources = sources_of(node);
      sources.size() == 1 && !sources[0].is("identifier")) {
    if (names_device(sources[0])) return true;
  }
  const Node callee = node.is("call") ? node.field("function") : node;
  const std::string_view text = callee.text();
  const std::size_t dot = text.rfind('.');
  const std::string_view last = text.substr(dot == std::string_view::npos ? 0 : dot + 1);
  return last.find("device") != std::string_view::npos || last == "rank" || last == "local_rank" ||
         last == "get_device";
}

// x.to(...), of a tensor or a module: which is seen where it runs.
ValueId FunctionLowering::conversion(ValueId object, const std::vector<Given>& arguments) {
  Arguments handed = {{"self", object}};
  bool stated = false;
  for (const Given& each : arguments) {
    if (each.name == "device" || each.name == "non_blocking" || each.name == "copy" ||
        each.name == "memory_format")
      continue;
    if (each.name.empty() && names_device(each.node)) continue;
    if (stated) continue;  // `non_blocking` by position
    stated = true;
    const bool spread = each.name == "*" || each.name == "**";
    const auto text = literal(each.node);
    const auto dtype = text ? parse_dtype(*text) : std::nullopt;
    handed.push_back({"dtype", spread  ? builder_.unknown()
                               : dtype ? dtype_constant(*dtype)
                                       : value(each.node)});
  }
  return stated ? builder_.op("to", std::move(handed)) : object;
}

// Sizes may be one list or several numbers.
ValueId FunctionLowering::sizes(const std::vector<Given>& arguments) {
  Arguments all, spreads;
  for (const Given& each : arguments) {
    if (!each.name.empty() && each.name != "*") continue;
    const bool spread = each.name == "*" || each.node.is("list_splat");
    const bool list = each.node.is("tuple") || each.node.is("list") || names_sizes(each.node.text());
    const ValueId one = value(each.node);
    if (spread) {
      spreads.push_back({"*", one});
      continue;
    }
    if (list && arguments.size() >= 1 && &each == &arguments.front() && !each.node.is("subscript"))
      return one;
    all.push_back({"", one});
  }
  // How many there are counts, and not in which order: those that are written out are known.
  all.insert(all.end(), spreads.begin(), spreads.end());
  return builder_.value(Op::kPack, "", std::move(all));
}

ValueId FunctionLowering::torch_operator(const Operator& entry, std::string name,
                                         std::optional<ValueId> object, const std::vector<Given>& arguments) {
  const bool shaped = !entry.arguments.empty() && entry.rank == RankRule::kFromShape;
  const bool dims = entry.rank == RankRule::kListed && object;
  Arguments handed;
  std::set<std::string> taken;
  const auto give = [&](const std::string& argument, ValueId given_value) {
    taken.insert(argument);
    handed.push_back({argument, given_value});
  };
  std::size_t place = 0;
  const auto next = [&]() -> std::string {
    while (place < entry.arguments.size() && taken.contains(entry.arguments[place])) ++place;
    return place < entry.arguments.size() ? entry.arguments[place++] : "";
  };
  if (object) {
    const bool has_self = lists(entry, "self");
    give(has_self ? "self" : entry.arguments.empty() ? "self" : entry.arguments[0], *object);
  }
  std::vector<Given> rest = arguments;
  // randint(low, high, (n,)), where randint(high, (n,)) begins at 0.
  const bool is_size = rest.size() >= 3 && (rest[2].node.is("tuple") || rest[2].node.is("list"));
  if (entry.name == "randint" && is_size && rest[2].name.empty()) rest.erase(rest.begin());
  if (shaped || dims) {
    // Sizes as several numbers: x.view(b, n, d), torch.zeros(n, d).
    std::vector<Given> spread, others;
    const std::string wanted =
        dims ? "dims" : entry.arguments[object ? std::min<std::size_t>(1, entry.arguments.size() - 1) : 0];
    const bool sizes_first = object || entry.arguments[0] == "size";
    const bool one = entry.name == "full" || entry.name == "new_full" || entry.name == "from_blob";
    for (const Given& each : rest) {
      const bool positional = each.name.empty() || each.name == "*";
      (positional && sizes_first && (!one || spread.empty()) ? spread : others).push_back(each);
    }
    if (!spread.empty()) give(wanted, sizes(spread));
    rest = std::move(others);
  }
  const auto in_a_row = tensors_in_a_row(entry, rest);
  for (const Given& each : rest) {
    if (each.name == "*" || each.name == "**") {
      value(each.node);
      if (each.name == "**") give("dtype", builder_.unknown());
      continue;
    }
    if (each.name == "out") return builder_.unknown();
    if (has_nothing_to_do_with_dtypes(each.name)) {
      value(each.node);
      continue;
    }
    std::string argument = each.name.empty() ? next() : table_name(entry, each.name);
    const auto text = argument == "dtype" ? literal(each.node) : std::nullopt;
    const auto dtype = text ? parse_dtype(*text) : std::nullopt;
    const auto equation = argument == "equation" ? this->equation(each.node) : std::nullopt;
    give(argument, dtype      ? dtype_constant(*dtype)
                   : equation ? builder_.constant(*equation)
                              : value(each.node));
  }
  if (in_a_row) give("tensors", *in_a_row);
  if (entry.rank == RankRule::kStated) state_dimensions(arguments, handed);
  // max(x, dim) and its kin give values and indices.
  const Operator* second = find_operator(name + ".1");
  const bool reduced = name != "max" && name != "min" && name != "median" && name != "nanmedian";
  const bool by_dim =
      taken.contains("dim") || (arguments.size() + (object ? 1 : 0) >= 2 && !arguments.empty() &&
                                written_integer(arguments[object ? 0 : 1].node));
  const bool is_more = !name.starts_with("unique") ||  // which gives one tensor unless it is asked for more
                       std::any_of(arguments.begin(), arguments.end(),
                                   [](const Given& each) { return each.name.starts_with("return_"); });
  if (!second || !is_more || !(reduced || by_dim)) return builder_.op(std::move(name), std::move(handed));
  Arguments results = {{"", builder_.op(name, handed)}};
  for (int i = 1; find_operator(name + "." + std::to_string(i)); ++i)
    results.push_back({"", builder_.op(name + "." + std::to_string(i), handed)});
  return builder_.value(Op::kPack, "", std::move(results));
}

bool is_tensor_method(const std::string& name) {
  static const std::set<std::string_view> own = {
      "to",   "type",       "type_as", "cuda",  "cpu",  "requires_grad_", "retain_grad",
      "size", "pin_memory", "dim",     "numel", "item", "stride"};
  return own.contains(name) || converted_by(name) || find_operator("torch.Tensor." + name);
}

std::optional<ValueId> FunctionLowering::tensor_method(const std::string& name, ValueId object,
                                                       const std::vector<Given>& arguments) {
  if (name == "to") return conversion(object, arguments);
  if (const auto dtype = converted_by(name); dtype && arguments.empty())
    return builder_.op("to", {{"self", object}, {"dtype", dtype_constant(*dtype)}});
  if (name == "type" && arguments.empty()) return builder_.value(Op::kCall, "?type", {{"", object}});
  if (name == "type" && arguments.size() == 1) return conversion(object, arguments);
  if (name == "type_as" && arguments.size() == 1)
    return builder_.op("type_as", {{"self", object}, {"other", value(arguments[0].node)}});
  if (name == "cuda" || name == "cpu" || name == "pin_memory" || name == "requires_grad_" ||
      name == "retain_grad")
    return object;
  if (name == "size") {
    if (arguments.empty()) return builder_.op("sizes", {{"self", object}});
    return builder_.op("size", {{"self", object}, {"dim", value(arguments[0].node)}});
  }
  if (name == "dim" || name == "numel" || name == "item" || name == "stride" || name == "is_contiguous" ||
      name == "element_size" || name == "is_floating_point")
    return builder_.op(name == "stride" ? "strides" : name, {{"self", object}});
  static const std::set<std::string_view> of_containers = {
      "append",     "extend", "pop",    "insert",  "remove", "clear", "get",  "update",
      "items",      "keys",   "values", "copy",    "index",  "count", "sort", "reverse",
      "setdefault", "format", "join",   "replace", "find",   "set_"};
  const bool by_dimension =
      name == "sort" && !arguments.empty() && arguments[0].name != "key" && arguments[0].name != "reverse";
  if (of_containers.contains(name) && !by_dimension) return std::nullopt;
  const Operator* entry = find_operator("torch.Tensor." + name);
  if (!entry || entry->result == ResultRule::kDescriptor) return std::nullopt;
  return torch_operator(*entry, name, object, arguments);
}

std::optional<ValueId> FunctionLowering::special_function(const std::string& name,
                                                          const std::vector<Given>& arguments) {
  const auto first = [&] { return arguments.empty() ? builder_.unknown() : value(arguments[0].node); };
  // Of the class of a tensor: what does its own things is not followed.
  if (name.starts_with("torch.overrides.has_torch_function")) {
    for (const Given& each : arguments) value(each.node);
    return builder_.constant(false);
  }
  if (name == "torch.get_default_dtype") return builder_.op(std::string(flow::kDefaultDtype), {});
  if (name == "torch.set_default_dtype" || name == "torch.set_default_tensor_type") {
    builder_.effect(Op::kSetDefaultDtype, "", {{"", name.ends_with("dtype") ? first() : builder_.unknown()}});
    return builder_.none();
  }
  if (name.starts_with("torch.set_autocast")) {
    enter_perhaps();
    return builder_.none();
  }
  if (name == "torch.is_autocast_enabled" || name == "torch.cuda.is_autocast_enabled")
    return builder_.op(
        "autocast_enabled::" + (arguments.empty() ? "cuda" : literal(arguments[0].node).value_or("?")), {});
  if (name == "torch.get_autocast_gpu_dtype") return builder_.op("autocast_dtype::cuda", {});
  if (name == "torch.get_autocast_dtype")
    return builder_.op(
        "autocast_dtype::" + (arguments.empty() ? "?" : literal(arguments[0].node).value_or("?")), {});
  if (name == "torch.nn.Parameter" || name == "torch.nn.parameter.Parameter")
    return builder_.op("parameter", {{"self", first()}});
  if (name.starts_with("math.")) {
    Arguments from = {{"dtype", dtype_constant(Dtype::kFloat64)}};
    for (const Given& each : arguments) from.push_back({"", value(each.node)});
    return builder_.value(Op::kAlloc, "number", std::move(from));
  }
  return std::nullopt;
}

// rearrange_many((q, k, v), pattern) of einops_exts: each tensor of a list.
ValueId FunctionLowering::rearranged_each(const Node& tensors) {
  const auto all = displayed(tensors);
  if (!all) return list_of(builder_.op("flatten", {{"self", any_of(value(tensors))}}));
  Arguments parts;
  for (const Node& each : *all) parts.push_back({"", builder_.op("flatten", {{"self", value(each)}})});
  return builder_.value(Op::kPack, "", std::move(parts));
}

// einops.rearrange and repeat change shapes alone; what the pattern gives has as many dimensions as it says.
std::optional<ValueId> FunctionLowering::einops(const std::string& name,
                                                const std::vector<Given>& arguments) {
  if (arguments.size() < 2) return std::nullopt;
  if (name == "einops_exts.rearrange_many" || name == "einops_exts.repeat_many")
    return rearranged_each(arguments[0].node);
  if (!name.starts_with("einops.")) return std::nullopt;
  const std::string what = last_part(name);
  // pack(tensors, pattern) gives one tensor of all of them, and how to take it apart.
  if (what == "pack")
    return builder_.value(
        Op::kPack, "",
        {{"", builder_.op("cat", {{"tensors", value(arguments[0].node)}})}, {"", builder_.unknown()}});
  if (what == "unpack") return list_of(builder_.op("flatten", {{"self", value(arguments[0].node)}}));
  if (what != "rearrange" && what != "repeat") return std::nullopt;
  const ValueId tensor = value(arguments[0].node);
  const auto pattern = literal(arguments[1].node);
  const std::size_t arrow = pattern ? pattern->find("->") : std::string::npos;
  const bool has_any =
      arrow != std::string::npos && pattern->find_first_not_of(" ", arrow + 2) != std::string::npos;
  for (std::size_t i = 2; i < arguments.size(); ++i) value(arguments[i].node);
  return has_any ? builder_.op("flatten", {{"self", tensor}}) : builder_.op("take", {{"self", tensor}});
}

std::optional<ValueId> FunctionLowering::library_module(const std::string& name,
                                                        const std::vector<Given>& arguments) {
  constexpr std::string_view kNn = "torch.nn.";
  if (!name.starts_with(kNn)) return std::nullopt;
  const std::string last = last_part(name);
  const std::string type = "torch::nn::" + last;
  const bool parameters = last == "ParameterList" || last == "ParameterDict";
  if (last == "ModuleDict" || last == "ParameterDict") return module_dictionary(arguments, parameters);
  const bool is_list = last == "ModuleList" || last == "ParameterList";
  const bool holds = last == "Sequential" || is_list;
  if (!holds && !find_module_type(type)) return std::nullopt;
  if (!holds) {
    Arguments all = values(arguments);
    const auto dtype = std::find_if(
        all.begin(), all.end(), [](const auto& each) { return each.name == "dtype" || each.name == "**"; });
    const bool stated = dtype != all.end();
    const ValueId told = stated ? dtype->value : 0;
    const bool unknown = stated && dtype->name == "**";
    for (auto& each : all) each.name.clear();
    const ValueId made = builder_.value(Op::kModule, type, std::move(all));
    if (unknown) return builder_.value(Op::kCall, "?" + name, {{"", made}});
    if (stated) builder_.op("module_dtype", {{"self", made}, {"dtype", told}});
    return made;
  }
  const ValueId made = builder_.value(Op::kModule, is_list ? "torch::nn::ModuleList" : type, {});
  std::vector<Node> parts;
  ValueId list = 0;
  for (const Given& each : arguments) {
    if (!each.name.empty() || is_list) {
      const auto all = each.name.empty() || each.name == "*" ? displayed(each.node) : std::nullopt;
      if (all) {
        parts = *all;
      } else {
        list = value(each.node);
      }
    } else if (const auto all = parts_in_order(each.node)) {
      parts = *all;
    } else {
      parts.push_back(each.node);
    }
  }
  std::int64_t index = 0;
  const auto add = [&](ValueId part, Place::Step::Kind kind) {
    const ValueId registered = registered_in(made, std::to_string(index), part, parameters);
    Place place;
    place.base = made;
    place.path.push_back({kind, "", kind == Place::Step::Kind::kCell ? index : 0});
    builder_.store(std::move(place), registered);
    ++index;
  };
  for (const Node& each : parts) add(value(each), Place::Step::Kind::kCell);
  if (list && parts.empty() && !parameters) {
    builder_.op("take_layers", {{"self", made}, {"list", list}});
  } else if (list) {  // one stands for all
    add(builder_.op("subscript", {{"self", list}, {"any", builder_.constant(true)}}),
        Place::Step::Kind::kAnyCell);
  }
  return made;
}

std::optional<ValueId> FunctionLowering::library_call(const std::string& name,
                                                      const std::vector<Given>& arguments) {
  if (const auto out = special_function(name, arguments)) return out;
  if (const auto out = library_module(name, arguments)) return out;
  if (const auto out = einops(name, arguments)) return out;
  if (const auto out = other_library(name, arguments)) return out;
  const Operator* entry = torch_function(name);
  if (!entry || entry->result == ResultRule::kDescriptor) return std::nullopt;
  // Spelt as the table has it; a qualified alias is the entry's own name.
  const std::string last = last_part(name);
  return torch_operator(*entry, find_operator(last) == entry ? last : entry->name, std::nullopt, arguments);
}

const Operator* torch_function(const std::string& name) {
  constexpr std::string_view kTorch = "torch.";
  if (!name.starts_with(kTorch)) return nullptr;
  const std::string last = last_part(name);
  if (name.starts_with("torch.nn.functional.")) {
    const Operator* entry = find_operator("torch::nn::functional::" + last);
    return entry ? entry : find_operator(name);
  }
  if (name.starts_with("torch.nn.Transformer.")) return find_operator(last);
  const bool plain = name.starts_with("torch.linalg.") || name.starts_with("torch.fft.") ||
                     name.starts_with("torch.special.") || name.find('.', kTorch.size()) == std::string::npos;
  return plain ? find_operator(name) : nullptr;
}

}  // namespace dtype_guard::python
