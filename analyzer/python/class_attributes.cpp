// What a class holds at its own level, `norm_class = RMSNorm`, `attend = staticmethod(partial(...))`: each
// object gets it from "CLASS.<attributes>" when it is made, unless it has that by a class that derives from
// it.
#include <algorithm>
#include <cctype>

#include "analyzer/flow/ir/module_code.h"
#include "analyzer/python/class_constants.h"
#include "analyzer/python/function_lowering.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr int kMaxBases = 12;
constexpr int kMaxNested = 4;
constexpr int kMaxDepth = 40;

bool is_field(const ClassDefinition& of, std::string_view name) {
  return of.is_dataclass && std::any_of(of.fields.begin(), of.fields.end(),
                                        [&](const Node& each) { return each.field("left").text() == name; });
}

// Values of which dtypes may hang on it: no flags, texts and numbers, which what makes an object may set.
bool may_count(const Node& value) {
  return value.is("identifier") || value.is("attribute") || value.is("call") || value.is("dictionary") ||
         value.is("conditional_expression");
}

bool is_constant(const Node& value) {
  static const std::set<std::string_view> kinds = {"integer", "float", "string", "true", "false"};
  return kinds.contains(value.kind());
}

// Whether it is made of what else the class holds: names there mean that, and not what the module has.
bool names_own(const ClassDefinition& of, const Node& value, int depth) {
  if (value.is("identifier"))
    return of.attributes.contains(value.text()) || of.methods.contains(value.text());
  if (value.is("attribute")) return names_own(of, value.field("object"), depth);
  const auto all = value.children();
  return depth > kMaxDepth || std::any_of(all.begin(), all.end(),
                                          [&](const Node& each) { return names_own(of, each, depth + 1); });
}

// Functions of PyTorch that are no Python functions: what a class holds of these takes no object first.
bool takes_no_object(const std::string& name) {
  return name == "torch.nn.functional.scaled_dot_product_attention" ||
         (name.starts_with("torch.") && name.find('.', 6) == std::string::npos);
}

// The class of the bases that has it, this one first.
const ClassDefinition* holder(const ClassDefinition& of, const std::string& name, const Modules& modules,
                              int depth) {
  if (of.attributes.contains(name)) return &of;
  if (depth > kMaxBases || of.methods.contains(name)) return nullptr;
  for (const BaseClass& each : modules.bases(of)) {
    const ClassDefinition* found =
        each.definition ? holder(*each.definition, name, modules, depth + 1) : nullptr;
    if (found) return found;
  }
  return nullptr;
}

// A flag that a base has otherwise goes by the class.
bool overrides(const ClassDefinition& of, const std::string& name, const Modules& modules) {
  const std::vector<BaseClass>& bases = modules.bases(of);
  return std::any_of(bases.begin(), bases.end(), [&](const BaseClass& each) {
    return each.definition && holder(*each.definition, name, modules, 0);
  });
}
}  // namespace

std::vector<std::string> class_attribute_names(const ClassDefinition& of, const Modules& modules) {
  std::vector<std::string> out;
  for (const auto& [name, value] : of.attributes) {
    const bool counts = may_count(value) || (is_constant(value) && overrides(of, name, modules));
    if (counts && !is_field(of, name) && !names_own(of, value, 0)) out.push_back(name);
  }
  return out;
}

bool has_class_attributes(const ClassDefinition& of, const Modules& modules, int depth) {
  const bool is_plain = !of.is_opaque && !of.file->is_installed && depth <= kMaxBases;
  if (!is_plain) return false;
  const std::vector<BaseClass>& bases = modules.bases(of);
  return !class_attribute_names(of, modules).empty() ||
         std::any_of(bases.begin(), bases.end(), [&](const BaseClass& each) {
           return each.definition && has_class_attributes(*each.definition, modules, depth + 1);
         });
}

std::string class_attributes_key(const ClassDefinition& of) {
  return std::string(kAttributesOf) + of.qualified;
}

std::optional<ValueId> FunctionLowering::class_value(const Node& written, const SourceFile& file) {
  if (global_depth_ >= kMaxNested) return std::nullopt;
  const SourceFile* before = std::exchange(global_file_, &file);
  ++global_depth_;
  std::optional<ValueId> out;
  if (written.is("dictionary") || written.is("conditional_expression") || is_constant(written)) {
    out = value(written);
  } else if (written.is("call")) {
    const std::string callee(written.field("function").text());
    const std::vector<Given> arguments = given(written);
    const bool is_static = callee == "staticmethod" && arguments.size() == 1;
    if (is_static) {
      out = callable(arguments[0].node);
    } else if (makes_function(written, file) && callee != "dict") {
      out = callable(written);
    } else if (callee == "dict" || torch_function(unit_.modules().named(file, callee).name)) {
      out = settled(written);
    }
  } else if (const Entity entity = resolve(written)) {
    const bool is_bound = entity.kind == Entity::Kind::kFunction;
    const bool is_library = entity.kind == Entity::Kind::kLibrary;
    const bool is_free = !is_library || named_dtype(entity.name) || entity.name.starts_with("torch.nn.") ||
                         takes_no_object(entity.name);
    const bool is_python =
        is_library && entity.name.starts_with("torch.nn.functional.") && !takes_no_object(entity.name);
    if (!is_bound && is_free && !is_python) out = entity_value(entity);
  }
  --global_depth_;
  global_file_ = before;
  return out;
}

bool FunctionLowering::may_name_class(const Node& object) const {
  if (object.is("attribute"))
    return std::isupper(static_cast<unsigned char>(object.field("attribute").text()[0])) != 0;
  if (!object.is("identifier")) return false;
  const std::string name(object.text());
  return global_file_ || !locals_.contains(name) || is_own_class(name);
}

// `Model.dtype`, `cls.dtype`, `type(self).dtype`. A class that derives from it may have another.
std::optional<ValueId> FunctionLowering::class_attribute(const Node& node) {
  const Node object = node.field("object");
  const std::string name(node.field("attribute").text());
  const std::string_view text = object.text();
  const bool may_be_self = object.is("call") || object.is("attribute");
  const bool of_self = may_be_self && own_class() && !self_name_.empty() &&
                       (text == "type(" + self_name_ + ")" || text == self_name_ + ".__class__");
  if (of_self) {
    if (!holder(*own_class(), name, unit_.modules(), 0)) return std::nullopt;
    Place place;
    place.base = self_;
    place.path.push_back({Place::Step::Kind::kField, name, 0});
    return builder_.load(std::move(place));
  }
  if (!may_name_class(object)) return std::nullopt;
  const Entity entity = resolve(object);
  if (entity.kind != Entity::Kind::kClass || entity.class_definition->is_opaque) return std::nullopt;
  const ClassDefinition& of = *entity.class_definition;
  const ClassDefinition* has = holder(of, name, unit_.modules(), 0);
  if (!has || has->is_opaque || is_field(*has, name) ||
      names_own(*has, has->attributes.find(name)->second, 0))
    return std::nullopt;
  const bool by_heirs = object.is("identifier") && is_own_class(std::string(text));
  const auto& classes = unit_.file().classes();
  if (by_heirs && std::any_of(classes.begin(), classes.end(), [&](const auto& each) {
        return each.get() != has && each->attributes.contains(name);
      }))
    return std::nullopt;
  if (is_enumeration(of, unit_.modules())) {
    const auto member = member_of(of, name, unit_.modules());
    return member ? std::optional(builder_.constant(*member)) : std::nullopt;
  }
  const auto known = class_value(has->attributes.find(name)->second, *has->file);
  if (!known) return std::nullopt;
  return builder_.op(std::string(kOfClass) + of.qualified,
                     {{"index", builder_.constant(name)}, {"value", *known}});
}

// A class that is handed on to be read, `class Config: dtype = torch.bfloat16`: what it holds are its fields.
FunctionLowering::Arguments FunctionLowering::held_by_class(const ClassDefinition& of) {
  Arguments out;
  if (!of.methods.empty() || of.is_opaque || of.is_dataclass) return out;
  for (const auto& [name, written] : of.attributes) {
    if (names_own(of, written, 0)) continue;
    const bool is_own = is_constant(written) && of.file == &unit_.file();
    const auto held = is_own ? std::optional(value_of(written)) : class_value(written, *of.file);
    if (held)
      out.push_back({name, builder_.op(std::string(kOfClass) + of.qualified,
                                       {{"index", builder_.constant(name)}, {"value", *held}})});
  }
  return out;
}

void FunctionLowering::take_class_attributes(const ClassDefinition& of, ValueId object) {
  if (has_class_attributes(of, unit_.modules(), 0))
    builder_.value(Op::kCall, class_attributes_key(of), {{"", object}});
}

std::optional<Function> FunctionLowering::run_class_attributes(const ClassDefinition& of) {
  if (!has_class_attributes(of, unit_.modules(), 0)) return std::nullopt;
  function_.key = class_attributes_key(of);
  function_.name = of.name + ".<attributes>";
  function_.external = false;
  function_.foreign = true;
  function_.range = of.node.field("name").range();
  function_.parameters.emplace_back().name = "self";
  const ValueId object = builder_.parameter(0);
  for (const std::string& name : class_attribute_names(of, unit_.modules())) {
    const Node written = of.attributes.find(name)->second;
    const Builder::At at(builder_, position(written));
    if (const auto held = class_value(written, *of.file))
      builder_.op(std::string(kClassAttribute),
                  {{"self", object}, {"index", builder_.constant(name)}, {"value", *held}});
  }
  for (const BaseClass& each : unit_.modules().bases(of)) {
    if (each.definition) take_class_attributes(*each.definition, object);
  }
  builder_.finish();
  return std::move(function_);
}

}  // namespace dtype_guard::python
