// Statements that do not branch: assignments to names, fields, elements and several of these at once.
#include <algorithm>
#include <unordered_map>

#include "analyzer/python/function_lowering.h"
#include "analyzer/python/literals.h"
#include "analyzer/python/told_classes.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
// What loads a model of the transformers library leaves the modules that a class lists so in float32,
// whatever the others are converted to.
bool is_kept_wide(const SourceFile& file, std::string_view field) {
  const auto lists = [&](const Node& names) {
    const auto all = names.children();
    return std::any_of(all.begin(), all.end(), [&](const Node& each) {
      std::string_view name = each.is("string") ? each.text() : std::string_view();
      if (name.size() > 2) name = name.substr(1, name.size() - 2);
      return !name.empty() && name.substr(name.rfind('.') + 1) == field;
    });
  };
  return std::any_of(file.classes().begin(), file.classes().end(), [&](const auto& each) {
    for (const char* list : {"_keep_in_fp32_modules", "_keep_in_fp32_modules_strict"}) {
      const auto found = each->attributes.find(list);
      if (found != each->attributes.end() && lists(found->second)) return true;
    }
    return false;
  });
}
}  // namespace

void FunctionLowering::block(const Node& node) {
  for (const Node& each : node.children()) statement(each);
}

void FunctionLowering::statement(const Node& node) {
  if (++work_ > kMaxWork) return;
  using Handler = void (FunctionLowering::*)(const Node&);
  static const ByKind<Handler> handlers = {
      {"expression_statement", &FunctionLowering::expression_statement},
      {"return_statement", &FunctionLowering::return_statement},
      {"if_statement", &FunctionLowering::if_statement},
      {"for_statement", &FunctionLowering::for_statement},
      {"while_statement", &FunctionLowering::while_statement},
      {"try_statement", &FunctionLowering::try_statement},
      {"with_statement", &FunctionLowering::with_statement},
      {"match_statement", &FunctionLowering::match_statement},
      {"assert_statement", &FunctionLowering::assert_statement},
      {"import_statement", &FunctionLowering::import_statement},
      {"import_from_statement", &FunctionLowering::import_statement},
      {"function_definition", &FunctionLowering::nested_function},
      {"decorated_definition", &FunctionLowering::nested_function},
  };
  const Builder::At at(builder_, position(node));
  const std::string_view kind = node.kind();
  const bool defines =
      kind == "function_definition" || kind == "class_definition" || kind == "decorated_definition";
  if (defines && is_module_code()) {
    define_in_module(node);
  } else if (const Handler handler = handlers[node]) {
    (this->*handler)(node);
  } else if (kind == "raise_statement") {
    leave_contexts(0);
    builder_.unreachable();
    builder_.enter(builder_.block());
  } else if (kind == "break_statement" || kind == "continue_statement") {
    leave_loop(kind == "continue_statement");
  } else if (kind == "class_definition") {
    store(std::string(node.field("name").text()), builder_.unknown());
  } else if (kind == "delete_statement") {
    for (const Node& each : node.children()) {
      if (each.is("identifier") && locals_.contains(std::string(each.text())))
        store(std::string(each.text()), builder_.unknown());
      const Node key = each.is("subscript") ? each.field("subscript") : Node();
      if (const auto name = literal(key))
        builder_.op("dict_pop", {{"self", value(each.field("value"))}, {"index", builder_.constant(*name)}});
      const bool is_one = key && each.children("subscript").size() == 1 && !key.is("slice");
      if (is_one && !literal(key)) {
        const ValueId list = value(each.field("value"));
        builder_.value(Op::kCall, std::string(kAttributeCall) + "pop", {{"", list}, {"", value(key)}});
      }
    }
  }
}

void FunctionLowering::expression_statement(const Node& node) {
  for (const Node& each : node.children()) {
    if (each.is("assignment")) {
      assignment(each);
    } else if (each.is("augmented_assignment")) {
      augmented(each);
    } else if (!each.is("string")) {
      const ValueId result = value(each);
      const Node function = each.is("call") ? each.field("function") : Node();
      static const std::set<std::string_view> casts = {"to",     "half", "float",  "bfloat16",
                                                       "double", "type", "type_as"};
      if (function.is("attribute") && casts.contains(function.field("attribute").text())) {
        const Builder::At at(builder_, position(each));
        builder_.effect(Op::kDiscard, "", {{"", result}});
      }
    }
  }
}

void FunctionLowering::assignment(const Node& node) {
  const Node left = node.field("left");
  const Node right = node.field("right");
  if (!right) return;  // an annotation alone
  const bool several = left.is("pattern_list") || left.is("tuple_pattern") || left.is("list_pattern");
  if (right.is("assignment")) {  // a = b = value
    std::vector<Node> targets = {left};
    Node last = right;
    for (; last.field("right").is("assignment"); last = last.field("right"))
      targets.push_back(last.field("left"));
    assignment(last);
    const Node source = last.field("left");
    const bool named = source.is("identifier") || source.is("attribute");
    const ValueId given = value(named ? source : last.field("right"));
    for (const Node& each : targets) assign(each, given);
    return;
  }
  if (!several && assign_buffer(left, right)) return;
  if (!several) {
    const ValueId given = value(right);
    if (is_module_code() && right.is("dictionary")) fill_registry(left, given);
    return left.is("subscript") ? store_element(left, given, node) : assign(left, given);
  }
  const std::vector<Node> targets = left.children();
  if (right.is("expression_list") || right.is("tuple") || right.is("list")) {
    if (const auto all = in_turn(right.children(), targets)) {
      for (std::size_t i = 0; i < targets.size(); ++i)
        assign(targets[i].is("list_splat_pattern") ? targets[i].child(0) : targets[i], (*all)[i]);
      return;
    }
  }
  // b, n, d = x.shape
  if (const Node of = tensor_of_sizes(right)) {
    const ValueId tensor = value(of);
    return assign_each(targets, right, [&](std::int64_t index) {
      return builder_.op("size", {{"self", tensor}, {"dim", builder_.constant(index)}});
    });
  }
  assign_elements(targets, value(right), right);
}

// x of x.shape and x.size()
Node FunctionLowering::tensor_of_sizes(const Node& node) const {
  const Node named = node.is("call") ? node.field("function") : node;
  const std::string_view last = named.is("attribute") ? named.field("attribute").text() : "";
  const bool is_sizes = node.is("call") ? last == "size" && given(node).empty() : last == "shape";
  return is_sizes ? named.field("object") : Node();
}

namespace {
// Where the one element with a star stands; of none, -1. Nothing where there are several.
std::optional<std::ptrdiff_t> star_among(const std::vector<Node>& all, std::string_view kind) {
  std::ptrdiff_t out = -1;
  for (std::ptrdiff_t i = 0; i < std::ssize(all); ++i) {
    if (!all[i].is(kind)) continue;
    if (out >= 0) return std::nullopt;
    out = i;
  }
  return out;
}
}  // namespace

// a, b, c = *x, y: as many of x as there are targets for it. Where a target collects what is left too, it is
// known what stands before or behind both stars.
std::optional<std::vector<ValueId>> FunctionLowering::in_turn(const std::vector<Node>& sources,
                                                              const std::vector<Node>& targets) {
  const auto spread = star_among(sources, "list_splat"), collects = star_among(targets, "list_splat_pattern");
  const std::ptrdiff_t given = std::ssize(sources), wanted = std::ssize(targets);
  if (!spread || !collects) return std::nullopt;
  if (*spread < 0 && (*collects >= 0 || given != wanted)) return std::nullopt;
  if (*collects < 0 && wanted + 1 < given) return std::nullopt;
  const Node list = *spread < 0 ? Node() : sources[*spread].child(0);
  const Node sizes = list ? tensor_of_sizes(list.is("subscript") ? list.field("value") : list) : Node();
  std::vector<ValueId> all, out;
  for (const Node& each : sources) {
    const Node whole = sizes ? sizes : list;
    all.push_back(value(each.is("list_splat") ? whole : each));
  }
  for (std::ptrdiff_t i = 0; i < wanted; ++i) {
    const bool from_front = *collects < 0 || i < *collects, from_end = *collects < 0 || i > *collects;
    const std::ptrdiff_t as_last = given - (wanted - i);
    if (*spread < 0 || (from_front && i < *spread)) {
      out.push_back(all[i]);
    } else if (from_end && as_last > *spread) {
      out.push_back(all[as_last]);
    } else if (sizes && i != *collects) {
      out.push_back(builder_.op("size", {{"self", all[*spread]}, {"dim", builder_.unknown()}}));
    } else {
      out.push_back(*collects < 0 ? element(all[*spread], i - *spread) : builder_.unknown());
    }
  }
  return out;
}

void FunctionLowering::assign_elements(const std::vector<Node>& targets, ValueId whole, const Node& source) {
  assign_each(
      targets, source, [&](std::int64_t index) { return element(whole, index); }, whole);
}

// Behind a starred target the position counts from the end; the target itself has what lies between.
void FunctionLowering::assign_each(const std::vector<Node>& targets, const Node& source,
                                   const std::function<ValueId(std::int64_t)>& at,
                                   std::optional<ValueId> whole) {
  const auto count = static_cast<std::int64_t>(targets.size());
  std::int64_t index = 0;
  for (const Node& each : targets) {
    const Builder::At position_of(builder_, position(source ? source : each));
    if (each.is("list_splat_pattern")) {
      const ValueId rest = whole ? slice(*whole, index, index + 1 - count) : builder_.unknown();
      assign(each.child(0), rest);
      index -= count;
    } else {
      assign(each, at(index));
    }
    ++index;
  }
}

void FunctionLowering::assign(const Node& target, ValueId given) {
  const Builder::At at(builder_, position(target));
  if (target.is("identifier")) {
    const std::string name(target.text());
    if (!globals_.contains(name)) {
      store(name, given);
    } else if (unit_.module_names().seen.contains(name)) {
      builder_.store(global_place(name), given);
    }
  } else if (target.is("pattern_list") || target.is("tuple_pattern") || target.is("list_pattern") ||
             target.is("tuple") || target.is("list")) {
    assign_elements(target.children(), given, Node());
  } else if (target.is("attribute")) {
    assign_field(target.field("object"), std::string(target.field("attribute").text()), given);
  } else if (target.is("subscript")) {
    store_element(target, given, target);
  }
}

void FunctionLowering::assign_field(const Node& of, const std::string& field, ValueId given) {
  const ValueId object = value(of);
  if (field == "data") {  // x.data = y changes the tensor itself
    builder_.effect(Op::kRetype, "", {{"", object}, {"", builder_.value(Op::kDtypeOf, given)}});
    return;
  }
  bool complete = true;
  const bool own = is_self(of) && own_class();
  if (const auto* setter =
          own ? unit_.modules().method(*own_class(), field + std::string(kSetter), &complete) : nullptr) {
    builder_.value(Op::kCall, setter->is_opaque ? setter->name : setter->key, {{"", object}, {"", given}});
    return;
  }
  Place place;
  place.base = object;
  place.path.push_back({Place::Step::Kind::kField, field, 0});
  const bool registers = is_self(of) && function_.of_module;
  if (registers && is_kept_wide(*definition_.file, field)) given = builder_.unknown();
  const std::string told = registers && own_class() ? told_class(field, *own_class(), unit_.modules()) : "";
  if (!told.empty()) given = builder_.op("object_of::" + told, {{"self", given}});
  // self.embed.weight = nn.Parameter(...): whether that is a module is known where it runs.
  const bool is_of_another = !registers && of.is("attribute");
  if (registers || is_of_another) {
    given = builder_.registration(registers ? "attribute" : "member", object, field, given);
  }
  builder_.store(std::move(place), given);
}

// `whole` is the statement, where it stores this alone: what is stored stands in it, and may be cast there.
void FunctionLowering::store_element(const Node& target, ValueId given, const Node& whole) {
  const Builder::At at(builder_, position(whole));
  const ValueId object = value(target.field("value"));
  const std::vector<Node> indices = target.children("subscript");
  const std::optional<std::string> key = indices.size() == 1 ? literal(indices[0]) : std::nullopt;
  const std::optional<std::int64_t> number = indices.size() == 1 ? written_integer(indices[0]) : std::nullopt;
  Arguments into = {{"self", object}, {"values", given}};
  for (const Node& each : key || number ? std::vector<Node>() : indices) {
    if (names_places(each)) {
      into.push_back({"places", value(each)});
    } else {
      const ValueId index = indices.size() == 1 ? add_key(each, into) : value(each);
      if (!each.is("slice")) into.push_back({"at", index});
    }
  }
  if (key) into.push_back({"index", builder_.constant(*key)});
  if (number) into.push_back({"index", builder_.constant(*number)});
  builder_.op("store_element", std::move(into));
}

void FunctionLowering::augmented(const Node& node) {
  static const std::unordered_map<std::string_view, std::string_view> names = {
      {"+=", "add"},           {"-=", "sub"},        {"*=", "mul"},        {"/=", "div"},
      {"//=", "floor_divide"}, {"%=", "remainder"},  {"**=", "pow"},       {"@=", "matmul"},
      {"&=", "bitwise_and"},   {"|=", "bitwise_or"}, {"^=", "bitwise_xor"}};
  const Node left = node.field("left"), added = node.field("right");
  const ValueId before = value(left);
  if (node.field("operator").text() == "+=" && (added.is("list") || added.is("list_comprehension")))
    return put_all_in(before, added);
  const ValueId right = value(added);
  const Builder::At at(builder_, position(node));
  if (node.field("operator").text() == "|=" && added.is("dictionary")) {
    builder_.op("dict_update", {{"self", before}, {"other", right}});
    return;
  }
  const auto name = names.find(node.field("operator").text());
  if (name == names.end()) return assign(left, builder_.unknown());
  // In place for a tensor, a new value for anything else.
  assign(left, builder_.op("augmented::" + std::string(name->second), {{"self", before}, {"other", right}}));
}

void FunctionLowering::return_statement(const Node& node) {
  const Node what = node.child(0);
  const ValueId result = what ? value(what) : builder_.none();
  leave_contexts(0);
  builder_.give_back(is_generator_ ? yielded() : result);
  builder_.enter(builder_.block());
}

void FunctionLowering::assert_statement(const Node& node) {
  const ValueId holds = test(node.child(0));
  const Builder::At at(builder_, position(node.child(0)));
  builder_.effect(Op::kAssume, "", {{"", holds}});
}

void FunctionLowering::nested_function(const Node& node) {
  const Node inner = node.is("decorated_definition") ? node.field("definition") : node;
  if (!inner.is("function_definition"))
    return store(std::string(inner.field("name").text()), builder_.unknown());
  const auto& made = unit_.keep(unit_.file().define(node, unit_.file().scope(), nullptr));
  const FunctionDefinition& definition = *made;
  const std::string name = definition.name;
  if (definition.is_opaque || scopes_ >= kMaxScopes) return store(name, builder_.unknown());
  FunctionLowering lowering(unit_, definition, this);
  Function function = lowering.run();
  store(name, builder_.value(Op::kClosure, function.key, captures(lowering)));
  unit_.add(std::move(function));
}

}  // namespace dtype_guard::python
