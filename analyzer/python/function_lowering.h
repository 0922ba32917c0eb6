// FunctionLowering turns one function's syntax tree into dtype-flow IR by a structured walk. Its members are
// grouped by what they lower, one source file each. Anything it does not know becomes an unknown value or
// operator, never a guess.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/ir/builder.h"
#include "analyzer/python/file_unit.h"
#include "rules/operators/operators.h"

namespace dtype_guard::python {

class FunctionLowering {
 public:
  FunctionLowering(FileUnit& unit, const FunctionDefinition& definition, FunctionLowering* outer = nullptr);
  flow::Function run();
  // Of a module's code: what its variables are, to be asked before anything of the file is lowered.
  void find_module_names();
  // What a class gives its objects: nothing where it holds nothing of that kind.
  std::optional<flow::Function> run_class_attributes(const ClassDefinition& of);
  // Of a method that decorators of the file make: what run() gives is what they are handed (undecorated_key).
  flow::Function run_decorated();
  // Of a context manager that a generator makes: what is done up to its yield (entered_key).
  flow::Function run_entered();
  // Then what run() gave is no account of the function.
  bool too_large() const { return work_ > kMaxWork; }

 private:
  using ValueId = flow::ValueId;
  using Arguments = std::vector<flow::Argument>;
  using Builder = flow::Builder;
  // An argument of a call as it is written: of "*a" and "**k" the stars are the name.
  struct Given {
    std::string name;
    Node node;
  };
  struct Loop {
    flow::BlockId next = 0, after = 0;
    std::size_t contexts = 0;  // that are open outside of it
  };

  // functions (function_lowering.cpp)
  void head();
  void parameters();
  void body(const Node& block);
  bool knows(const std::string& name) const;
  bool is_handed(const std::string& name);
  Arguments captures(const FunctionLowering& inner);
  flow::Place variable(const std::string& name);
  ValueId load(const std::string& name);
  void store(const std::string& name, ValueId value);
  // The names are bound within, and mean behind it what they meant before.
  void in_own_scope(const std::vector<std::string>& names, const std::function<void()>& within);
  void find_locals(const Node& block, int depth = 0);
  void note_import(const std::string& name, const std::string& what);
  void find_imported_variables();
  void add_captures(const Node& pattern);
  Builder::Position position(const Node& node) const;

  // a module's code, and its variables (lower_module.cpp)
  bool is_module_code() const;
  flow::Function run_module_code();
  flow::Place global_place(const std::string& name);
  ValueId seen_global(std::string_view name, const SourceFile* file, ValueId otherwise);
  void define_in_module(const Node& node);

  // statements (lower_statements.cpp)
  void statement(const Node& node);
  void block(const Node& node);
  void assignment(const Node& node);
  void assign(const Node& target, ValueId value);
  void assign_field(const Node& of, const std::string& field, ValueId value);
  void store_element(const Node& target, ValueId given, const Node& whole);
  void assign_elements(const std::vector<Node>& targets, ValueId value, const Node& source);
  void assign_each(const std::vector<Node>& targets, const Node& source,
                   const std::function<ValueId(std::int64_t)>& at, std::optional<ValueId> whole = {});
  std::optional<std::vector<ValueId>> in_turn(const std::vector<Node>& sources,
                                              const std::vector<Node>& targets);
  Node tensor_of_sizes(const Node& node) const;
  void augmented(const Node& node);
  void return_statement(const Node& node);
  void assert_statement(const Node& node);
  void nested_function(const Node& node);
  void expression_statement(const Node& node);
  void import_statement(const Node& node);

  // control flow (lower_control.cpp)
  void if_statement(const Node& node);
  void for_statement(const Node& node);
  void while_statement(const Node& node);
  void try_statement(const Node& node);
  void leave_loop(bool again);
  ValueId any_of(ValueId list);
  ValueId counted_number();
  ValueId list_of(ValueId element);
  std::vector<ValueId> values_of(const std::vector<Given>& arguments);
  ValueId element_in_turn(std::string_view name, const std::vector<Given>& arguments,
                          const std::vector<ValueId>& lists);
  void loop_over(const Node& target, const Node& iterable, const std::function<void()>& body);
  // The elements of a display, or of what enumerate, zip and range give of such, where there are few.
  std::optional<std::vector<Node>> displayed(const Node& iterable) const;
  // What a loop over such gives in each round; nothing where these are not few that stand there.
  std::optional<std::vector<std::vector<Node>>> rounds(const Node& iterable) const;

  // match (lower_match.cpp)
  void match_statement(const Node& node);
  ValueId matches(const Node& pattern, ValueId subject, int depth);
  void bind_pattern(const Node& pattern, ValueId subject, int depth);
  void bind_sequence(const std::vector<Node>& patterns, ValueId subject, int depth);
  void bind_class(const Node& pattern, ValueId subject, int depth);

  // contexts (lower_contexts.cpp)
  void with_statement(const Node& node);
  // Whether it was an autocast context, which is entered then; the state before it is kept.
  bool enter_context(const Node& manager);
  bool enter_decorators();
  void leave_contexts(std::size_t to_depth);
  std::optional<flow::ValueId> enter_generator(const Node& manager);
  bool enter_unknown(const FunctionDefinition& decorator);
  void enter_other(const Node& manager);
  bool may_change_dtypes(const Node& manager, int depth = 0) const;
  bool may_be_autocast(const Node& manager, int depth = 0) const;
  void enter_perhaps();
  std::vector<Node> sources_of(const Node& name) const;
  std::optional<ValueId> entered_by_hand(const Node& function, const std::vector<Given>& arguments);
  void autocast(const std::string& name, const std::vector<Given>& all);

  // expressions (lower_expressions.cpp)
  ValueId value(const Node& node);
  ValueId value_of(const Node& node);
  ValueId name_value(const Node& node);
  ValueId attribute(const Node& node);
  // A field that is used or annotated as a number, where nothing else is known of it.
  ValueId number_parameter(const flow::Parameter& parameter, ValueId given);
  ValueId as_number(const Node& node, ValueId field);
  ValueId operand(const Node& node);
  ValueId subscript(const Node& node);
  ValueId binary(const Node& node);
  ValueId comparison(const Node& node);
  ValueId boolean(const Node& node);
  std::optional<ValueId> pairs_equal(const Node& left, const Node& right);
  // As a condition, of which only the truth counts.
  ValueId test(const Node& node);
  ValueId test_of(const Node& node);
  ValueId negation(const Node& node);
  ValueId conditional(const Node& node);
  ValueId display(const Node& node);
  ValueId repeated(const Node& list, const Node& times);
  ValueId comprehension(const Node& node);
  ValueId comprehended_list(const Node& node);
  ValueId lambda(const Node& node);
  ValueId text(const Node& node);
  ValueId dtype_constant(Dtype dtype) { return builder_.constant(dtype); }
  std::optional<std::string> literal(const Node& node) const;
  ValueId element(ValueId of, std::int64_t index);
  ValueId slice(ValueId of, std::int64_t start, std::int64_t stop);
  void add_bounds(const Node& node, Arguments& arguments);
  // Whether an index of a store, a mask or several positions, is certainly no single one.
  bool names_places(const Node& index, int depth = 0) const;
  // A key that is not constant, by the name that stands for it and is given one thing only. Its value.
  ValueId add_key(const Node& key, Arguments& arguments);
  ValueId entity_value(const Entity& entity);
  ValueId is_installed(const std::string& package);

  // dictionaries (lower_dictionaries.cpp)
  ValueId dictionary(const Node& node);
  ValueId dictionary_comprehension(const Node& node);
  bool comprehended(const Node& node, const std::function<void(const std::string&, const Node&)>& add);
  bool zipped_with_names(const Node& call, flow::ValueId made);
  ValueId made_dictionary(const std::vector<Given>& arguments);
  std::optional<ValueId> updated(const std::string& method, ValueId dictionary,
                                 const std::vector<Given>& arguments);
  std::optional<ValueId> looked_up(const std::string& method, ValueId dictionary,
                                   const std::vector<Given>& arguments);
  ValueId either(ValueId is_first, ValueId first, ValueId otherwise);
  std::optional<ValueId> entry_of_library_table(const Node& table);
  std::optional<ValueId> interface_of_library_table(const Node& function,
                                                    const std::vector<Given>& arguments);

  // functions as values (lower_stubs.cpp)
  ValueId closure_of(flow::Function stub, Arguments captures);
  std::optional<ValueId> library_function(const std::string& name);
  std::optional<ValueId> function_value(const Entity& entity);
  ValueId callable(const Node& node);
  std::optional<ValueId> bound_method(const std::string& name);
  ValueId partial(const std::vector<Given>& arguments);
  const FunctionDefinition* autograd_forward(const Node& object) const;
  ValueId applied(const FunctionDefinition& forward, const std::vector<Given>& arguments);
  ValueId apply_value(const FunctionDefinition& forward);

  // functions that run functions (lower_higher_order.cpp)
  std::optional<ValueId> higher_order(const std::string& name, const std::vector<Given>& arguments);
  std::optional<ValueId> reduced(const std::vector<Given>& arguments);
  std::optional<ValueId> checkpointed(const std::string& name, const std::vector<Given>& arguments);
  void put_registered_in(ValueId table, const Entity& entity);
  void fill_registry(const Node& name, ValueId table);
  ValueId global_value(const Entity& entity);
  // What is made of each thing that a global may be, by one question for each of them.
  ValueId chosen(const Entity& entity, const std::function<ValueId(const Entity&)>& make);
  bool makes_function(const Node& call, const SourceFile& file) const;
  // What a call gives that was made when the module was: whatever autocast does where it is used.
  ValueId settled(const Node& written);
  bool is_settled(const Node& written, const SourceFile& file, int depth = 0) const;

  // defaults and decorators (lower_defaults.cpp)
  std::optional<ValueId> default_function(const Node& written, const SourceFile& file);
  void add_defaults(const FunctionDefinition& callee, const std::vector<Given>& arguments, Arguments& handed);
  ValueId wrapped(const FunctionDefinition& function);
  std::string function_of_method(const FunctionDefinition& method);

  // attributes of classes (class_attributes.cpp)
  std::optional<ValueId> class_value(const Node& written, const SourceFile& file);
  std::optional<ValueId> class_attribute(const Node& node);
  bool may_name_class(const Node& object) const;
  Arguments held_by_class(const ClassDefinition& of);
  void take_class_attributes(const ClassDefinition& of, ValueId object);

  // generators (lower_generators.cpp)
  void begin_generator();
  ValueId yield(const Node& node);
  ValueId yielded() { return builder_.load(yields_); }

  // names (resolve.cpp)
  Entity resolve(const Node& node, int depth = 0) const;
  // A parameter that torch.nn may be handed for: itself, or `ops = ops or nn` before.
  bool stands_for_layers(const std::string& name);
  const ClassDefinition* own_class() const { return definition_.owner; }
  bool is_self(const Node& node) const;
  bool is_own_class(const std::string& name) const;

  // names that code puts together (lower_names.cpp)
  std::optional<std::string> known_text(const Node& written) const;
  std::optional<std::string> field_named(const Node& written) const;
  void in_round(const Node& target, const std::pair<std::string, bool>& element,
                const std::function<void()>& body);
  std::pair<std::string, bool> written_out(const Node& element) const;
  std::optional<ValueId> set_by_name(const std::vector<Given>& arguments);

  // containers (lower_containers.cpp)
  void put_in(ValueId container, ValueId given, bool several = false);
  void put_all_in(ValueId container, const Node& list);
  void add_module(ValueId container, const std::vector<Given>& arguments);
  std::optional<ValueId> container_method(const std::string& name, ValueId container,
                                          const std::vector<Given>& arguments);
  std::optional<ValueId> of_iterable(const std::string& name, const std::vector<Given>& arguments);
  ValueId parameters_of(const Node& iterable);
  ValueId attribute_by_name(ValueId object, const std::string& name, const Node& otherwise);
  std::vector<std::string> tuple_fields(const Entity& entity) const;
  std::optional<ValueId> named_tuple(const Entity& entity, const std::vector<Given>& arguments);

  // calls (lower_calls.cpp)
  ValueId call(const Node& node);
  ValueId run(const Node& function, const std::vector<Given>& arguments);
  static std::vector<Given> given(const Node& call);
  ValueId call_entity(const Entity& callee, const Node& function, const std::vector<Given>& arguments);
  ValueId call_function(const FunctionDefinition& callee, std::optional<ValueId> object,
                        const std::vector<Given>& arguments);
  ValueId made_by_unseen_base(const ClassDefinition& callee, Arguments handed);
  ValueId instantiate(const ClassDefinition& callee, const std::vector<Given>& arguments);
  ValueId sink(const Api& api, const std::vector<Given>& arguments);
  void recast(const Api& api, flow::ValueId target, Arguments& operands);
  ValueId call_method(const Node& node, const std::vector<Given>& arguments);
  ValueId call_value(ValueId callee, const std::vector<Given>& arguments);
  ValueId unknown_call(const std::string& name, std::optional<ValueId> object,
                       const std::vector<Given>& arguments);
  Arguments values(const std::vector<Given>& arguments);
  std::optional<ValueId> asked_of_dtypes(const std::string& name, const std::vector<Given>& arguments);
  std::string kind_asked(const std::string& test, const std::vector<Given>& arguments) const;
  const ClassDefinition* class_asked(const std::string& test, const std::vector<Given>& arguments) const;
  std::optional<ValueId> builtin(const std::string& name, const std::vector<Given>& arguments);
  std::optional<ValueId> mapped(const std::vector<Given>& arguments);
  ValueId mapped_over(const Node& function, ValueId list);
  ValueId apply(const Node& function, const std::vector<ValueId>& arguments);
  std::optional<ValueId> super_call(const Node& function, const std::vector<Given>& arguments);
  std::optional<ValueId> method_of_class(const Node& function, const std::vector<Given>& arguments);

  // PyTorch (lower_torch.cpp)
  std::optional<ValueId> library_call(const std::string& name, const std::vector<Given>& arguments);
  std::optional<ValueId> special_function(const std::string& name, const std::vector<Given>& arguments);
  std::optional<std::vector<Node>> parts_in_order(const Node& dictionary) const;
  std::optional<ValueId> library_module(const std::string& name, const std::vector<Given>& arguments);
  std::optional<ValueId> tensors_in_a_row(const Operator& entry, std::vector<Given>& arguments);
  std::optional<std::string> equation(const Node& node) const;
  void state_dimensions(const std::vector<Given>& arguments, Arguments& handed);
  ValueId torch_operator(const Operator& entry, std::string name, std::optional<ValueId> object,
                         const std::vector<Given>& arguments);
  ValueId call_attribute(const std::string& name, ValueId object, const std::vector<Given>& arguments);
  ValueId method_of_either(const std::string& name, ValueId object, const std::vector<Given>& arguments);
  ValueId method_of_container(const Node& written, const std::string& name, ValueId object,
                              const std::vector<Given>& arguments);
  std::optional<ValueId> tensor_method(const std::string& name, ValueId object,
                                       const std::vector<Given>& arguments);
  ValueId registered_in(ValueId container, const std::string& name, ValueId held, bool parameters);
  std::optional<ValueId> module_dictionary(const std::vector<Given>& arguments, bool parameters);
  ValueId conversion(ValueId object, const std::vector<Given>& arguments);
  bool names_device(const Node& node) const;
  ValueId sizes(const std::vector<Given>& arguments);
  ValueId rearranged_each(const Node& tensors);
  std::optional<ValueId> einops(const std::string& name, const std::vector<Given>& arguments);

  // other libraries, and what PyTorch has by another name (lower_libraries.cpp)
  std::optional<ValueId> other_library(const std::string& name, const std::vector<Given>& arguments);
  ValueId limits_of(const std::string& name, const std::vector<Given>& arguments);
  std::optional<ValueId> einops_reduce(const std::vector<Given>& arguments);
  bool assign_buffer(const Node& target, const Node& source);
  std::optional<ValueId> named_result(const Node& node);

  FileUnit& unit_;
  const FunctionDefinition& definition_;
  FunctionLowering* outer_;
  flow::Function function_;
  Builder builder_;
  ValueId self_ = 0;
  ValueId module_variables_ = 0;  // of a module's code
  std::string self_name_;
  std::string class_parameter_;  // of a class method
  std::set<std::string> parameters_, locals_, globals_, nonlocals_;
  std::map<std::string, flow::VariableId> variables_;
  std::map<std::string, std::string> local_imports_;
  std::set<std::string> imported_variables_, names_before_dots_;
  std::set<std::string> numbers_;            // by how the body uses them
  std::map<std::string, std::string> told_;  // fields that code says are numbers: "int", "float", ""
  std::map<std::string, std::vector<Node>> assigned_;  // what locals are assigned; empty nodes: otherwise
  std::set<std::string> captured_;                     // names of enclosing functions that the body uses
  std::optional<bool> has_nonlocal_;  // whether a function within may rebind what this one was handed
  std::map<std::string, bool> layer_namespaces_;
  std::map<std::string, std::pair<std::string, bool>> in_this_round_;  // of unrolled loops: names; a text?
  std::vector<Loop> loops_;
  std::vector<ValueId> contexts_;                   // saved states
  static constexpr int kMaxScopes = 40;             // functions in functions
  static constexpr std::size_t kMaxWork = 1000000;  // expressions and statements, a copy counted as one
  int depth_ = 0;
  // While the value of a global is looked at, which knows no local names: the file that has it.
  const SourceFile* global_file_ = nullptr;
  int global_depth_ = 0;
  int choices_ = 0;  // that are being made, one in another
  bool is_generator_ = false;
  bool ends_at_yield_ = false;
  flow::Place yields_;  // what a generator has given so far
  int scopes_ = 0;
  std::size_t copies_ = 1;  // of the code that is being lowered, by unrolled loops
  std::size_t own_work_ = 0;
  std::size_t& work_;  // expressions and statements so far, those of functions in it included
};

// Whether the body does with it what is done with tensors alone.
bool is_used_as_tensor(std::string_view name, const FunctionDefinition& function, const Modules& modules);
// Whether the function asks what goes by that name for one of its sizes: a tensor with dimensions.
bool has_sizes(const Node& name, const FunctionDefinition& function);

// Names that the body uses as numbers: parameters, locals and dotted paths as they are written.
std::set<std::string> numbers_of(const FunctionDefinition& function, const Modules& modules);

// Of a dataclass's field: the parameter that it is given by.
flow::Parameter describe_field(const ClassDefinition& of, const Node& assignment, const Modules& modules);

// Of a tensor: one that has an operator, or converts.
bool is_tensor_method(const std::string& name);
// Whether a library function gives its first argument back, or what behaves like it.
bool gives_function_back(const std::string& name);
// The dtype that a name of PyTorch is: "torch.half".
std::optional<Dtype> named_dtype(const std::string& name);
// The operator that a function of PyTorch is; null where it is none.
const Operator* torch_function(const std::string& name);

// Whether objects of a class get something from it when they are made, and the function that gives it.
std::vector<std::string> class_attribute_names(const ClassDefinition& of, const Modules& modules);
bool has_class_attributes(const ClassDefinition& of, const Modules& modules, int depth);
std::string class_attributes_key(const ClassDefinition& of);
std::string undecorated_key(const FunctionDefinition& method);
std::string entered_key(const FunctionDefinition& context);

// Of a function or class as a value, the key of what runs where it is called. A stub is added to the file.
std::optional<std::string> function_key(FileUnit& unit, const Entity& entity);
// Notes what a parameter of that function is by default where that has a name at the top of its file:
// `norm_layer=nn.LayerNorm`.
void describe_default(FileUnit& unit, const FunctionDefinition& of, const Node& parameter,
                      flow::Parameter& out);

// The class of the file that a parameter is an object of, by what the body calls of it (module_uses.cpp).
void describe_module(const FunctionDefinition& function, const Node& parameter, const Modules& modules,
                     flow::Parameter& out);

// Whether all that the body takes from a parameter are layers by their names in torch.nn (module_uses.cpp).
bool is_layer_namespace(std::string_view name, const FunctionDefinition& function, const Modules& modules);

// What a parameter may be, from its annotation, default and use.
flow::Parameter describe_parameter(const FunctionDefinition& function, const Node& parameter,
                                   const Modules& modules);

}  // namespace dtype_guard::python
