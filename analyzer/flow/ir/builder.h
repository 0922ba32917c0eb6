// Builder appends instructions to one function of the dtype-flow IR: it numbers values, opens blocks and
// gives every instruction the position of the expression that is being lowered. It knows no language: front
// ends share it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

class Builder {
 public:
  struct Position {
    SourceRange range;
    std::string text;
    Written written = Written::kOther;
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

  explicit Builder(Function& function) : function_(function) { enter(block()); }

  BlockId block();
  void enter(BlockId block) { current_ = block; }
  // Code after a terminator goes to a block that nothing reaches; finish() drops those.
  BlockId current() const { return current_; }
  bool open() const;
  VariableId variable(const std::string& name);
  const Position& position() const { return position_; }

  ValueId constant(Constant value);
  ValueId unknown() { return constant(Unknown{}); }
  ValueId none() { return constant(None{}); }
  ValueId parameter(int index);
  ValueId value(Op op, std::string name, std::vector<Argument> arguments);
  ValueId value(Op op, ValueId argument);
  ValueId op(std::string name, std::vector<Argument> arguments) {
    return value(Op::kOperator, std::move(name), std::move(arguments));
  }
  // `from`: the dtype that the language says the argument has; 0 where it says none.
  ValueId cast(ValueId argument, ValueId dtype, bool implicit, ValueId from = 0);
  ValueId load(Place place);
  ValueId address(Place place);
  ValueId registration(std::string kind, ValueId object, std::string name, ValueId value);
  void store(Place place, ValueId value);
  void effect(Op op, std::string name, std::vector<Argument> arguments);

  void jump(BlockId target);
  void branch(ValueId condition, BlockId yes, BlockId no);
  void give_back(ValueId value);  // return; 0 returns nothing
  void unreachable();

  // Removes the blocks that cannot be reached and ends the open one with a return.
  void finish();

 private:
  ValueId append(Instruction instruction, bool has_result);

  Function& function_;
  BlockId current_ = 0;
  ValueId last_value_ = 0;
  Position position_;
};

}  // namespace dtype_guard::flow
