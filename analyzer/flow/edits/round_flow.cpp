#include "analyzer/flow/edits/round_flow.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "analyzer/flow/edits/cast_edit.h"
#include "analyzer/flow/edits/value_uses.h"
#include "analyzer/flow/program/consulted.h"
#include "analyzer/flow/program/function_info.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {

constexpr std::size_t kMaxCallers = 64;

using Step = Place::Step;

bool may_be_same(const Step& a, const Step& b) {
  if (a.kind == Step::Kind::kField || b.kind == Step::Kind::kField) return a == b;
  return a.kind != Step::Kind::kCell || b.kind != Step::Kind::kCell || a.cell == b.cell;
}

// One is the other, or a part of it.
bool may_overlap(const Place& a, const Place& b) {
  if (a.base != b.base || (!a.base && a.variable != b.variable)) return false;
  const std::size_t common = std::min(a.path.size(), b.path.size());
  return std::equal(a.path.begin(), a.path.begin() + static_cast<std::ptrdiff_t>(common), b.path.begin(),
                    may_be_same);
}

bool is_one_place(const Place& place) {
  return std::all_of(place.path.begin(), place.path.end(), [](const Step& each) {
    return each.kind == Step::Kind::kField || each.kind == Step::Kind::kCell;
  });
}

bool on_path(const Module& module, const Instruction& call, const Finding& finding) {
  return std::any_of(finding.path.begin(), finding.path.end(), [&](const PathStep& each) {
    return each.location.line == call.range.line && each.location.column == call.range.column &&
           each.location.end_column == call.range.end_column && call.range.file < module.files.size() &&
           module.files[call.range.file] == each.location.file;
  });
}

// Whether one of these and what leads to the call stand in one loop. Where nothing here leads to it, it is
// made by one of these; of a method that is called by its name alone, which any class may have, that is not
// known.
bool call_is_in_loop(const Module& module, const Function& function,
                     const std::vector<const Instruction*>& rounds, const Finding& finding) {
  const FunctionInfo info(function);
  std::vector<BlockId> repeated, named, leading;
  for (BlockId block = 0; block < function.blocks.size(); ++block) {
    for (const Instruction& each : function.blocks[block].instructions) {
      if (std::find(rounds.begin(), rounds.end(), &each) != rounds.end()) {
        repeated.push_back(block);
        if (!each.name.starts_with(kAttributeCall)) named.push_back(block);
      }
      if ((each.op == Op::kSink || each.op == Op::kCall) && on_path(module, each, finding))
        leading.push_back(block);
    }
  }
  if (leading.empty()) leading = std::move(named);
  return std::any_of(info.loops.begin(), info.loops.end(), [&](const FunctionInfo::Loop& loop) {
    const auto is_inside = [&](BlockId block) { return loop.blocks[block]; };
    return std::any_of(repeated.begin(), repeated.end(), is_inside) &&
           std::any_of(leading.begin(), leading.end(), is_inside);
  });
}

// Where a value of one function gets to within it: through operators, calls and what it is stored in, in the
// order of the control flow.
class Spread {
 public:
  Spread(const Module& module, const Function& function, const Finding& finding)
      : module_(module), function_(function), finding_(finding) {}

  void add(ValueId value) {
    if (value && values_.insert(value).second) changed_ = true;
  }
  // What a call has written where its arguments point to.
  void add_written(const Instruction& call) {
    for (const Argument& each : call.args) {
      const Instruction* made = definition_in(function_, each.value);
      if (made && made->op == Op::kAddress) store(call, made->place);
    }
  }
  void run() {
    while (changed_) {
      changed_ = false;
      for (const Block& block : function_.blocks) {
        for (const Instruction& each : block.instructions) {
          if (takes(each)) pass(each);
        }
      }
    }
  }
  bool takes(const Instruction& instruction) const {
    return std::any_of(instruction.args.begin(), instruction.args.end(),
                       [&](const Argument& each) { return values_.contains(each.value); });
  }
  bool leaves() const { return returned_ || written_; }
  bool is_returned() const { return returned_; }
  bool is_written_for_caller() const { return written_; }

 private:
  void pass(const Instruction& each) {
    switch (each.op) {
      case Op::kReturn:
        returned_ = true;
        return;
      case Op::kStore:
        store(each, each.place);
        return;
      case Op::kSink:
        return;
      case Op::kOperator:
      case Op::kCast:
        if (!tells_shape(each) && !is_cast_to_half(each)) add(each.result);
        return;
      case Op::kCall:
        if (on_path(module_, each, finding_)) return;
        add_written(each);
        add(each.result);
        return;
      default:
        add(each.result);
    }
  }

  bool is_cast_to_half(const Instruction& cast) const {
    const Operator* op = cast.op == Op::kOperator ? find_operator(cast.name) : nullptr;
    if (cast.op != Op::kCast && !(op && op->result == ResultRule::kCast)) return false;
    return std::any_of(cast.args.begin(), cast.args.end(), [&](const Argument& each) {
      const Instruction* made = definition_in(function_, each.value);
      const Dtype* dtype = made ? std::get_if<Dtype>(&made->constant) : nullptr;
      return dtype && is_half(*dtype);
    });
  }

  // All that reads the place behind this instruction, until something else is stored there.
  void store(const Instruction& from, const Place& place) {
    if (!stores_.insert(&from).second) return;
    const Instruction* base = place.base ? definition_in(function_, place.base) : nullptr;
    written_ = written_ || (base && base->op == Op::kParam);
    std::vector<bool> entered(function_.blocks.size());
    std::vector<BlockId> work;
    const auto follow = [&](const Block& block, std::size_t begin) {
      for (std::size_t i = begin; i < block.instructions.size(); ++i) {
        const Instruction& each = block.instructions[i];
        const bool reads = each.op == Op::kLoad || each.op == Op::kAddress;
        if (reads && may_overlap(each.place, place)) add(each.result);
        const bool other = each.op == Op::kStore && each.place == place && is_one_place(place);
        if (other || (place.base && each.result == place.base)) return;
      }
      if (block.instructions.empty()) return;
      for (const BlockId next : block.instructions.back().targets) {
        if (next < entered.size() && !entered[next]) work.push_back(next);
        if (next < entered.size()) entered[next] = true;
      }
    };
    for (const Block& block : function_.blocks) {
      for (std::size_t i = 0; i < block.instructions.size(); ++i) {
        if (&block.instructions[i] == &from) follow(block, i + 1);
      }
    }
    while (!work.empty()) {
      const BlockId next = work.back();
      work.pop_back();
      follow(function_.blocks[next], 0);
    }
  }

  const Module& module_;
  const Function& function_;
  const Finding& finding_;
  std::set<ValueId> values_;
  std::set<const Instruction*> stores_;
  bool changed_ = false;
  bool returned_ = false;
  bool written_ = false;
};

}  // namespace

RoundFlow::RoundFlow(const Module& module) : module_(module) {}

void RoundFlow::find_callers() {
  if (index_) return;
  index_.emplace(module_);
  find_held();
  callers_.resize(module_.functions.size());
  for (std::uint32_t caller = 0; caller < callers_.size(); ++caller) {
    for (const Block& block : module_.functions[caller].blocks) {
      for (const Instruction& each : block.instructions) {
        for (const std::uint32_t callee : may_run(module_.functions[caller], each)) {
          if (callers_[callee].empty() || callers_[callee].back() != caller)
            callers_[callee].push_back(caller);
        }
      }
    }
  }
}

void RoundFlow::find_held() {
  for (const Function& function : module_.functions) {
    for (const Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        const std::string* field = each.place.last_field();
        if (each.op != Op::kStore || !field || each.args.empty()) continue;
        const Instruction* made = definition_in(function, each.args.front().value);
        if (made && made->op == Op::kRegister && made->args.size() == 2)
          made = definition_in(function, made->args.back().value);
        Held& held = held_[*field];
        if (made && made->op == Op::kObject) held.classes.insert(made->name);
        const bool is_known = made && (made->op == Op::kObject || made->op == Op::kModule);
        held.others = held.others || !is_known;
      }
    }
  }
}

bool RoundFlow::is_or_derives(const std::string& type, const std::string& from) const {
  std::vector<std::string> work = {type};
  std::set<std::string> seen;
  while (!work.empty()) {
    const std::string one = std::move(work.back());
    work.pop_back();
    if (one == from) return true;
    const ClassFacts* facts = seen.insert(one).second ? index_->class_facts(one) : nullptr;
    if (facts) work.insert(work.end(), facts->bases.begin(), facts->bases.end());
  }
  return false;
}

// Of what a call by name alone may run, that which the object's field can hold: "self.q_proj(x)" of a
// library's layer runs no method of the project.
std::vector<std::uint32_t> RoundFlow::may_run(const Function& caller, const Instruction& call) const {
  std::vector<std::uint32_t> out = index_->may_run(call);
  if (out.empty() || !call.name.starts_with(kAttributeCall) || call.args.empty()) return out;
  const Instruction* object = definition_in(caller, call.args.front().value);
  const bool is_field = object && object->op == Op::kLoad && object->place.path.size() == 1;
  const std::string* field = is_field ? object->place.last_field() : nullptr;
  const auto known = field ? held_.find(*field) : held_.end();
  if (known == held_.end() || known->second.others) return out;
  std::erase_if(out, [&](std::uint32_t callee) {
    const std::string& owner = module_.functions[callee].class_name;
    return std::none_of(known->second.classes.begin(), known->second.classes.end(),
                        [&](const std::string& each) { return is_or_derives(each, owner); });
  });
  return out;
}

// The calls that may run one of the functions; what makes a lambda may call it wherever it calls any.
std::vector<const Instruction*> RoundFlow::calls(const Function& caller,
                                                 const std::set<std::uint32_t>& callees) const {
  std::vector<const Instruction*> out;
  bool makes_lambda = false;
  for (const Block& block : caller.blocks) {
    for (const Instruction& each : block.instructions) {
      const std::vector<std::uint32_t> runs = may_run(caller, each);
      const bool one = std::any_of(runs.begin(), runs.end(),
                                   [&](std::uint32_t callee) { return callees.contains(callee); });
      makes_lambda = makes_lambda || (one && each.op == Op::kClosure);
      const bool lambda = makes_lambda && each.name.empty();
      if (each.op == Op::kCall && (one || lambda)) out.push_back(&each);
    }
  }
  return out;
}

RoundsAround RoundFlow::comes_back(const Function& function, const Instruction& expression,
                                   const Finding& finding) {
  Consulted::note_flow();
  const auto round = [&](const Function& where, const std::vector<const Instruction*>& again) {
    const bool inside = call_is_in_loop(module_, where, again, finding);
    return inside ? RoundsAround{ComesBack::kInRounds, where.name} : RoundsAround{ComesBack::kBeforeCall, ""};
  };
  Spread here(module_, function, finding);
  here.add(expression.result);
  here.run();
  if (here.takes(expression)) return round(function, {&expression});
  if (!here.leaves()) return {};
  find_callers();
  struct Given {
    std::uint32_t by = 0;
    bool returned = false;
    bool written = false;
  };
  const auto id = static_cast<std::uint32_t>(&function - module_.functions.data());
  std::vector<Given> work = {{id, here.is_returned(), here.is_written_for_caller()}};
  std::set<std::uint32_t> around = {id};
  while (!work.empty()) {
    const Given given = work.back();
    work.pop_back();
    for (const std::uint32_t each : callers_[given.by]) {
      const Function& caller = module_.functions[each];
      Spread spread(module_, caller, finding);
      for (const Instruction* call : calls(caller, {given.by})) {
        if (given.returned) spread.add(call->result);
        if (given.written) spread.add_written(*call);
      }
      spread.run();
      const auto again = calls(caller, around);
      if (std::any_of(again.begin(), again.end(),
                      [&](const Instruction* call) { return spread.takes(*call); }))
        return round(caller, again);
      if (!spread.leaves() || !around.insert(each).second) continue;
      if (around.size() > kMaxCallers) return {ComesBack::kBeforeCall, ""};  // not known
      work.push_back({each, spread.is_returned(), spread.is_written_for_caller()});
    }
  }
  return {};
}

}  // namespace dtype_guard::flow
