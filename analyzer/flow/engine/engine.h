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
#include "analyzer/flow/engine/followed_calls.h"
#include "analyzer/flow/engine/identities.h"
#include "analyzer/flow/engine/made_objects.h"
#include "analyzer/flow/engine/operands.h"
#include "analyzer/flow/engine/question.h"
#include "analyzer/flow/engine/speculation.h"
#include "analyzer/flow/engine/tensor_changes.h"
#include "analyzer/flow/engine/watched_values.h"
#include "analyzer/flow/operators/operator_rank.h"
#include "analyzer/flow/program/program.h"
#include "analyzer/flow/settings/analysis_options.h"
#include "analyzer/flow/settings/module_types.h"
#include "analyzer/flow/state/state.h"
#include "analyzer/flow/values/origins.h"
#include "analyzer/flow/values/ranks.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

class Engine {
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
  RankFacts proved_by(const SinkRecord& record) const;
  // The functions whose inputs the setting decides.
  static std::vector<std::uint32_t> roots(const Program& program);

  void watch(WatchedValues* watched) { watched_ = watched; }
  std::vector<SinkRecord> records() const;
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
  Value call(std::uint32_t function, std::vector<Value> arguments, State& state, ContextId context,
             const Activation* caller, bool& alive, const Instruction* site = nullptr);
  void run(Activation& activation, State entry);
  Edges execute(Activation& activation, BlockId block, State state);
  static void finish(Activation& activation, const Value& result, State state);
  std::vector<Side> sides_of_rounds(const Activation& activation, BlockId head,
                                    const std::vector<const State*>& ways, std::size_t first);
  static bool leaves_a_loop(const Activation& activation, BlockId block);
  void leave_loops(const Activation& activation, BlockId from, BlockId to, State& state);
  const Value& value(const State& state, ValueId id) const;
  const Value& argument(const State& state, const Instruction& instruction, std::size_t position) const;
  const Value* named(const State& state, const Instruction& instruction, std::string_view name) const;

  void note_watched(const Instruction& instruction, const State& state);
  // transfer.cpp: false when the path ends here.
  bool transfer(Activation& activation, const Instruction& instruction, State& state);
  Value constant(const Constant& constant);
  Value dtype_of(const Activation& activation, const Instruction& instruction, const State& state);
  Value cast(const Activation& activation, const Instruction& instruction, const State& state);
  void set_autocast(const Instruction& instruction, State& state);
  void set_default_dtype(const Instruction& instruction, State& state) const;
  Value save_state(const State& state);
  void restore_state(const Instruction& instruction, State& state) const;

  // places.cpp
  Target resolve(const Activation& activation, const State& state, const Place& place);
  void follow(const State& state, const Alternative& from, const Place::Step& step, Target& out, int depth);
  Value one_of_several(const HeapObject& list, const Value& all);
  Value read(const State& state, const Location& location);
  Value read(const State& state, const Target& target);
  void write(State& state, const Target& target, const Value& value);
  void write(State& state, const Location& location, const Value& value, bool strong);
  Value load(const Activation& activation, const Instruction& instruction, const State& state);
  Value address(const Activation& activation, const Instruction& instruction, const State& state);

  // tensors.cpp: looks through handles, references and descriptors.
  Alternatives tensors(const State& state, const Value& value, int depth = 0);
  Alternatives descriptor(const State& state, const HeapObject& object, int depth);
  std::vector<Value> elements(const State& state, const Value& value);  // else the value itself
  bool is_container(const State& state, const Value& value) const;
  bool is_list(const State& state, const Value& value);  // or the address of one

  // objects.cpp, registration.cpp
  Value allocate(const Activation& activation, const Instruction& instruction, State& state);
  Value pack(const Activation& activation, const Instruction& instruction, State& state);
  Value copy_of(const Activation& activation, const Instruction& instruction, State& state);
  Alternative cloned(const Alternative& original, ContextId context, const Instruction* site, int& sub,
                     State& state, int depth);
  void overwrite_object(const Instruction& instruction, State& state);
  Value closure(const Activation& activation, const Instruction& instruction, State& state);
  Value library_module(const Activation& activation, const Instruction& instruction, State& state);
  Value shared_tensor(HeapId id, HeapObject::Kind kind, const Value& contents, State& state,
                      bool stated = false);
  void write_into(const Activation& activation, const Instruction& instruction, const Value& target,
                  const Value& given, State& state);
  void write_elements(const Activation& activation, const Instruction& instruction, State& state);
  void havoc(State& state, const Value& value);
  Value owned_tensor(const Activation& activation, const Instruction& instruction, State& state);
  Value registration(const Activation& activation, const Instruction& instruction, State& state);
  void take_over_registered(State& state, const TensorChanges::Registered& callees, const Activation* caller);
  void take_over_changes(State& state, TensorChanges callers, const Activation& callee);
  void take_over_changes_of(State& state, const Value& own, const Value& passed, const Activation& caller);

  // dynamic_operators.cpp
  std::optional<Value> dynamic_operation(const Activation& activation, const Instruction& instruction,
                                         State& state);
  Key element_key(const Activation& activation, const Instruction& instruction, const State& state);
  Value part_of(const Activation& activation, const Instruction& instruction, State& state);
  void store_element(const Activation& activation, const Instruction& instruction, State& state);
  Value augmented(const Activation& activation, const Instruction& instruction, State& state);
  Value own_parameter(const Activation& activation, const Instruction& instruction, State& state);
  bool is_module_type(const std::string& type) const;
  std::optional<Registration::Kind> registered_as(const State& state, const Value& given) const;
  // attribute_calls.cpp
  using Attribute = FoundAttribute;
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
  const Stub* stub_at(std::uint32_t function, const Instruction* site);

  // dictionaries.cpp: nothing where the operator is not of a dictionary.
  std::optional<Value> dictionary_operation(const Activation& activation, const Instruction& instruction,
                                            State& state);
  Value one_of_dictionary(const HeapObject& dictionary);
  Value looked_up(const HeapObject& dictionary, HeapId id, const std::string& name, const Value& otherwise);

  // conversions.cpp
  struct Conversion;
  static bool lists_parts(std::string_view name);
  std::optional<std::vector<HeapId>> modules_of(const State& state, const Value& value) const;
  Value listed_parts(const Activation& activation, const Instruction& instruction, State& state);
  void write_to_one(State& state, const HeapObject& several, const Key& key, const Value& value);
  void retype(const Activation& activation, const Instruction& instruction, State& state);
  void retype_below(State& state, const Alternative& target, Conversion& how);
  Value converted_contents(const Value& contents, const Conversion& how);
  void doubt_modules(State& state);
  void doubt_plain_members(State& state, HeapId module);

  // marks.cpp
  Value shared_contents(const State& state, const Value& given) const;
  void weaken(State& state, const Value& given) const;
  static void doubt_elements(State& state, const std::vector<Value>& elements);
  void doubt_lists(const Activation& activation, State& state, ValueId condition, int depth) const;
  void discard(const Activation& activation, const Instruction& instruction, State& state);
  Value stored(const Activation& activation, const Instruction& instruction, const Value& given);
  Alternative described(const Alternative& data, Alternative seen, std::uint32_t function,
                        const Instruction* by);
  Value typed_pointer(const Activation& activation, const Instruction& instruction, State& state);
  void note_tests(const Activation& activation, State& state, ValueId condition, bool wanted, PassedTest test,
                  int depth = 0) const;
  static std::vector<PassedTest> tests_before(const Activation& activation, const State& state);

  // operators.cpp
  Operands operands(const Instruction& instruction, const Operator& op, const State& state);
  bool cannot_store(const Activation& activation, const Instruction& instruction, State& state);
  bool is_view_of_input(const Activation& activation, ValueId id, const State& state) const;
  Value outcomes(const Activation& activation, const Instruction& instruction, const Operator& op,
                 Operands given, const Rank& rank, const Value& too_many, const State& state);
  Value operation(const Activation& activation, const Instruction& instruction, State& state);
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
  RankInputs rank_inputs(const Instruction& instruction, State& state);
  Rank length(const State& state, const Value& list);
  void prove_ranks(const Operator& op, const Instruction& instruction, State& state);
  // False when it contradicts what is known.
  bool learn(State& state, const Value& tensor, const Rank& interval);
  void set_rank(State& state, const Value& tensor, const Rank& now, int depth = 0);
  void take_over_ranks(State& state, const std::vector<Value>& changed);
  bool refine_count(State& state, const Instruction& comparison, bool wanted);
  bool refine_any(const Activation& activation, State& state, const Instruction& either, int depth);
  Rank own_rank(const Activation& activation, const Instruction& instruction, Rank rank);
  Alternative dimensions_asked(std::string_view question, const Instruction& instruction, State& state);

  // questions.cpp
  SymbolSetId asked(const Activation& activation, const Instruction& instruction, const State& state);
  Question question(const Instruction& instruction, const State& state) const;
  Guard guard(const Activation& activation, const Instruction& instruction, bool taken, const State& state);
  Comparison comparison(const Instruction& condition, bool taken, const State& state);
  SymbolSetId asked_of(const Question& asked);
  SymbolSetId decided_by(const Activation& activation, const Instruction& instruction, bool taken,
                         const State& state);

  // rounds.cpp
  static bool is_repeated(const Activation& activation);
  void note_round(const Activation& activation, RankSymbol symbol);
  Value kept_in(State& state, HeapId object, const Value& value);
  void become_several(State& state, const Value& objects, int depth = 0);
  void end_round(const Activation& activation, BackEdge edge, State& state, const State& begun);

  // scalars.cpp: comparisons, logic and questions about tensors; nothing when the name is none of these.
  std::optional<Value> scalar_operation(const Activation& activation, const Instruction& instruction,
                                        State& state);
  Value compare(const Instruction& instruction, const State& state, bool equal) const;
  Value text_order(const Instruction& instruction, const State& state) const;
  Value descriptor_dtype(const Instruction& instruction, const State& state) const;
  std::optional<Value> autocast_question(const Instruction& instruction, const State& state) const;

  // bounds.cpp
  Bounds bounds(const Activation& activation, const State& state, ValueId id, int depth = 0) const;
  std::optional<bool> bounded_comparison(const Activation& activation, const State& state,
                                         const Instruction& comparison) const;

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
  Value as_input(Value value);
  bool is_input(const Value& value) const;
  bool state_by_check(const Activation& activation, State& state, ValueId condition, bool wanted,
                      int depth = 0);
  bool state_input(const Activation& activation, State& state, ValueId asked, ValueId told);

  // refine.cpp: false when the condition cannot have that truth.
  bool refine(const Activation& activation, State& state, ValueId condition, bool truth, int depth = 0);
  bool refine_comparison(const Activation& activation, State& state, const Instruction& comparison,
                         bool equal);
  bool refine_truth(const Activation& activation, State& state, const Instruction& comparison, bool equal,
                    int depth);
  bool restrict_dtypes(const Activation& activation, State& state, ValueId value,
                       const std::vector<Dtype>& dtypes, bool keep, int depth = 0);
  void doubt(const Activation& activation, State& state, ValueId condition, int depth);
  void doubt_counted(const Activation& activation, State& state, const Instruction& number);
  static bool replace_everywhere(State& state, const Value& before, const Value& after);
  bool narrow(State& state, const Value& before, const Value& after);  // the same, of an input also

  // sinks.cpp, by_hand.cpp
  Value sink(const Activation& activation, const Instruction& instruction, State& state);
  bool is_contradicted(const State& state) const;
  const std::set<std::string>& open_roles(const Api& api, const Activation& activation,
                                          const Instruction& instruction);
  SinkRecord record_of(const Api& api, const Activation& activation, const Instruction& instruction,
                       const State& state);
  void record_operator(const Activation& activation, const Instruction& instruction, const Operator& op,
                       const std::vector<Input>& inputs, ContextId at, const State& state);
  Value marked(const Activation& activation, const Instruction& instruction, const Operator& op,
               const std::vector<Input>& inputs, ContextId at, const Value& result);
  void record_leaving(const Activation& activation, const Instruction& instruction, const Value& result,
                      State& state);
  void record_handed_on(const Activation& activation, const Instruction& instruction, State& state);
  void record_rotation(SinkPlace place, const Activation& activation, const Instruction& instruction,
                       const std::vector<Value>& turned, State& state);
  void record_check(const Activation& activation, const Instruction& check, ValueId fact, bool wanted,
                    bool fails, State& state);
  Value sink_result(const SinkRecord& record, const Instruction& instruction, const State& state);
  Value result_like(const std::string& role, const SinkRecord& record, const State& state);
  Value several_results(const Activation& activation, const Instruction& instruction,
                        const SinkRecord& record, State& state);

  // roots.cpp, witnesses.cpp, objects.cpp
  void evaluate_as(const std::string& type, std::uint32_t root, const RankFacts& proved, OtherCode others);
  Value input(const Parameter& parameter, ContextId context, int position, Nature nature, State& state);
  void note_witnesses(const State& state);
  Value object_of_root(const std::string& class_name, State& state);
  MadeObject make_apart(const std::string& class_name, ContextId context, const State& begun);
  Value constructor_argument(const Function& constructor, std::size_t at, ContextId inner, State& state);
  Value make_object(const std::string& class_name, ContextId context, int position, Nature nature,
                    State& state);
  void give_fields(const std::string& class_name, HeapId id, ContextId root, Nature nature, State& state);
  SymbolSetId symbols_of_field(HeapId object, const HeapObject& is, std::int64_t id);
  void open_fields(State& state, const Value& value, std::vector<HeapId>& seen);  // settable.cpp
  bool is_made_half(const State& state, const Value& value, std::vector<HeapId>& seen) const;
  // made_half.cpp
  bool is_wholly_half(const State& state, HeapId module, Registration::Kind kind) const;
  bool is_always(const std::set<std::string>& made_half, const std::string& class_name) const;
  bool buffers_are_made_half(const std::string& class_name);
  void note_halves(const State& state, const std::vector<Value>& arguments,
                   const std::vector<HeapId>& handed);
  const ClassesMadeHalf& classes_made_half();
  bool contradicts_autocast(const State& state, const std::vector<Value>& arguments);
  // other_methods.cpp, setters.cpp
  std::vector<HeapId> objects_below(const State& state, const std::vector<Value>& values) const;
  std::optional<State> after_method(std::uint32_t method, HeapId object, const State& begun, ContextId root);
  Alternatives held_tensors(const State& state, const Value& value);
  void doubt(State& state, HeapId object, const Key& key);
  void doubt_reassigned(State& state, const std::vector<Value>& arguments, std::uint32_t root,
                        ContextId context);
  Value set_by(const std::vector<std::uint32_t>& setters, HeapId object, const Key& key, const State& begun,
               ContextId root);
  void give_what_setters_do(State& state, const std::vector<Value>& arguments, std::uint32_t root,
                            ContextId context);
  void apply_setting(State& state, const Value& value, std::vector<HeapId>& seen, bool norms);

  const Program& program_;
  const FunctionIndex& index_;
  const AnalysisOptions& options_;
  const PrecisionSetting& setting_;
  const std::string& torch_version_;
  Work& work_;  // shared with other engines
  WatchedValues* watched_ = nullptr;
  Origins origins_;
  SymbolSets symbols_;
  Identities ids_{symbols_};
  TensorChanges changes_;  // of the running activation
  // By activation: the symbols of what is made anew in each round of its loops, with its block there.
  std::map<ContextId, std::set<std::pair<RankSymbol, BlockId>>> of_rounds_;
  std::unordered_set<RankSymbol> made_in_rounds_;  // all of these
  // Values that are one of a list's, with what stands in it; by address.
  std::unordered_map<const void*, std::pair<Value, std::vector<Value>>> elements_;
  std::vector<std::pair<AutocastState, Dtype>> snapshots_;
  static constexpr int kOperatorMark = 1;
  Effects effects_;
  MadeObjects made_;
  FollowedCalls calls_;
  std::map<const Instruction*, std::set<std::string>> open_roles_;  // of calls that have a contract
  std::map<const Instruction*, Instruction> renamed_;               // what `x += y` is where x is no tensor
  std::map<std::pair<const Instruction*, std::uint32_t>, std::shared_ptr<Stub>> stubs_;
  bool is_closed_ = false, notes_halves_ = false;  // of the root: it is a whole program; halves are noted
  std::set<HeapId> converted_as_assumed_;  // tensors whose last conversion was to a dtype of the setting
  std::map<Registration::Kind, Halves> halves_;  // classes of the objects that the last root left so
  std::set<std::uint32_t> has_run_;              // where it notes halves
  std::uint32_t unit_ = 0;                       // the source file of the root
};

}  // namespace dtype_guard::flow
