// Functions that run, wrap or hold functions: checkpointing, compilation, partial application, map.
#include <set>

#include "analyzer/python/function_lowering.h"
#include "analyzer/python/registries.h"

namespace dtype_guard::python {

using namespace flow;

namespace {
bool is_checkpoint(const std::string& name) {
  return name == "torch.utils.checkpoint.checkpoint" || name == "deepspeed.checkpointing.checkpoint" ||
         name == "fairscale.nn.checkpoint.checkpoint_activations.checkpoint";
}
bool is_of_checkpoint(const std::string& keyword) {
  return keyword == "use_reentrant" || keyword == "preserve_rng_state" || keyword == "context_fn" ||
         keyword == "determinism_check" || keyword == "debug" || keyword == "early_stop";
}
}  // namespace

// What gives its first argument back, or what behaves like it.
bool gives_function_back(const std::string& name) {
  static const std::set<std::string_view> known = {"torch.compile",
                                                   "torch.jit.script",
                                                   "torch.jit.ignore",
                                                   "torch.jit.unused",
                                                   "torch.jit.export",
                                                   "torch.compiler.disable",
                                                   "torch._dynamo.disable",
                                                   "torch.fx.wrap",
                                                   "functools.lru_cache",
                                                   "functools.cache",
                                                   "torch.nn.DataParallel",
                                                   "torch.nn.parallel.DataParallel",
                                                   "torch.nn.parallel.DistributedDataParallel"};
  return known.contains(name);
}

// checkpoint(f, x, y): f(x, y).
std::optional<ValueId> FunctionLowering::checkpointed(const std::string& name,
                                                      const std::vector<Given>& arguments) {
  const bool of_transformers = name.ends_with("._gradient_checkpointing_func");
  if ((!is_checkpoint(name) && !of_transformers) || arguments.empty() || !arguments[0].name.empty())
    return std::nullopt;
  std::vector<Given> handed;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (!is_of_checkpoint(arguments[i].name)) handed.push_back(arguments[i]);
  }
  Node function = arguments[0].node;
  if (function.is("attribute") && function.field("attribute").text() == "__call__")
    function = function.field("object");
  return run(function, handed);
}

std::optional<ValueId> FunctionLowering::higher_order(const std::string& name,
                                                      const std::vector<Given>& arguments) {
  if (const auto out = checkpointed(name, arguments)) return out;
  if (arguments.empty() || !arguments[0].name.empty()) return std::nullopt;
  if (name == "functools.reduce") return reduced(arguments);
  if (name == "functools.partial" || name == "functools.partialmethod") return partial(arguments);
  if (gives_function_back(name)) return callable(arguments[0].node);
  return std::nullopt;
}

// reduce(f, [a, b, c]): f(f(a, b), c), where the list stands there.
std::optional<ValueId> FunctionLowering::reduced(const std::vector<Given>& arguments) {
  const bool is_plain = arguments.size() >= 2 && arguments.size() <= 3 && arguments[1].name.empty();
  const auto all = is_plain ? displayed(arguments[1].node) : std::nullopt;
  if (!all || all->empty()) return std::nullopt;
  const std::size_t outside = std::exchange(copies_, copies_ * all->size());
  const bool has_first = arguments.size() == 3;
  ValueId out = value(has_first ? arguments[2].node : all->front());
  for (std::size_t i = has_first ? 0 : 1; i < all->size(); ++i)
    out = apply(arguments[0].node, {out, value((*all)[i])});
  copies_ = outside;
  return out;
}

// What a global holds, as the module's own code makes it; nothing where that hangs on what runs.
ValueId FunctionLowering::global_value(const Entity& entity) {
  constexpr int kMaxNested = 4;
  static const std::set<std::string_view> plain = {"integer", "float", "string",    "true",
                                                   "false",   "none",  "attribute", "unary_operator"};
  static const std::set<std::string_view> made = {"call", "dictionary", "lambda", "identifier",
                                                  "conditional_expression"};
  const std::string_view kind = entity.value.kind();
  const bool own = entity.file == &unit_.file();
  const bool may_be_tensor = kind == "call" || kind == "binary_operator" || kind == "subscript";
  if (global_depth_ < kMaxNested && may_be_tensor && entity.element < 0 &&
      is_settled(entity.value, *entity.file)) {
    const SourceFile* outside = std::exchange(global_file_, entity.file);
    ++global_depth_;
    const ValueId out = settled(entity.value);
    --global_depth_;
    global_file_ = outside;
    return out;
  }
  if (global_depth_ >= kMaxNested || (!plain.contains(kind) && !made.contains(kind)))
    return builder_.unknown();
  if (!own && (kind == "lambda" || plain.contains(kind))) {
    if (!plain.contains(kind) || kind == "attribute") return builder_.unknown();
    const Builder::At here(builder_, builder_.position());
    return value_of(entity.value);
  }
  const bool is_made = kind != "call" || entity.file->gives_import(entity.value, entity.element) ||
                       (entity.element < 0 && makes_function(entity.value, *entity.file));
  if (!is_made) return builder_.unknown();
  const SourceFile* before = std::exchange(global_file_, entity.file);
  ++global_depth_;
  ValueId out = kind == "call" || kind == "identifier" ? callable(entity.value) : value_of(entity.value);
  if (entity.element >= 0) out = element(out, entity.element);
  if (kind == "dictionary") put_registered_in(out, entity);
  --global_depth_;
  global_file_ = before;
  return out;
}

// What decorators put into a table of their module, beside what others may put in.
void FunctionLowering::put_registered_in(ValueId table, const Entity& entity) {
  const auto entries =
      registered(*entity.file, std::string_view(entity.name).substr(entity.name.rfind('.') + 1));
  if (!entries) return;
  Place any;
  any.base = table;
  any.path.push_back({Place::Step::Kind::kAnyCell, "", 0});
  builder_.store(std::move(any), builder_.unknown());
  for (const RegistryEntry& each : *entries) {
    const Entity held = unit_.modules().global(*entity.file, each.name);
    const auto known = held ? function_value(held) : std::nullopt;
    Place place;
    place.base = table;
    place.path.push_back({Place::Step::Kind::kField, each.key, 0});
    builder_.store(std::move(place), known ? *known : builder_.unknown());
  }
}

// The decorators below run before anything else asks for it.
void FunctionLowering::fill_registry(const Node& name, ValueId table) {
  const Entity entity = name.is("identifier") ? unit_.modules().global(unit_.file(), name.text()) : Entity();
  if (entity.kind == Entity::Kind::kValue && entity.file == &unit_.file()) put_registered_in(table, entity);
}

// torch.arange(0, 64, 2).float(): what PyTorch makes when the module is run, methods of that, arithmetic with
// it, and names of it.
bool FunctionLowering::is_settled(const Node& written, const SourceFile& file, int depth) const {
  constexpr int kMaxDepth = 12;
  if (depth > kMaxDepth) return false;
  if (written.is("parenthesized_expression")) return is_settled(written.child(0), file, depth + 1);
  if (written.is("unary_operator")) return is_settled(written.field("argument"), file, depth + 1);
  if (written.is("subscript")) return is_settled(written.field("value"), file, depth + 1);
  if (written.is("identifier")) {
    const Entity entity = unit_.modules().global(file, written.text());
    return entity.kind == Entity::Kind::kValue && entity.file == &file && entity.element < 0 &&
           is_settled(entity.value, file, depth + 1);
  }
  if (written.is("binary_operator")) {
    const Node left = written.field("left"), right = written.field("right");
    const auto is_number = [](const Node& each) { return each.is("integer") || each.is("float"); };
    return is_number(left)    ? is_settled(right, file, depth + 1)
           : is_number(right) ? is_settled(left, file, depth + 1)
                              : is_settled(left, file, depth + 1) && is_settled(right, file, depth + 1);
  }
  if (!written.is("call")) return false;
  const Node function = written.field("function");
  Node first = function;
  while (first.is("attribute")) first = first.field("object");
  const Entity callee =
      first.is("identifier") ? unit_.modules().named(file, std::string(function.text())) : Entity();
  // Where the default dtype is set, what it was made in is not known.
  if (callee.kind == Entity::Kind::kLibrary)
    return torch_function(callee.name) && file.tree().text().find("set_default_") == std::string::npos;
  return function.is("attribute") && is_settled(function.field("object"), file, depth + 1);
}

ValueId FunctionLowering::settled(const Node& written) {
  const ValueId before = builder_.value(Op::kSaveState, "", {});
  builder_.effect(Op::kSetAutocast, "", {{"on", builder_.constant(false)}});
  const ValueId out = value(written);
  builder_.effect(Op::kRestoreState, "", {{"", before}});
  return out;
}

// None is what it may be as well, where nothing was bound yet: a call of it raises.
ValueId FunctionLowering::chosen(const Entity& entity, const std::function<ValueId(const Entity&)>& make) {
  constexpr int kMaxNested = 2;
  if (choices_ >= kMaxNested) return builder_.unknown();
  ++choices_;
  Arguments all;
  const BlockId after = builder_.block();
  for (std::size_t i = 0; i < entity.choices.size(); ++i) {
    const bool is_last = i + 1 == entity.choices.size() && entity.optional.empty();
    const BlockId here = builder_.block(), next = is_last ? after : builder_.block();
    if (is_last) {
      builder_.jump(here);
    } else {
      builder_.branch(is_installed(entity.name + "#" + std::to_string(i)), here, next);
    }
    builder_.enter(here);
    all.push_back({"", make(entity.choices[i])});
    builder_.jump(after);
    if (!is_last) builder_.enter(next);
  }
  if (!entity.optional.empty()) {
    all.push_back({"", builder_.none()});
    builder_.jump(after);
  }
  builder_.enter(after);
  --choices_;
  return builder_.value(Op::kPhi, "", std::move(all));
}

// partial(f), torch.compile(f): what other calls give is unknown.
bool FunctionLowering::makes_function(const Node& call, const SourceFile& file) const {
  const Node function = call.field("function");
  const std::string text(function.text());
  const Entity callee = unit_.modules().named(file, text);
  if (callee.kind != Entity::Kind::kLibrary) return text == "dict";
  return callee.name == "functools.partial" || gives_function_back(callee.name);
}

}  // namespace dtype_guard::python
