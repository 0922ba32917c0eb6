// Builder appends instructions to one function of the dtype-flow IR: it numbers values, opens blocks and
// gives every instruction the position of the expression that is being lowered. It knows nothing of Clang.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/ir.h"

namespace dtype_guard::clang_front_end {

class Builder {
 public:
  struct Position {
    flow::SourceRange range;
    std::string text;
    flow::Written written = flow::Written::kOther;
  };
  // While alive, instructions carry this position.
  class At {
   public:
    At(Builder& builder, Position position)
        : builder_(builder), saved_(std::exchange(builder.position_, std::move(position))) {}
    ~At() { builder_.position_ = std::move(saved_); }
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    Builder& builder_;
    Position saved_;
  };

  explicit Builder(flow::Function& function) : function_(function) { enter(block()); }

  flow::BlockId block();
  void enter(flow::BlockId block) { current_ = block; }
  // Code after a terminator goes to a block that nothing reaches; finish() drops those.
  flow::BlockId current() const { return current_; }
  bool open() const;
  flow::VariableId variable(const std::string& name);
  const Position& position() const { return position_; }

  flow::ValueId constant(flow::Constant value);
  flow::ValueId unknown() { return constant(flow::Unknown{}); }
  flow::ValueId none() { return constant(flow::None{}); }
  flow::ValueId parameter(int index);
  flow::ValueId value(flow::Op op, std::string name, std::vector<flow::Argument> arguments);
  flow::ValueId value(flow::Op op, flow::ValueId argument);
  flow::ValueId op(std::string name, std::vector<flow::Argument> arguments) {
    return value(flow::Op::kOperator, std::move(name), std::move(arguments));
  }
  // `from`: the dtype that the language says the argument has; 0 where it says none.
  flow::ValueId cast(flow::ValueId argument, flow::ValueId dtype, bool implicit, flow::ValueId from = 0);
  flow::ValueId load(flow::Place place);
  flow::ValueId address(flow::Place place);
  flow::ValueId registration(std::string kind, flow::ValueId object, std::string name, flow::ValueId value);
  void store(flow::Place place, flow::ValueId value);
  void effect(flow::Op op, std::string name, std::vector<flow::Argument> arguments);

  void jump(flow::BlockId target);
  void branch(flow::ValueId condition, flow::BlockId yes, flow::BlockId no);
  void give_back(flow::ValueId value);  // return; 0 returns nothing
  void unreachable();

  // Removes the blocks that cannot be reached and ends the open one with a return.
  void finish();

 private:
  flow::Instruction make(flow::Op op) const;
  flow::ValueId append(flow::Instruction instruction, bool has_result);

  flow::Function& function_;
  flow::BlockId current_ = 0;
  flow::ValueId last_value_ = 0;
  Position position_;
};

}  // namespace dtype_guard::clang_front_end
