#include "analyzer/flow/edits/cast_edit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/flow/program/watched_body.h"

namespace dtype_guard::flow {
namespace {

struct Position {
  BlockId block = 0;
  std::size_t index = 0;
};

template <typename Fits>
std::optional<Position> last_that(const Function& function, Fits fits) {
  std::optional<Position> found;
  for (BlockId block = 0; block < function.blocks.size(); ++block) {
    const auto& instructions = function.blocks[block].instructions;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      if (fits(instructions[i])) found = Position{block, i};
    }
  }
  return found;
}

const Instruction& at(const Function& function, const Position& position) {
  return function.blocks[position.block].instructions[position.index];
}

std::optional<Position> expression(const Function& function, const SourceRange& range) {
  return last_that(function, [&](const Instruction& each) { return each.result && each.range == range; });
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
};

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
  add(Op::kSink, {{"like", read}, {"cast", value}}).name = kWatchedCast;
  const ValueId dtype = add(Op::kDtypeOf, {{"", read}}).result;
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
  if (from.written != Written::kTensor || from.op == Op::kParam) return false;
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
  const auto where = expression(function, edit.range);
  const auto like = reading_of(function, edit.like);
  if (!where || !like) return false;
  switch (edit.kind) {
    case CastEdit::Kind::kExpression:
      return cast_expression(function, *where, *like);
    case CastEdit::Kind::kArgument:
      return cast_argument(function, *where, edit, *like);
    case CastEdit::Kind::kAssign:
      return assign(function, *where, *like);
  }
  return false;
}

std::vector<std::uint32_t> EditedModule::functions() const {
  std::vector<std::uint32_t> out;
  for (const auto& [id, function] : before_) out.push_back(id);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace dtype_guard::flow
