// Statements of generated programs on what is known by a key: dictionaries, parts of lists and tensors,
// texts; and on numbers.
#include "tests/oracle/statements.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using flow::ValueId;
constexpr const char* kKeys[] = {"a", "b", "c"};
}  // namespace

ValueId Program::text() {
  const ValueId there = writer_.some(Type::kText);
  if (there && random_.one_in(2)) return there;
  const ValueId out = writer_.constant(std::string(random_.of(kKeys)));
  writer_.offer(Type::kText, out);
  return out;
}

ValueId Program::dictionary() {
  const ValueId there = writer_.some(Type::kDictionary);
  if (there && !random_.one_in(4)) return there;
  const ValueId out = writer_.value(Type::kDictionary, Op::kObject, std::string(flow::kDictionary));
  writer_.store(field_of(out, kKeys[0]), tensor());
  if (random_.one_in(2)) writer_.store(field_of(out, kKeys[1]), tensor());
  return out;
}

// A key that is written out, or a text that a condition may have chosen.
flow::Argument Program::key() {
  const bool is_computed = random_.one_in(4) && writer_.some(Type::kText);
  return is_computed ? flow::Argument{"key", text()}
                     : flow::Argument{"index", writer_.constant(std::string(random_.of(kKeys)))};
}

// What is changed by one name of a dictionary is changed by all, and a copy is another one.
void Program::keyed() {
  const ValueId all = dictionary();
  const auto operation = [&](Type type, const char* name, Args args) {
    args.insert(args.begin(), {"self", all});
    return writer_.value(type, Op::kOperator, name, std::move(args));
  };
  const flow::Argument written{"index", writer_.constant(std::string(random_.of(kKeys)))};
  switch (random_.below(8)) {
    case 0: {
      const flow::Argument where = key();
      operation(Type::kState, "store_element", {{"values", tensor()}, where});
      break;
    }
    case 1: {
      const ValueId otherwise = tensor();
      operation(Type::kTensor, random_.one_in(2) ? "dict_get" : "dict_pop",
                {written, {"default", otherwise}});
      break;
    }
    case 2:
      operation(Type::kOptional, "dict_get", {written});
      break;
    case 3:
      operation(Type::kBool, "dict_has", {written});
      break;
    case 4: {
      const ValueId more = dictionary();
      operation(Type::kState, "dict_update", {{"other", more}});
      break;
    }
    case 5:
      writer_.value(Type::kDictionary, Op::kOperator, "copy_of", {{"", all}});
      break;
    default:
      operation(Type::kTensor, "subscript", {key()});
  }
}

// An element of a list, or what an index or a slice gives of a tensor.
void Program::part() {
  const ValueId number = writer_.constant(random_.one_in(3) ? std::int64_t{-1} : std::int64_t{0});
  const bool of_list = random_.one_in(2);
  const ValueId whole = of_list ? list_of_tensors() : tensor();
  if (of_list && random_.one_in(3)) {
    const ValueId given = tensor();
    writer_.value(Type::kState, Op::kOperator, "store_element",
                  {{"self", whole}, {"values", given}, {"index", number}});
  }
  const bool is_slice = !of_list && random_.one_in(3);
  writer_.value(Type::kTensor, Op::kOperator, "subscript",
                {{"self", whole}, {is_slice ? "slice" : "index", number}});
}

// A number that others are computed into, and what is asked of it.
ValueId Program::number_question() {
  constexpr const char* kComparisons[] = {"eq", "ne", "lt", "ge"};
  ValueId number = 0;
  std::int64_t limit = 0;
  switch (random_.below(3)) {
    case 0: {
      const ValueId one = text(), other = text();
      number = writer_.value(Type::kState, Op::kOperator, std::string(flow::kTextOrder),
                             {{"self", one}, {"other", other}});
      const ValueId zero = writer_.constant(limit);
      return writer_.value(Type::kBool, Op::kOperator, random_.one_in(2) ? "eq" : "ne",
                           {{"", number}, {"", zero}});
    }
    case 1: {
      number = writer_.value(Type::kState, Op::kOperator, std::string(flow::kTextLength), {{"self", text()}});
      limit = 1;
      break;
    }
    default: {
      ValueId one = writer_.some(Type::kInteger);
      if (!one) one = writer_.constant(std::int64_t{1});
      const ValueId bound = writer_.constant(static_cast<std::int64_t>(random_.below(3)));
      const std::string_view name = random_.one_in(2) ? flow::kSmallerOf : flow::kLargerOf;
      number =
          writer_.value(Type::kState, Op::kOperator, std::string(name), {{"self", one}, {"other", bound}});
      limit = static_cast<std::int64_t>(random_.below(3));
    }
  }
  const ValueId than = writer_.constant(limit);
  return writer_.value(Type::kBool, Op::kOperator, random_.of(kComparisons), {{"", number}, {"", than}});
}

}  // namespace dtype_guard::oracle
