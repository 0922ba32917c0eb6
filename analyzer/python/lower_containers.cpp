// Lists, dictionaries and containers of modules: what their methods put in and give; methods whose name other
// objects have too.
#include <algorithm>
#include <set>

#include "analyzer/python/function_lowering.h"
#include "analyzer/python/literals.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
Place place_in(ValueId container, Place::Step step) {
  Place out;
  out.base = container;
  out.path.push_back(std::move(step));
  return out;
}
}  // namespace

// Behind what is there; of several, and in a loop, any of them may be this one.
void FunctionLowering::put_in(ValueId container, ValueId given, bool several) {
  const ValueId held = builder_.registration("attribute", container, "", given);  // of a list of modules
  const auto step = loops_.empty() && !several ? Place::Step::Kind::kNextCell : Place::Step::Kind::kAnyCell;
  builder_.store(place_in(container, {step, "", 0}), held);
}

// [a] * n: the same element any number of times.
ValueId FunctionLowering::repeated(const Node& list, const Node& times) {
  constexpr std::int64_t kMost = 64;
  const std::vector<Node> elements = list.children();
  const auto is_starred = [](const Node& each) { return each.is("list_splat"); };
  if (std::any_of(elements.begin(), elements.end(), is_starred)) {
    value(list);
    value(times);
    return builder_.unknown();
  }
  Arguments once;
  for (const Node& each : elements) once.push_back({"", value(each)});
  value(times);
  const auto count = written_integer(times);
  const auto size = static_cast<std::int64_t>(once.size());
  if (count && (*count <= 0 || (*count <= kMost && *count * size <= kMost))) {
    Arguments all;
    for (std::int64_t i = 0; i < *count; ++i) all.insert(all.end(), once.begin(), once.end());
    return builder_.value(Op::kPack, "", std::move(all));
  }
  const ValueId made = builder_.value(Op::kPack, "", {});
  for (const Argument& each : once)
    builder_.store(place_in(made, {Place::Step::Kind::kAnyCell, "", 0}), each.value);
  return made;
}

// x.extend(list), x += list
void FunctionLowering::put_all_in(ValueId container, const Node& list) {
  if (const auto all = displayed(list)) {
    for (const Node& each : *all) put_in(container, value(each));
    return;
  }
  put_in(container, any_of(value(list)), true);
}

// container.add_module(name, module): a field, and the next one of those that run in turn.
void FunctionLowering::add_module(ValueId container, const std::vector<Given>& arguments) {
  const auto name = field_named(arguments[0].node);
  const ValueId given = value(arguments[1].node);
  put_in(container, given);
  if (name) builder_.store(place_in(container, {Place::Step::Kind::kField, *name, 0}), given);
}

// OrderedDict([("up", a), ("down", b)]), which nn.Sequential takes too.
std::optional<std::vector<Node>> FunctionLowering::parts_in_order(const Node& dictionary) const {
  const bool is_call =
      dictionary.is("call") && resolve(dictionary.field("function")).name == "collections.OrderedDict";
  const std::vector<Given> arguments = is_call ? given(dictionary) : std::vector<Given>();
  const auto pairs = arguments.size() == 1 ? displayed(arguments[0].node) : std::nullopt;
  if (!pairs) return std::nullopt;
  std::vector<Node> out;
  for (const Node& each : *pairs) {
    const std::vector<Node> pair = each.children();
    if (!each.is("tuple") || pair.size() != 2) return std::nullopt;
    out.push_back(pair[1]);
  }
  return out;
}

std::optional<ValueId> FunctionLowering::container_method(const std::string& name, ValueId container,
                                                          const std::vector<Given>& arguments) {
  const bool takes =
      std::all_of(arguments.begin(), arguments.end(), [](const Given& each) { return each.name.empty(); });
  if (!takes || unit_.is_project_method(name)) return std::nullopt;
  if (name == "append" && arguments.size() == 1) {
    put_in(container, value(arguments[0].node));
    return builder_.none();
  }
  if (name == "extend" && arguments.size() == 1) {
    put_all_in(container, arguments[0].node);
    return builder_.none();
  }
  if ((name == "add_module" || name == "register_module") && arguments.size() == 2) {
    add_module(container, arguments);
    return builder_.none();
  }
  if (!arguments.empty()) return std::nullopt;
  if (name == "values" || name == "children") return list_of(any_of(container));
  if (name == "items" || name == "named_children") {
    const ValueId element = any_of(container);
    const ValueId key = builder_.op("python::key_of", {{"", element}});
    return list_of(builder_.value(Op::kPack, "", {{"", key}, {"", element}}));
  }
  return std::nullopt;
}

// next(module.parameters()), which is asked for its dtype; what a loop does to each of them is not followed.
ValueId FunctionLowering::parameters_of(const Node& iterable) {
  const Node function = iterable.is("call") ? iterable.field("function") : Node();
  const bool lists = function.is("attribute") && given(iterable).empty() &&
                     function.field("attribute").text() == name_of(Named::kListsParameters);
  if (!lists) return value(iterable);
  return builder_.op(std::string(name_of(Named::kListsParameters)), {{"", value(function.field("object"))}});
}

// What `iter(x)` goes through, where x has a name.
static Node iterated(const Node& call) {
  const bool is_iter = call.is("call") && call.field("function").text() == "iter";
  const std::vector<Node> all = is_iter ? call.field("arguments").children() : std::vector<Node>();
  const bool is_named = all.size() == 1 && (all[0].is("identifier") || all[0].is("attribute"));
  return is_named ? all[0] : Node();
}

// reversed(x), iter(x), sorted(x): the same things, in an order that is not followed.
std::optional<ValueId> FunctionLowering::of_iterable(const std::string& name,
                                                     const std::vector<Given>& arguments) {
  if (arguments.empty() || !arguments[0].name.empty()) return std::nullopt;
  if (const auto list = name == "next" ? iterated(arguments[0].node) : Node()) return element(value(list), 0);
  if (name == "next") return any_of(parameters_of(arguments[0].node));
  if (name == "iter") return list_of(any_of(value(arguments[0].node)));
  if (name == "reversed" || name == "sorted") return list_of(any_of(value(arguments[0].node)));
  return std::nullopt;
}

// getattr(x, "name", otherwise), of which the engine knows whether x has it.
ValueId FunctionLowering::attribute_by_name(ValueId object, const std::string& name, const Node& otherwise) {
  Arguments asked = {{"self", object}, {"index", builder_.constant(name)}};
  if (otherwise) asked.push_back({"default", callable(otherwise)});
  return builder_.op("attribute_get", std::move(asked));
}

// Out = namedtuple("Out", "q k"): the names of its parts.
std::vector<std::string> FunctionLowering::tuple_fields(const Entity& entity) const {
  const Node made = entity.value;
  std::vector<std::string> out;
  if (!made || !made.is("call") || !made.field("function").text().ends_with("namedtuple")) return out;
  const std::vector<Given> arguments = given(made);
  if (arguments.size() < 2 || !arguments[1].name.empty()) return out;
  const Node names = arguments[1].node;
  if (const auto text = literal(names)) {
    std::string word;
    for (const char c : *text + " ") {
      const bool is_end = c == ' ' || c == ',' || c == '\n';
      if (is_end && !word.empty()) out.push_back(std::exchange(word, ""));
      if (!is_end) word += c;
    }
    return out;
  }
  if (!names.is("list") && !names.is("tuple")) return out;
  for (const Node& each : names.children()) {
    const auto text = literal(each);
    if (!text) return {};
    out.push_back(*text);
  }
  return out;
}

// A tuple whose parts are known by name as well.
std::optional<ValueId> FunctionLowering::named_tuple(const Entity& entity,
                                                     const std::vector<Given>& arguments) {
  const std::vector<std::string> fields = tuple_fields(entity);
  std::map<std::string, Node> given_as;
  std::size_t position = 0;
  for (const Given& each : arguments) {
    if (each.name.starts_with("*") || (each.name.empty() && position >= fields.size())) return std::nullopt;
    given_as[each.name.empty() ? fields[position++] : each.name] = each.node;
  }
  const bool fits = !fields.empty() && given_as.size() == fields.size() &&
                    std::all_of(fields.begin(), fields.end(),
                                [&](const std::string& each) { return given_as.contains(each); });
  if (!fits) return std::nullopt;
  Arguments parts;
  for (const std::string& each : fields) parts.push_back({"", value(given_as[each])});
  const ValueId made = builder_.value(Op::kPack, "", parts);
  for (std::size_t i = 0; i < fields.size(); ++i)
    builder_.store(place_in(made, {Place::Step::Kind::kField, fields[i], 0}), parts[i].value);
  return made;
}

// What a tensor and a class of the file have by one name, `to`: which it is, is known where it runs. Of what
// is not known there a method may be of either; a field that holds a module, `self.attn.norm(q)`, is not
// thought of.
ValueId FunctionLowering::method_of_either(const std::string& name, ValueId object,
                                           const std::vector<Given>& arguments) {
  if (!is_tensor_method(name)) return call_attribute(name, object, arguments);
  const BlockId of_tensor = builder_.block(), of_object = builder_.block(), after = builder_.block();
  if (unit_.is_project_method(name)) {
    builder_.branch(builder_.op("python::is_tensor", {{"", object}}), of_tensor, of_object);
  } else {
    builder_.branch(builder_.op("python::is_other_object", {{"", object}}), of_object, of_tensor);
  }
  builder_.enter(of_tensor);
  const std::optional<ValueId> converted = tensor_method(name, object, arguments);
  const ValueId first = converted ? *converted : builder_.unknown();
  builder_.jump(after);
  builder_.enter(of_object);
  const ValueId second = call_attribute(name, object, arguments);
  builder_.jump(after);
  builder_.enter(after);
  return builder_.value(Op::kPhi, "", {{"", first}, {"", second}});
}

// What a list or a dictionary and a class that is not in this file have by one name, `cache.update(keys=k)`.
// What is written out as a list or dictionary is one.
ValueId FunctionLowering::method_of_container(const Node& written, const std::string& name, ValueId object,
                                              const std::vector<Given>& arguments) {
  static const std::set<std::string_view> shared = {"append", "extend", "get", "pop", "update"};
  const auto of_container = [&] {
    if (const auto out = container_method(name, object, arguments)) return *out;
    if (const auto out = updated(name, object, arguments)) return *out;
    if (const auto out = looked_up(name, object, arguments)) return *out;
    return call_attribute(name, object, arguments);
  };
  const auto assigned =
      written.is("identifier") ? assigned_.find(std::string(written.text())) : assigned_.end();
  const bool is_known = assigned != assigned_.end() &&
                        std::all_of(assigned->second.begin(), assigned->second.end(), [](const Node& each) {
                          return each && (each.is("list") || each.is("dictionary") || each.is("tuple"));
                        });
  if (!shared.contains(name) || arguments.empty() || is_known) return of_container();
  const BlockId of_object = builder_.block(), otherwise = builder_.block(), after = builder_.block();
  builder_.branch(builder_.op("python::is_other_object", {{"", object}}), of_object, otherwise);
  builder_.enter(of_object);
  const ValueId first = call_attribute(name, object, arguments);
  builder_.jump(after);
  builder_.enter(otherwise);
  const ValueId second = of_container();
  builder_.jump(after);
  builder_.enter(after);
  return builder_.value(Op::kPhi, "", {{"", first}, {"", second}});
}

}  // namespace dtype_guard::python
