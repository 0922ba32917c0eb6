// Writes one function of a generated program: instructions into blocks, and which values of which type are
// there to be used at this point. Every instruction gets a line of its own, by which findings name it.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::oracle {

enum class Type : std::uint8_t {
  kTensor,
  kOptional,
  kBool,
  kInteger,
  kDtype,
  kList,
  kObject,
  kReference,
  kLayer,     // a library module
  kReceiver,  // an object whose class decides what is called
  kDictionary,
  kText,
  kState
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return n < 2 ? 0 : engine_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class All>
  const auto& of(const All& all) {
    return all[below(std::size(all))];
  }

 private:
  std::mt19937_64 engine_;
};

class Writer {
 public:
  using Args = std::vector<flow::Argument>;
  Writer(flow::Function& function, Random& random, int& line)
      : function_(function), random_(random), line_(line) {
    function.blocks.emplace_back();
  }

  flow::Instruction& add(flow::Op op, std::string name = {}, Args args = {});
  // The same with a result, of a type that is offered from here on.
  flow::ValueId value(Type type, flow::Op op, std::string name = {}, Args args = {});
  flow::Instruction& last() { return function_.blocks[block_].instructions.back(); }
  flow::ValueId constant(const flow::Constant& constant);
  flow::ValueId load(Type type, const flow::Place& place);
  flow::ValueId address(const flow::Place& place);
  void store(const flow::Place& place, flow::ValueId value);
  flow::BlockId new_block();
  void go_on_in(flow::BlockId block) { block_ = block; }
  void jump(flow::BlockId to);
  void branch(flow::ValueId condition, flow::BlockId yes, flow::BlockId no);

  // 0: there is none.
  flow::ValueId some(Type type);
  std::size_t scope() const { return there_.size(); }
  void leave(std::size_t scope) { there_.resize(scope); }
  void offer(Type type, flow::ValueId value) { there_.emplace_back(type, value); }

  flow::Place variable(Type type);  // a new one
  std::vector<std::pair<Type, flow::VariableId>> variables;
  flow::Function& function() { return function_; }
  Random& random() { return random_; }

 private:
  flow::Function& function_;
  Random& random_;
  int& line_;
  flow::BlockId block_ = 0;
  flow::ValueId last_ = 0;
  std::vector<std::pair<Type, flow::ValueId>> there_;
};

// A tensor that the function is handed.
flow::ValueId parameter(Writer& writer, std::int64_t number);
// With two dimensions: there are few runs then, and all of them are made.
flow::ValueId matrix(Writer& writer, std::int64_t number);

flow::Place place_of(flow::VariableId variable);
flow::Place field_of(flow::ValueId base, std::string name);
flow::Place cell_of(flow::ValueId base, flow::Place::Step::Kind kind, std::int64_t cell = 0);

}  // namespace dtype_guard::oracle
