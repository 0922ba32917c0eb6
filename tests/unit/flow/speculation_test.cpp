// What a speculation takes back and what it leaves, and the records of calls that it is mostly about.
#include "analyzer/flow/engine/speculation.h"

#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

SinkRecord at(const Instruction& instruction, std::uint32_t function, ContextId context = 1) {
  SinkRecord out;
  out.function = function;
  out.instruction = &instruction;
  out.context = context;
  return out;
}

// What a record's result is marked with: nothing, or one mark for all.
constexpr SymbolSets::Symbol kMark = 3;
std::optional<SymbolSets::Symbol> unmarked(const SinkRecord&) { return std::nullopt; }
std::optional<SymbolSets::Symbol> marked(const SinkRecord&) { return kMark; }

// Effects in which every member says `before`, changed in all of them.
struct Run {
  Run() {
    effects.sinks().add(at(instruction, 1));
    (void)effects.as_input(Value::none());
    for (int i = 0; i < 7; ++i) effects.count_step();
  }
  void change() {
    effects.sinks().add(at(instruction, 2));
    (void)effects.as_input(Value::unknown());
    effects.note_conversion_to_half();
    effects.count_step();
  }
  bool sinks_are_back() const { return effects.sinks().all(SymbolSets(), unmarked).front().function == 1; }
  bool inputs_are_back() const { return effects.inputs().size() == 1; }
  bool conversion_is_back() const { return !effects.converted_to_half(); }
  bool steps_are_back() const { return effects.steps() == 7; }

  Instruction instruction;
  Effects effects;
};

}  // namespace

TEST_CASE("each kind of speculation takes back what its row says") {
  for (const RolledBack& kind : {kOtherMethod, kOneOverride, kAnotherRun, kGivenUp}) {
    Run run;
    {
      const Speculation speculation(run.effects, kind);
      run.change();
    }
    CHECK(run.sinks_are_back() == kind.sinks);
    CHECK(run.inputs_are_back() == kind.inputs);
    CHECK(run.conversion_is_back() == kind.converted_to_half);
    CHECK(run.steps_are_back() == kind.steps);
  }
}

TEST_CASE("a run apart begins without effects and leaves none, in what names belong to one run neither") {
  Run run;
  Names names;
  const HeapId mine = names.ids.object(1, &run), of_it = names.ids.object(2, &run);
  names.ids.note_several(mine);
  const Origins::Run before = names.origins.run();
  {
    const RunApart apart(run.effects, names);
    CHECK(run.effects.inputs().empty());
    CHECK(run.effects.steps() == 0);
    CHECK_FALSE(names.ids.stands_for_several(mine));
    CHECK(names.origins.run() != before);
    run.change();
    names.ids.note_several(of_it);
  }
  CHECK((run.sinks_are_back() && run.inputs_are_back() && run.conversion_is_back() && run.steps_are_back()));
  CHECK(names.ids.stands_for_several(mine));
  CHECK_FALSE(names.ids.stands_for_several(of_it));
  CHECK(names.origins.run() == before);
}

TEST_CASE("what is kept stays, and what throws is taken back") {
  Run kept;
  {
    Speculation speculation(kept.effects, kGivenUp);
    kept.change();
    speculation.keep();
  }
  CHECK(!kept.sinks_are_back());
  Run thrown;
  try {
    Speculation speculation(thrown.effects, kGivenUp);
    thrown.change();
    throw 1;
  } catch (int) {
  }
  CHECK(thrown.sinks_are_back());
  CHECK(!thrown.steps_are_back());
}

TEST_CASE("one speculation in another takes back its own") {
  Run run;
  const Speculation outer(run.effects, kAnotherRun);
  {
    const Speculation inner(run.effects, kOneOverride);
    run.change();
  }
  CHECK(run.sinks_are_back());
  CHECK(run.conversion_is_back());
  CHECK(!run.steps_are_back());
}

TEST_CASE("a call has one record in a context, the last, and records stand in the order of the source") {
  Instruction first, second;
  first.range.line = 2;
  second.range.line = 5;
  SinkRecords records;
  records.add(at(second, 1));
  records.add(at(first, 1));
  records.add(at(first, 1, 2));
  SinkRecord again = at(second, 1);
  again.others_are_guessed = true;
  records.add(again);
  const std::vector<SinkRecord> all = records.all(SymbolSets(), unmarked);
  REQUIRE(all.size() == 3);
  CHECK(all[0].instruction == &first);
  CHECK(all[0].context == 1);
  CHECK(all[1].context == 2);
  CHECK(all[2].instruction == &second);
  CHECK(all[2].others_are_guessed);
}

TEST_CASE("another product is listed where it begins attention, and once") {
  Instruction first, second;
  first.range.line = 3;
  second.range.line = 5;
  SymbolSets symbols;
  SinkRecords records;
  records.add_other_product(at(first, 1));
  records.add_other_product(at(second, 1));
  records.add(at(second, 1));
  CHECK(records.all(symbols, marked).size() == 1);
  records.note_attention(symbols.of(kMark + 1), symbols);
  CHECK(records.all(symbols, marked).size() == 1);
  records.note_attention(symbols.of(kMark), symbols);
  CHECK(records.all(symbols, marked).size() == 2);
  CHECK(records.all(symbols, unmarked).size() == 1);
}

TEST_CASE("a store that a call does not see is listed apart, where there is a call") {
  Instruction store, call;
  call.range.line = 5;
  SymbolSets symbols;
  SinkRecords records;
  SinkRecord stored = at(store, 1);
  stored.place = SinkPlace::kStore;
  records.add_store(stored);
  SinkRecord attention = at(call, 1);
  Alternative cache;
  cache.products = symbols.of(kMark);
  attention.operands.push_back({});
  attention.operands.back().alternatives = {cache};
  records.add(attention);
  const auto place_of_store = [&](const SinkRecords::MarkOf& mark) {
    const std::vector<SinkRecord> all = records.all(symbols, mark);
    return all.size() == 2 ? std::optional(all[0].place) : std::nullopt;
  };
  CHECK(place_of_store(marked) == SinkPlace::kStore);
  CHECK(place_of_store(unmarked) == SinkPlace::kOtherStore);
  SinkRecords alone;
  alone.add_store(at(store, 1));
  CHECK(alone.all(symbols, marked).empty());
}

TEST_CASE("a record is forgotten where it holds no longer") {
  Instruction check;
  SinkRecords records;
  records.add(at(check, 1));
  records.forget(2, check);
  CHECK(records.all(SymbolSets(), unmarked).size() == 1);
  records.forget(1, check);
  CHECK(records.all(SymbolSets(), unmarked).empty());
}

}  // namespace dtype_guard::flow
