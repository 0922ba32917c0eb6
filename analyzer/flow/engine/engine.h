// The abstract interpreter. It evaluates one root function under one precision setting: blocks of a function
// in reverse postorder until their states stop changing, calls by evaluating the callee in the caller's state
// (so a callee is seen once per call path), recursion for three rounds. Operators get their dtypes from
// rules/operators; every call that has a contract leaves a SinkRecord, on which the rule queries work.
// Members are grouped by the file that implements them, in reading order.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/activation.h"
#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/casts.h"
#include "analyzer/flow/engine/conditions.h"
#include "analyzer/flow/engine/conversions.h"
#include "analyzer/flow/engine/dtype_state.h"
#include "analyzer/flow/engine/dynamic_operators.h"
#include "analyzer/flow/engine/escaping.h"
#include "analyzer/flow/engine/evaluator.h"
#include "analyzer/flow/engine/followed_calls.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/engine/inputs.h"
#include "analyzer/flow/engine/library_forward.h"
#include "analyzer/flow/engine/made_half.h"
#include "analyzer/flow/engine/made_objects.h"
#include "analyzer/flow/engine/marks.h"
#include "analyzer/flow/engine/memory.h"
#include "analyzer/flow/engine/objects.h"
#include "analyzer/flow/engine/operands.h"
#include "analyzer/flow/engine/operators.h"
#include "analyzer/flow/engine/other_methods.h"
#include "analyzer/flow/engine/passed_tests.h"
#include "analyzer/flow/engine/questions.h"
#include "analyzer/flow/engine/ranks.h"
#include "analyzer/flow/engine/registration.h"
#include "analyzer/flow/engine/rounds.h"
#include "analyzer/flow/engine/scalars.h"
#include "analyzer/flow/engine/sinks.h"
#include "analyzer/flow/engine/speculation.h"
#include "analyzer/flow/engine/stubs.h"
#include "analyzer/flow/engine/subject.h"
#include "analyzer/flow/engine/tensor_changes.h"
#include "analyzer/flow/operators/operator_rank.h"
#include "analyzer/flow/program/program.h"
#include "analyzer/flow/settings/analysis_options.h"
#include "analyzer/flow/settings/module_types.h"
#include "analyzer/flow/state/state.h"
#include "analyzer/flow/values/origins.h"
#include "analyzer/flow/values/ranks.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

class Engine final : public Evaluator {
 public:
  Engine(const Program& program, const AnalysisOptions& options, const PrecisionSetting& setting,
         const std::string& torch_version, Work& work);

  // roots.cpp
  // What other code may have done to the root's objects: costly to look at, and it only takes findings away.
  enum class OtherCode : std::uint8_t { kLookedAt, kTrusted };
  // Evaluates the function with inputs from the setting. Throws BudgetExceeded, and then keeps no records of
  // it. `proved` is taken for granted of ranks.
  void evaluate_root(std::uint32_t function, const RankFacts& proved = {},
                     OtherCode others = OtherCode::kLookedAt);
  std::size_t count_of_objects() const { return ids_.count_of_objects(); }
  MadeObjects& objects() { return made_; }
  const MadeObjects& objects() const { return made_; }
  std::size_t find_witnesses(std::uint32_t root);  // witnesses.cpp: how many that the program itself makes
  bool tells_half_types_apart() const { return effects_.tells_half_types_apart; }
  // What a call proves of ranks that are the same in all of the root, unless it throws.
  RankFacts proved_by(const SinkRecord& record) const { return ranks_.proved_by(record); }

  // Where the parts re-enter it.
  Value call(std::uint32_t function, std::vector<Value> arguments, State& state, ContextId context,
             const Activation* caller, bool& alive, const Instruction* site = nullptr) override;
  Value operation(const Activation& activation, const Instruction& instruction, State& state) override;
  HalvesOfRoot halves_of(std::uint32_t root) override;

  std::vector<SinkRecord> records() const { return sinks_.records(); }
  const FollowedCalls& calls() const { return calls_; }
  const Origins& origins() const { return origins_; }
  bool converted_to_half() const { return effects_.converted_to_half; }  // the code did that to a module
  std::size_t steps() const { return effects_.steps + made_.steps; }     // of the last root and its objects
  SymbolSets& symbols() { return symbols_; }
  const FunctionIndex& index() const { return index_; }
  const std::string& device() const { return options_.device; }

 private:
  using Edges = std::vector<std::pair<std::size_t, State>>;  // target slot and state
  using Alternatives = std::vector<Alternative>;

  // engine.cpp
  void run(Activation& activation, State entry);
  Edges execute(Activation& activation, BlockId block, State state);
  static void finish(Activation& activation, const Value& result, State state);

  // transfer.cpp: false when the path ends here.
  bool transfer(Activation& activation, const Instruction& instruction, State& state);

  // places.cpp

  // tensors.cpp: looks through handles, references and descriptors.

  // objects.cpp, registration.cpp

  // dynamic_operators.cpp
  std::optional<Value> dynamic_operation(const Activation& activation, const Instruction& instruction,
                                         State& state);
  Key element_key(const Activation& activation, const Instruction& instruction, const State& state);
  Value part_of(const Activation& activation, const Instruction& instruction, State& state);
  void store_element(const Activation& activation, const Instruction& instruction, State& state);
  Value augmented(const Activation& activation, const Instruction& instruction, State& state);
  Value own_parameter(const Activation& activation, const Instruction& instruction, State& state);
  // attribute_calls.cpp
  struct Attribute {
    std::vector<std::uint32_t> callees;
    Value given;
    bool unknown = false;
  };
  Attribute attribute(const Activation& activation, const Instruction& instruction, State& state);
  std::optional<Value> library_module_call(const Activation& activation, const Instruction& instruction,
                                           const Alternative& module, State& state);
  // bound_arguments.cpp
  struct Spread;
  Spread spread(const Instruction& instruction, const std::vector<Value>& handed, const State& state);
  std::vector<Value> bound(const Function& callee, const Instruction& instruction, ContextId context,
                           std::vector<Value> handed, State& state);
  Value rest_of(const Parameter& parameter, ContextId context, const Spread& handed, State& state);
  // stubs.cpp

  // dictionaries.cpp: nothing where the operator is not of a dictionary.
  std::optional<Value> dictionary_operation(const Activation& activation, const Instruction& instruction,
                                            State& state);
  Value one_of_dictionary(const HeapObject& dictionary);
  Value looked_up(const HeapObject& dictionary, HeapId id, const std::string& name, const Value& otherwise);

  // conversions.cpp

  // marks.cpp

  // operators.cpp
  Operands operands(const Instruction& instruction, const Operator& op, const State& state);
  bool cannot_store(const Activation& activation, const Instruction& instruction, State& state);
  bool is_view_of_input(const Activation& activation, ValueId id, const State& state) const;
  Value outcomes(const Activation& activation, const Instruction& instruction, const Operator& op,
                 Operands given, const Rank& rank, const Value& too_many, const State& state);
  Value apply(const Activation& activation, const Instruction& instruction, const Operator& op,
              Operands given, State& state);
  Value apply_at(const Rank& rank, const Activation& activation, const Instruction& instruction,
                 const Operator& op, Operands given, const State& state);
  Value wrap_list(const Activation& activation, const Instruction& instruction, const Value& element,
                  State& state);

  // library_forward.cpp: nothing where the module is not known.
  std::optional<Value> library_forward(const Activation& activation, const Instruction& instruction,
                                       State& state);
  std::optional<Value> forward_through(const Activation& activation, const Instruction& instruction,
                                       const Value& module, const Value& input, ContextId inner, State& state,
                                       int depth);
  std::optional<Value> forward_through_any(const Activation& activation, const Instruction& instruction,
                                           const Value& modules, const Value& input, ContextId inner,
                                           State& state, int depth);
  Value module_forward(const Activation& activation, const Instruction& instruction, const ModuleType& type,
                       const std::vector<Value>& given, ContextId at, State& state);
  Value module_results(const Activation& activation, const Instruction& instruction, const ModuleType& type,
                       const ModuleType::Result& wanted, const std::vector<Value>& given, int& packs,
                       ContextId at, State& state);
  Value module_result(const Activation& activation, const Instruction& instruction, const ModuleType& type,
                      int number, const std::vector<Value>& given, ContextId at, State& state);
  std::vector<Input> module_inputs(const Instruction& instruction, std::string_view source,
                                   const std::vector<Value>& given, const State& state);
  Alternatives module_parameter(const ModuleType& type, const std::string& name,
                                const std::vector<Value>& given, const State& state);

  // proved_ranks.cpp
  // False when it contradicts what is known.

  // questions.cpp

  // rounds.cpp

  // scalars.cpp: comparisons, logic and questions about tensors; nothing when the name is none of these.
  std::optional<Value> scalar_operation(const Activation& activation, const Instruction& instruction,
                                        State& state);
  std::optional<Value> autocast_question(const Instruction& instruction, const State& state) const;

  // bounds.cpp

  // calls.cpp
  std::vector<std::uint32_t> dispatch(const Instruction& instruction, const VirtualCall& call,
                                      const State& state) const;
  bool call_instruction(Activation& activation, const Instruction& instruction, State& state);
  bool give_from_setting(const Function& callee, ContextId context, std::vector<Value>& arguments,
                         State& state);
  Value as_if_unknown(const Value& result) const;
  Value unknown_call(const Activation& activation, const Instruction& instruction, State& state);
  // escaping.cpp
  void escape(const Activation& activation, const Instruction& instruction, const Value& value, Escape how,
              State& state);
  std::optional<State> after_escape(const Activation& activation, const Instruction& instruction,
                                    const Alternative& closure, Escape how, const State& state);
  void lose(const Activation& activation, const Instruction& instruction, const Value& value, State& state);
  bool may_be_handed_inputs(const Activation& activation, const Instruction& instruction,
                            const Function& lambda, Escape how, const State& state);
  // overrides.cpp
  Value given_by_all_overrides(const Activation& activation, const Instruction& instruction,
                               const VirtualCall& call, const State& state);

  // stated_inputs.cpp: true when the condition has that truth once inputs are what it says they are.

  // refine.cpp: false when the condition cannot have that truth.

  // sinks.cpp, by_hand.cpp

  // roots.cpp, witnesses.cpp, objects.cpp
  void evaluate_as(const std::string& type, std::uint32_t root, const RankFacts& proved, OtherCode others);
  void note_witnesses(const State& state);
  // made_half.cpp
  // other_methods.cpp, setters.cpp

  Subject subject_;
  const Program& program_ = subject_.program;
  const FunctionIndex& index_ = subject_.index;
  const AnalysisOptions& options_ = subject_.options;
  const PrecisionSetting& setting_ = subject_.setting;
  const std::string& torch_version_ = subject_.torch_version;
  Work& work_;  // shared with other engines
  Names names_;
  Origins& origins_ = names_.origins;
  SymbolSets& symbols_ = names_.symbols;
  Identities& ids_ = names_.ids;
  RunningRoot root_;
  Effects effects_;
  MadeObjects made_;
  Stubs stubs_{index_};
  DtypeState dtypes_{options_.device, effects_};
  Questions questions_{names_};
  Rounds rounds_{names_};
  Memory memory_{program_, names_, questions_, rounds_};
  Objects objects_{index_, names_, made_, questions_, rounds_, memory_};
  Conversions conversions_{program_, root_, names_, effects_, memory_};
  Registrations registrations_{index_, root_, names_, memory_};
  Ranks ranks_{names_, made_, rounds_, memory_};
  Conditions conditions_{program_, effects_, memory_};
  Sinks sinks_{subject_, names_, effects_, questions_, rounds_, memory_};
  Marks marks_{names_, memory_};
  Casts casts_{names_, memory_};
  MadeHalf made_half_{subject_, work_, names_, effects_, conversions_, *this};
  Inputs inputs_{subject_, root_, names_, effects_, made_, memory_, made_half_, *this};
  OtherMethods others_{program_, names_, effects_, memory_, inputs_, *this};
  Escapes escapes_{subject_, root_, names_, effects_, made_, questions_, memory_, sinks_, inputs_, *this};
  Operators operators_{subject_, names_, effects_, rounds_, memory_, ranks_};
  Scalars scalars_{options_.device, names_, effects_, questions_, memory_, ranks_};
  Dictionaries dictionaries_{names_, questions_};
  DynamicOperators dynamic_{names_, memory_, ranks_, dictionaries_, conversions_, registrations_, *this};
  LibraryModules modules_{subject_, root_, names_, questions_, rounds_, memory_, sinks_, operators_, *this};
  FollowedCalls calls_;
};

}  // namespace dtype_guard::flow
