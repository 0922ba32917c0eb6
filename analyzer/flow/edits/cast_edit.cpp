#include "analyzer/flow/edits/cast_edit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/flow/edits/source_ranges.h"
#include "analyzer/flow/program/watched_body.h"

namespace dtype_guard::flow {
namespace {

struct Position {
  BlockId block = 0;
  std::size_t index = 0;
};

template <typename Fits>
std::vector<Position> all_that(const Function& function, Fits fits) {
  std::vector<Position> found;
  for (BlockId block = 0; block < function.blocks.size(); ++block) {
    const auto& instructions = function.blocks[block].instructions;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (fits(instructions[i])) found.push_back({block, i});
    }
  }
  return found;
}

template <typename Fits>
std::optional<Position> last_that(const Function& function, Fits fits) {
  const std::vector<Position> all = all_that(function, fits);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

const Instruction& at(const Function& function, const Position& position) {
  return function.blocks[position.block].instructions[position.index];
}

std::optional<Position> expression(const Function& function, const SourceRange& range) {
  return last_that(function, [&](const Instruction& each) { return each.result && each.range == range; });
}

bool is_call(const Instruction& each) { return each.op == Op::kCall || each.op == Op::kSink; }

// What takes the arguments that are written there: what its result is taken apart by has the same place.
std::optional<Position> call(const Function& function, const SourceRange& range) {
  const auto called = last_that(
      function, [&](const Instruction& each) { return each.result && each.range == range && is_call(each); });
  return called ? called : expression(function, range);
}

// Parts of a result that is taken apart where it is made: "a, b = f(x)". Of these a cast takes hold of the
// whole.
bool is_part_of_result(const Function& function, const Instruction& each) {
  if (each.op != Op::kOperator || each.args.size() != 2) return false;
  const Instruction* whole = definition_in(function, each.args[0].value);
  const Instruction* index = definition_in(function, each.args[1].value);
  return whole && index && index->op == Op::kConst && whole->range == each.range &&
         index->range == each.range;
}

// The instruction and its copies: the body of a loop that is unrolled stands in the text once.
std::vector<Position> copies_of(const Function& function, const Position& where) {
  const Instruction& one = at(function, where);
  return all_that(function, [&](const Instruction& each) {
    return each.result && each.range == one.range && each.op == one.op && each.name == one.name &&
           each.text == one.text;
  });
}

// Of several copies each takes the dtype of what it is made of: one may be wide on purpose.
bool reads_inside(const Function& function, const SourceRange& range, const std::string& name) {
  return last_that(function,
                   [&](const Instruction& each) {
                     return each.op == Op::kLoad && each.text == name && is_within(each.range, range);
                   })
      .has_value();
}

ValueId last_value(const Function& function) {
  ValueId last = 0;
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) last = std::max(last, each.result);
  }
  return last;
}

// How a variable is read: a load to be repeated, or the value of a parameter that is never rebound.
struct Reading {
  std::optional<Instruction> load;
  ValueId value = 0;
  ValueId asked = 0;  // of a variable that holds a dtype: the tensor that was asked for it
};

// The tensor that was asked for what the variable holds; nothing when it is set more than once, or otherwise.
std::optional<ValueId> asked_for_dtype(const Function& function, const Place& place) {
  const auto stores = all_that(function, [&](const Instruction& each) {
    return (each.op == Op::kStore || each.op == Op::kAddress) && each.place == place;
  });
  const bool is_always_set = stores.size() == 1 && stores.front().block == 0;
  if (!is_always_set || place.base || !place.path.empty()) return std::nullopt;
  const Instruction& store = at(function, stores.front());
  const Instruction* made = store.args.empty() ? nullptr : definition_in(function, store.args.front().value);
  const bool asks = made && made->op == Op::kDtypeOf && !made->args.empty();
  return asks ? std::optional(made->args.front().value) : std::nullopt;
}

std::optional<Reading> reading_of_dtype(const Function& function, const std::string& name) {
  Instruction load;
  load.op = Op::kLoad;
  const auto at_name = std::find(function.variables.begin(), function.variables.end(), name);
  if (at_name == function.variables.end()) return std::nullopt;
  load.place.variable = static_cast<VariableId>(at_name - function.variables.begin());
  const auto asked = asked_for_dtype(function, load.place);
  return asked ? std::optional(Reading{load, 0, *asked}) : std::nullopt;
}

// Nothing for a name that is no tensor here, or two things.
std::optional<Reading> reading_of(const Function& function, const std::string& name) {
  std::optional<Reading> found;
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      const bool reads = each.op == Op::kLoad || each.op == Op::kParam;
      if (!reads || each.text != name || !is_tensor(each)) continue;
      if (each.op == Op::kParam && !each.result) continue;
      Reading one;
      if (each.op == Op::kLoad) {
        const Instruction* base = each.place.base ? definition_in(function, each.place.base) : nullptr;
        if (each.place.base && (!base || base->op != Op::kParam)) return std::nullopt;
        one.load = each;
      } else {
        one.value = each.result;
      }
      const bool same = found && found->value == one.value &&
                        found->load.has_value() == one.load.has_value() &&
                        (!one.load || found->load->place == one.load->place);
      // A parameter that can be rebound is stored in a variable first; the variable is what its name means.
      const bool rebound = found && !found->load && one.load;
      if (found && !same && !rebound) return std::nullopt;
      found = one;
    }
  }
  for (const Argument& each : function.constants) {
    if (each.name != name) continue;
    if (found) return std::nullopt;
    found = Reading{std::nullopt, each.value};
  }
  return found;
}

void replace_uses(Function& function, ValueId from, ValueId to) {
  for (Block& block : function.blocks) {
    for (Instruction& each : block.instructions) {
      for (Argument& argument : each.args) {
        if (argument.value == from) argument.value = to;
      }
      if (each.place.base == from) each.place.base = to;
    }
  }
}

// The instructions of ".to(LIKE.scalar_type())" on `value`, and the value that they give.
std::vector<Instruction> cast_like(const Reading& like, ValueId value, ValueId next,
                                   const SourceRange& range) {
  std::vector<Instruction> out;
  const auto add = [&](Op op, std::vector<Argument> arguments) -> Instruction& {
    Instruction& each = out.emplace_back();
    each.op = op;
    each.args = std::move(arguments);
    each.range = range;
    each.result = next++;
    return each;
  };
  ValueId read = like.value;
  if (like.load) {
    Instruction& load = add(Op::kLoad, {});
    load.place = like.load->place;
    read = load.result;
  }
  add(Op::kSink, {{"like", like.asked ? like.asked : read}, {"cast", value}}).name = kWatchedCast;
  const ValueId dtype = like.asked ? read : add(Op::kDtypeOf, {{"", read}}).result;
  Instruction& cast = add(Op::kOperator, {{"self", value}, {"dtype", dtype}});
  cast.name = "to";
  return out;
}

void insert(Function& function, const Position& where, const std::vector<Instruction>& what) {
  auto& instructions = function.blocks[where.block].instructions;
  instructions.insert(instructions.begin() + static_cast<std::ptrdiff_t>(where.index), what.begin(),
                      what.end());
}

bool cast_expression(Function& function, const Position& where, const Reading& like) {
  const Instruction from = at(function, where);
  const bool is_one_tensor = from.op != Op::kParam && from.op != Op::kPack;  // as sort gives two
  if (from.written != Written::kTensor || !is_one_tensor) return false;
  const std::vector<Instruction> cast = cast_like(like, from.result, last_value(function) + 1, from.range);
  replace_uses(function, from.result, cast.back().result);
  insert(function, {where.block, where.index + 1}, cast);
  return true;
}

bool cast_argument(Function& function, const Position& where, const CastEdit& edit, const Reading& like) {
  const Instruction call = at(function, where);
  if (call.written == Written::kMacro || edit.position >= call.args.size()) return false;
  const std::vector<Instruction> cast =
      cast_like(like, call.args[edit.position].value, last_value(function) + 1, call.range);
  auto& instructions = function.blocks[where.block].instructions;
  instructions[where.index].args[edit.position].value = cast.back().result;
  // What watches the call gets what the call gets.
  const bool watched =
      where.index > 0 &&
      body_behind(function.blocks[where.block], instructions[where.index - 1]) == &instructions[where.index];
  if (watched) {
    Instruction& sink = instructions[where.index - 1];
    const std::size_t before = object_arguments(sink, call);
    if (edit.position >= before) sink.args[edit.position - before].value = cast.back().result;
  }
  insert(function, {where.block, where.index - (watched ? 1 : 0)}, cast);
  return true;
}

bool assign(Function& function, const Position& where, const Reading& target) {
  const Instruction from = at(function, where);
  if (from.written != Written::kTensor || !target.load || target.load->place.base) return false;
  Instruction store;
  store.op = Op::kStore;
  store.place = target.load->place;
  store.args = {{"", from.result}};
  store.range = from.range;
  insert(function, {where.block, where.index + 1}, {store});
  // The statement is no longer a cast whose result is not used.
  for (Block& block : function.blocks) {
    std::erase_if(block.instructions, [&](const Instruction& each) {
      return each.op == Op::kDiscard && !each.args.empty() && each.args[0].value == from.result;
    });
  }
  return true;
}

}  // namespace

bool is_tensor(const Instruction& instruction) {
  return instruction.written == Written::kTensor || instruction.written == Written::kBound;
}

const Instruction* expression_in(const Function& function, const SourceRange& range) {
  const auto found = expression(function, range);
  return found ? &at(function, *found) : nullptr;
}

std::vector<std::string> dtype_names(const Function& function, const SourceRange& before) {
  std::vector<std::string> out;
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      const bool is_before = each.range.file == before.file && each.range.end_line < before.line;
      if (each.op != Op::kStore || !is_before || !asked_for_dtype(function, each.place)) continue;
      out.push_back(function.variables.at(each.place.variable));
    }
  }
  return out;
}

const Instruction* call_in(const Function& function, const SourceRange& range) {
  const auto found = call(function, range);
  return found ? &at(function, *found) : nullptr;
}

const Instruction* definition_in(const Function& function, ValueId id) {
  const auto found =
      last_that(function, [&](const Instruction& each) { return each.result == id && id != 0; });
  return found ? &at(function, *found) : nullptr;
}

EditedModule::~EditedModule() {
  for (auto each = before_.rbegin(); each != before_.rend(); ++each) {
    module_.functions[each->first] = std::move(each->second);
  }
}

bool EditedModule::add(const CastEdit& edit) {
  bool any = false;
  for (std::uint32_t id = 0; id < module_.functions.size(); ++id) {
    Function& function = module_.functions[id];
    if (!expression(function, edit.range)) continue;
    if (function.foreign) return false;
    // The original is what comes back, so that what points into it is right again.
    Function copy = function;
    before_.emplace_back(id, std::exchange(function, std::move(copy)));
    if (!add(edit, function)) return false;
    any = true;
  }
  return any;
}

bool EditedModule::add(const CastEdit& edit, Function& function) {
  using Kind = CastEdit::Kind;
  const bool of_call = edit.kind == Kind::kArgument;
  const auto where = of_call ? call(function, edit.range) : expression(function, edit.range);
  const auto like =
      edit.names_dtype ? reading_of_dtype(function, edit.like) : reading_of(function, edit.like);
  if (!where || !like || (!of_call && is_part_of_result(function, at(function, *where)))) return false;
  const std::vector<Position> copies = copies_of(function, *where);
  const bool of_all = edit.for_call || reads_inside(function, edit.range, edit.like);
  if (copies.size() > 1 && (edit.kind == Kind::kAssign || !of_all)) return false;
  // From the last one: what is inserted moves those behind it.
  return std::all_of(copies.rbegin(), copies.rend(), [&](const Position& each) {
    switch (edit.kind) {
      case Kind::kExpression:
        return cast_expression(function, each, *like);
      case Kind::kArgument:
        return cast_argument(function, each, edit, *like);
      case Kind::kAssign:
        return assign(function, each, *like);
    }
    return false;
  });
}

std::vector<std::uint32_t> EditedModule::functions() const {
  std::vector<std::uint32_t> out;
  for (const auto& [id, function] : before_) out.push_back(id);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace dtype_guard::flow
