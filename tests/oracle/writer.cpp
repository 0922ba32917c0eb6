#include "tests/oracle/writer.h"

#include <algorithm>

namespace dtype_guard::oracle {
using flow::Op;
using flow::Place;
using flow::ValueId;

flow::Instruction& Writer::add(Op op, std::string name, Args args) {
  flow::Instruction& out = function_.blocks[block_].instructions.emplace_back();
  out.op = op;
  out.name = std::move(name);
  out.args = std::move(args);
  ++line_;
  out.range = {0, line_, 1, line_, 2};
  return out;
}

ValueId Writer::value(Type type, Op op, std::string name, Args args) {
  add(op, std::move(name), std::move(args)).result = ++last_;
  offer(type, last_);
  return last_;
}

ValueId Writer::constant(const flow::Constant& constant) {
  flow::Instruction& out = add(Op::kConst);
  out.constant = constant;
  return out.result = ++last_;
}

ValueId Writer::load(Type type, const Place& place) {
  const ValueId out = value(type, Op::kLoad);
  last().place = place;
  return out;
}

ValueId Writer::address(const Place& place) {
  const ValueId out = value(Type::kReference, Op::kAddress);
  last().place = place;
  return out;
}

void Writer::store(const Place& place, ValueId value) { add(Op::kStore, {}, {{"", value}}).place = place; }

flow::BlockId Writer::new_block() {
  function_.blocks.emplace_back();
  return static_cast<flow::BlockId>(function_.blocks.size() - 1);
}

void Writer::jump(flow::BlockId to) { add(Op::kJump).targets = {to}; }
void Writer::branch(ValueId condition, flow::BlockId yes, flow::BlockId no) {
  add(Op::kBranch, {}, {{"", condition}}).targets = {yes, no};
}

// Rather a late one: programs whose parts use each other say more.
ValueId Writer::some(Type type) {
  std::vector<ValueId> all;
  for (const auto& [each, value] : there_) {
    if (each == type) all.push_back(value);
  }
  if (all.empty()) return 0;
  const std::size_t last = std::min<std::size_t>(all.size(), 4);
  return random_.one_in(3) ? random_.of(all) : all[all.size() - 1 - random_.below(last)];
}

Place Writer::variable(Type type) {
  const auto id = static_cast<flow::VariableId>(function_.variables.size());
  function_.variables.push_back("v" + std::to_string(id));
  variables.emplace_back(type, id);
  return place_of(id);
}

ValueId parameter(Writer& writer, std::int64_t number) {
  const ValueId out = writer.value(Type::kTensor, Op::kParam);
  writer.last().constant = number;
  return out;
}

ValueId matrix(Writer& writer, std::int64_t number) {
  const ValueId out = parameter(writer, number);
  const ValueId dimensions = writer.value(Type::kInteger, Op::kOperator, "dim", {{"", out}});
  const ValueId two = writer.constant(std::int64_t{2});
  writer.add(Op::kAssume, {},
             {{"", writer.value(Type::kBool, Op::kOperator, "eq", {{"", dimensions}, {"", two}})}});
  return out;
}

Place place_of(flow::VariableId variable) {
  Place out;
  out.variable = variable;
  return out;
}

Place field_of(ValueId base, std::string name) {
  Place out;
  out.base = base;
  out.path.push_back({Place::Step::Kind::kField, std::move(name), 0});
  return out;
}

Place cell_of(ValueId base, Place::Step::Kind kind, std::int64_t cell) {
  Place out;
  out.base = base;
  out.path.push_back({kind, {}, cell});
  return out;
}

}  // namespace dtype_guard::oracle
