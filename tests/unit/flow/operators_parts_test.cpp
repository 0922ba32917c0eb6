// What an operator of the table gives: the rank of its result, and its dtype with where that came from.
#include <utility>
#include <vector>

#include "analyzer/flow/operators/operator_rank.h"
#include "analyzer/flow/operators/operator_result.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

using Values = std::vector<Value>;

Value tensor(Rank rank) { return Value(Alternative::tensor(Dtype::kFloat32, rank)); }
Value number(std::int64_t value) { return Value(Alternative::integer(value)); }

// A call of an operator whose arguments stand for the values by position, none of them a list.
struct Ranked {
  Ranked(const char* op, std::vector<std::pair<const char*, Value>> given) : table(find_operator(op)) {
    REQUIRE(table);
    for (auto& [name, value] : given) {
      call.args.push_back({name, static_cast<ValueId>(call.args.size() + 1)});
      values.push_back(std::move(value));
    }
  }
  OperatorRank rank() const {
    RankInputs inputs;
    inputs.argument = [this](std::size_t at) { return values.at(at); };
    inputs.tensors = [](const Value& value) { return value.alternatives(); };
    inputs.elements = [](const Value&) { return std::nullopt; };
    inputs.length = [](const Value&) { return Rank{}; };
    inputs.is_list = [](const Value&) { return false; };
    return {*table, call, inputs};
  }
  const Operator* table;
  Instruction call;
  Values values;
};

// `left + right` under autocast or not.
struct Sum {
  std::vector<Alternative> outcomes(const Alternative& left, const Alternative& right) {
    const std::vector<ChosenInput> inputs = {{"self", &left, 1}, {"other", &right, 2}};
    const OperatorResults results(*find_operator("add"), {0, &site, &info}, inputs, std::nullopt, {}, Rank{},
                                  origins, symbols);
    return results.evaluate("cuda", "2.13", autocast, Dtype::kFloat32);
  }
  static Alternative of(Dtype dtype, Rank rank) { return Alternative::tensor(dtype, rank); }
  Function code;
  FunctionInfo info{with_block(code)};
  Instruction site;
  Origins origins;
  SymbolSets symbols;
  AutocastState autocast;

 private:
  static const Function& with_block(Function& function) {
    function.blocks.resize(1);
    function.blocks[0].instructions.emplace_back();
    return function;
  }
};

const Rank kTwo = Rank::exactly(2), kThree = Rank::exactly(3);

}  // namespace

TEST_CASE("operator rank: by the table's rule for the operator") {
  CHECK(Ranked("add", {{"", tensor(kTwo)}, {"", tensor(kThree)}}).rank().result() == kThree);
  CHECK(Ranked("unsqueeze", {{"", tensor(kTwo)}, {"", number(0)}}).rank().result() == kThree);
  CHECK(Ranked("select", {{"", tensor(kThree)}, {"", number(0)}, {"", number(0)}}).rank().result() == kTwo);
  const Value kept(Alternative::boolean(true));
  CHECK(Ranked("sum", {{"", tensor(kThree)}, {"dim", number(0)}}).rank().result() == kTwo);
  CHECK(Ranked("sum", {{"", tensor(kThree)}, {"dim", number(0)}, {"keepdim", kept}}).rank().result() ==
        kThree);
  CHECK(Ranked("sum", {{"", tensor(kThree)}}).rank().result() == Rank::exactly(0));
}

TEST_CASE(
    "operator rank: a call that does not throw says how many dimensions its first tensor has at least") {
  const Ranked named("softmax", {{"dim", number(2)}, {"self", tensor({})}});
  const OperatorRank rank = named.rank();
  CHECK(rank.first() == 1);
  CHECK(rank.of_first() == Rank::at_least(3));
  CHECK(Ranked("softmax", {{"", tensor({})}, {"", number(-4)}}).rank().of_first() == Rank::at_least(4));
}

TEST_CASE_METHOD(Sum, "operator results: the wider of two tensors, and that it is a promotion") {
  const std::vector<Alternative> all = outcomes(of(Dtype::kBFloat16, kTwo), of(Dtype::kFloat32, kTwo));
  REQUIRE(all.size() == 1);
  CHECK(all[0].dtype == Dtype::kFloat32);
  CHECK(!all[0].uncertain);
  const Origin* origin = origins.find(all[0].origin);
  REQUIRE(origin);
  CHECK(origin->kind == Origin::Kind::kPromotion);
  CHECK(origin->instruction == &site);
  CHECK(origin->before == Dtype::kBFloat16);
  CHECK(origins.step(all[0].trail)->op == "add");
}

TEST_CASE_METHOD(Sum,
                 "operator results: a tensor without dimensions does not promote, one that may have does") {
  const Alternative half = of(Dtype::kBFloat16, kTwo);
  const auto without = outcomes(half, of(Dtype::kFloat32, Rank::exactly(0)));
  REQUIRE(without.size() == 1);
  CHECK(without[0].dtype == Dtype::kBFloat16);
  const auto either = outcomes(half, of(Dtype::kFloat32, Rank{}));
  REQUIRE(either.size() == 2);
  CHECK((either[0].uncertain && either[1].uncertain));
  CHECK(either[0].dtype != either[1].dtype);
}

TEST_CASE_METHOD(Sum, "operator results: of what is not known nothing is") {
  const auto unknown = outcomes(of(Dtype::kBFloat16, kTwo), of(Dtype::kUndefined, kTwo));
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].dtype == Dtype::kUndefined);
  CHECK(outcomes(Alternative::of(Alternative::Kind::kNone), of(Dtype::kFloat32, kTwo)).empty());
}

}  // namespace dtype_guard::flow
