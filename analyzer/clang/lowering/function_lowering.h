// FunctionLowering turns one function's Clang AST into dtype-flow IR by a structured walk. Its members are
// grouped by what they lower, one source file each: statements, places (what can be stored to), expressions,
// numbers, construction, calls, members of library classes. Anything it does not know becomes an unknown
// value or operator, never a guess.
#pragma once

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/clang/lowering/bound_expressions.h"
#include "analyzer/clang/lowering/stripped.h"
#include "analyzer/clang/lowering/torch_types.h"
#include "analyzer/clang/lowering/translation_unit.h"
#include "analyzer/flow/ir/builder.h"
#include "rules/operators/operators.h"

namespace dtype_guard::clang_front_end {

class FunctionLowering {
 public:
  FunctionLowering(TranslationUnit& unit, const clang::FunctionDecl* function);
  flow::Function run();

 private:
  using Expr = clang::Expr;
  using ValueId = flow::ValueId;
  using Arguments = std::vector<flow::Argument>;

  // Something that can be read and perhaps stored to. is_value: place.base is the thing itself, nothing to
  // load. is_element: the last step is an element of a typed buffer, so storing converts.
  struct Lvalue {
    flow::Place place;
    bool is_value = false;
    bool is_element = false;
  };
  // What leaving a scope runs: a user destructor on `value`, or restore_state when there is no destructor.
  struct Cleanup {
    ValueId value = 0;
    const clang::CXXDestructorDecl* destructor = nullptr;
  };
  struct JumpTarget {
    flow::BlockId block = 0;
    std::size_t scopes = 0;
  };

  // functions (function_lowering.cpp)
  void prologue();
  void parameter(const clang::ParmVarDecl* decl, int index);
  void give_held(const clang::CXXConstructorDecl* constructor);
  void member_initialisers(const clang::CXXConstructorDecl* constructor);
  void member_destructors(const clang::CXXDestructorDecl* destructor);
  flow::Parameter describe(const clang::ValueDecl* decl) const;
  ValueId this_value();

  // classes (lower_classes.cpp)
  void note_class(const clang::CXXRecordDecl* record) const;
  void note_settable(const clang::CXXRecordDecl* record, bool constructed, flow::ClassFacts& facts) const;
  void note_owned(const clang::CXXRecordDecl* record, flow::ClassFacts& facts) const;
  void note_setters(const clang::CXXRecordDecl* record, flow::ClassFacts& facts) const;
  void default_initialisers(const clang::CXXRecordDecl* record);

  // statements (lower_statements.cpp)
  void statement(const clang::Stmt* stmt);
  void discard(const Expr* expr);
  void compound(const clang::CompoundStmt* stmt);
  void declaration(const clang::VarDecl* decl);
  void bind(const clang::VarDecl* decl, const Expr* initialiser);
  void return_statement(const clang::ReturnStmt* stmt);
  void open_scope() { scopes_.emplace_back(); }
  void close_scope();
  void unwind(std::size_t to_depth);

  // branches (lower_branches.cpp)
  void if_statement(const clang::IfStmt* stmt);
  void switch_statement(const clang::SwitchStmt* stmt);
  void try_statement(const clang::CXXTryStmt* stmt);
  void assume(const Expr* condition, bool holds);
  flow::BlockId label_block(const clang::LabelDecl* label);

  // loops (lower_loops.cpp)
  enum class LoopBegins : std::uint8_t { kByItsTest, kByItsBody, kByItsBodyIfAtAll };
  void loop(const clang::Stmt* init, const clang::VarDecl* variable, const Expr* condition, const Expr* step,
            const clang::Stmt* body, LoopBegins begins);
  void enter_loop(const Expr* condition, flow::BlockId body, flow::BlockId after);
  void enter_range(const Expr* range, flow::BlockId body, flow::BlockId after);
  void range_for(const clang::CXXForRangeStmt* stmt);

  // places (lower_places.cpp)
  Lvalue lvalue(const Expr* expr);
  std::optional<Lvalue> named_place(const Expr* expr);
  std::optional<Lvalue> operator_place(const clang::CXXOperatorCallExpr* operation);
  std::optional<Lvalue> method_place(const clang::CXXMemberCallExpr* method);
  std::optional<Lvalue> element_place(const clang::CXXMemberCallExpr* method, llvm::StringRef name);
  std::optional<Lvalue> call_place(const clang::CallExpr* call);
  Lvalue variable_place(const clang::ValueDecl* decl);
  Lvalue member_place(const clang::MemberExpr* expr);
  Lvalue cell_of(const Expr* container, const Expr* index);
  Lvalue cell(Lvalue container, std::optional<std::int64_t> index, clang::QualType container_type);
  static Lvalue field(Lvalue object, const std::string& name);
  Lvalue global(const clang::VarDecl* decl);
  Lvalue held(ValueId value) { return {{0, value, {}}, true, false}; }
  ValueId load(const Lvalue& from);
  ValueId address_of(const Expr* expr);
  void assign(const Lvalue& to, ValueId value);
  // The value passed for a parameter or returned as `type`: an address when the callee may rebind it.
  ValueId pass(const Expr* expr, clang::QualType type);
  bool is_rebindable_reference(clang::QualType type) const;

  void assembly(const clang::AsmStmt* code);  // lower_directives.cpp

  // expressions (lower_expressions.cpp)
  ValueId value(const Expr* expr);
  ValueId value_of(const Expr* expr);
  ValueId converted(const clang::CastExpr* cast);
  ValueId conditional(const clang::AbstractConditionalOperator* expr);
  ValueId logical(const clang::BinaryOperator* expr);
  ValueId lambda(const clang::LambdaExpr* expr);
  ValueId assignment(const Expr* target, const Expr* source);
  std::optional<flow::Constant> evaluated(const Expr* expr) const;
  std::optional<std::int64_t> integer(const Expr* expr) const;

  // numbers (lower_numbers.cpp)
  // A number of that dtype about which nothing else is known, but for what it was computed from.
  ValueId number(Dtype dtype, Arguments from = {});
  ValueId dtype_constant(Dtype dtype);
  ValueId number_function(llvm::ArrayRef<const Expr*> arguments, Dtype result);
  ValueId number_as(ValueId source, Dtype from, Dtype to, bool implicit);
  ValueId number_cast(const clang::CastExpr* cast, bool implicit);
  ValueId binary(const clang::BinaryOperator* expr);
  std::optional<bool> against_zero(const clang::BinaryOperator* expr) const;
  ValueId compound_assignment(const clang::CompoundAssignOperator* expr);
  ValueId unary(const clang::UnaryOperator* expr);
  ValueId number_operation(const std::string& name, const Expr* left, const Expr* right,
                           clang::QualType result);
  ValueId widened(const Expr* operand, Dtype target);
  ValueId scalar_of(const Expr* expr);

  // construction (lower_construction.cpp)
  ValueId construct(const clang::CXXConstructExpr* expr);
  ValueId construct_as(clang::QualType type, llvm::ArrayRef<const Expr*> arguments,
                       const clang::CXXConstructorDecl* constructor);
  ValueId number_from(const TypeFacts& made, llvm::ArrayRef<const Expr*> arguments,
                      const clang::CXXConstructorDecl* constructor, bool copies);
  ValueId options_from(llvm::ArrayRef<const Expr*> arguments);
  ValueId list_from(clang::QualType type, const TypeFacts& made, llvm::ArrayRef<const Expr*> arguments,
                    bool copies);
  ValueId buffer_from(const TypeFacts& made, llvm::ArrayRef<const Expr*> arguments, bool copies);
  ValueId holder_from(const TypeFacts& made, llvm::ArrayRef<const Expr*> arguments,
                      const clang::CXXConstructorDecl* constructor);
  // The value of an expression that is copied from; whether a copy of such a thing has contents of its own.
  ValueId copied(const Expr* source);
  bool holds_values(const TypeFacts& type) const;
  static bool has_one_constructor(const clang::CXXRecordDecl* record, std::size_t arguments);
  ValueId referred_to(const Expr* expr, clang::QualType type);
  std::optional<ValueId> descriptor_part(const clang::MemberExpr* part, const Expr* source);
  flow::ValueId number_of(const clang::Expr* source);  // a constant where it is one
  // Whether a constructor is a holder's own, which decides what is held: it is lowered as a function that
  // gives that.
  bool makes_held(const clang::FunctionDecl* constructor) const;
  ValueId object(const clang::CXXRecordDecl* record, llvm::ArrayRef<const Expr*> arguments,
                 const clang::CXXConstructorDecl* constructor);
  ValueId guard(const clang::CXXRecordDecl* record, llvm::ArrayRef<const Expr*> arguments);
  ValueId init_list(const clang::InitListExpr* expr);
  ValueId aggregate(const clang::InitListExpr* expr, const clang::CXXRecordDecl* record);
  ValueId zero(clang::QualType type);
  ValueId pack(llvm::ArrayRef<const Expr*> elements);
  ValueId library_module(const clang::CXXRecordDecl* record, llvm::ArrayRef<const Expr*> arguments);
  ValueId allocate(const std::string& kind, Dtype element);
  ValueId new_expression(const clang::CXXNewExpr* expr);

  // calls (lower_calls.cpp)
  ValueId call(const clang::CallExpr* expr);
  ValueId free_call(const clang::CallExpr* expr, const clang::FunctionDecl* callee);
  ValueId operator_call(const clang::CXXOperatorCallExpr* expr);
  ValueId member_call(const clang::CXXMemberCallExpr* expr);
  ValueId user_call(const clang::FunctionDecl* callee, std::optional<ValueId> object,
                    llvm::ArrayRef<const Expr*> arguments, bool dispatched = false);
  std::string virtual_key(const clang::FunctionDecl* callee) const;
  bool is_dispatched(const clang::FunctionDecl* callee) const;
  const Api* contract_of(const std::string& name) const;
  const Api* contract_of_body(const clang::FunctionDecl* callee) const;
  void checked_operands(const clang::FunctionDecl* callee, const Arguments& given);
  ValueId described(const clang::Expr* data, const clang::Expr* dtype);
  ValueId sink(const Api& api, const clang::FunctionDecl* callee, llvm::ArrayRef<const Expr*> arguments);

  // operators by name (lower_dispatcher.cpp)
  std::optional<ValueId> dispatched_operator(const clang::CXXMethodDecl* method, const Expr* object,
                                             llvm::ArrayRef<const Expr*> arguments);

  // maps (lower_maps.cpp)
  std::optional<std::int64_t> key_of(const Expr* expr) const;
  Lvalue map_element(const Expr* map, const Expr* key);
  Lvalue map_entry(const Expr* map, bool may_write);
  Lvalue pointed_at(const clang::Expr* iterator);
  std::optional<Lvalue> mapped_element(const clang::MemberExpr* expr);
  std::optional<ValueId> iterator_operator(const clang::CXXOperatorCallExpr* expr);
  void lose_elements(const Expr* map);
  std::optional<ValueId> map_of(llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> map_member(const clang::CXXMethodDecl* method, const Expr* object,
                                    llvm::ArrayRef<const Expr*> arguments);

  // variants, and elements by type (lower_variants.cpp)
  static std::optional<std::int64_t> named_element(const clang::FunctionDecl* callee,
                                                   clang::QualType container);
  std::optional<ValueId> as_variant(clang::QualType type, const Expr* source);
  std::optional<ValueId> variant_function(llvm::StringRef name, const clang::FunctionDecl* callee,
                                          llvm::ArrayRef<const Expr*> arguments);

  // lists by iterators, algorithms and views (lower_ranges.cpp)
  struct Elements {
    Lvalue element;  // some element
    Lvalue list;
    clang::QualType type;
    bool whole = false;  // all of the list's
    bool forward = true;
    const Expr* named = nullptr;  // the list as written
  };
  bool has_addresses(const Expr* list) const;
  Lvalue some_element(const Expr* list);
  std::optional<ValueId> end_of_list(llvm::StringRef name, const Expr* list);
  bool end_of_list_is(const Expr* iterator, const Expr* list) const;
  std::optional<ValueId> list_of_elements(llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> list_iterator_operator(const clang::CXXOperatorCallExpr* expr);
  Elements elements_of(const Expr* range);
  Elements elements_of(const Expr* first, const Expr* last);
  void replace(const Elements& elements, ValueId with);
  void put(const Expr* output, const Elements& from, ValueId written);
  ValueId applied(const Expr* function, ValueId object, const std::vector<Lvalue>& given);
  // The body runs for some element, again and again.
  template <class Body>
  void for_elements(const Body& body) {
    const flow::BlockId again = builder_.block(), done = builder_.block();
    builder_.jump(again);
    builder_.enter(again);
    body();
    builder_.branch(builder_.unknown(), again, done);
    builder_.enter(done);
  }
  std::optional<ValueId> algorithm(llvm::StringRef name, llvm::ArrayRef<const Expr*> arguments);
  ValueId for_each(const Elements& from, const Expr* function);
  std::optional<ValueId> accumulate(const Elements& from, llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> view(const clang::CXXOperatorCallExpr* expr);
  std::optional<ValueId> called_object(const clang::CXXOperatorCallExpr* expr);

  // checks, and functions by pointer (lower_checks.cpp)
  bool checked_comparison(const clang::WhileStmt* stmt);
  bool argument_check(const std::string& name, llvm::ArrayRef<const Expr*> arguments);
  const Expr* checked_tensor(const Expr* argument) const;
  static std::vector<const Expr*> listed_arguments(const Expr* list);
  ValueId function_pointer(const clang::FunctionDecl* function);

  // lists of modules (lower_module_lists.cpp)
  ValueId module_list(const clang::CXXRecordDecl* list, llvm::ArrayRef<const Expr*> arguments);
  void add_module(ValueId list, const Expr* added, bool ordered);
  bool is_module(const TypeFacts& type) const;
  Lvalue listed_module(const Expr* list, const Expr* index);
  std::optional<ValueId> module_list_member(const clang::CXXMethodDecl* method, const Expr* object,
                                            llvm::ArrayRef<const Expr*> arguments);

  // parts of modules (lower_module_parts.cpp)
  std::optional<ValueId> module_parts(llvm::StringRef name, ValueId self,
                                      llvm::ArrayRef<const Expr*> arguments);
  void apply_to_modules(ValueId self, const Expr* function);
  void forget_dtypes(ValueId module);
  bool loads_module(const std::string& name, llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> dictionary_member(const clang::CXXMethodDecl* method, const Expr* object,
                                           llvm::ArrayRef<const Expr*> arguments);

  // library functions (lower_operators.cpp)
  ValueId helper_call(const std::string& name, const clang::FunctionDecl* callee,
                      llvm::ArrayRef<const Expr*> arguments);
  ValueId external_call(const clang::FunctionDecl* callee, std::optional<ValueId> object,
                        llvm::ArrayRef<const Expr*> arguments);
  void written_by(const std::string& name, llvm::ArrayRef<const Expr*> arguments);
  ValueId library_operator(const Operator& entry, llvm::ArrayRef<const Expr*> arguments);
  ValueId tensor_operator(const Operator* entry, const std::string& name, const clang::FunctionDecl* callee,
                          std::optional<ValueId> object, llvm::ArrayRef<const Expr*> arguments);
  void options_bag(const Operator* entry, const Expr* expr, Arguments& arguments);

  // known by name (lower_special.cpp)
  std::optional<ValueId> special_function(const std::string& name, const clang::CallExpr* expr,
                                          const clang::FunctionDecl* callee);
  ValueId pack_of_references(llvm::ArrayRef<const Expr*> arguments, bool is_kept);
  std::optional<ValueId> dtype_of_type(const clang::FunctionDecl* callee);
  std::optional<ValueId> tensor_of(const clang::CallExpr* expr);
  std::optional<ValueId> autocast_function(const std::string& name, const clang::CallExpr* expr);
  std::string device_name(const Expr* expr) const;
  std::optional<ValueId> bounded(bool smaller, llvm::ArrayRef<const Expr*> arguments);
  ValueId taken_out(const Expr* expr);
  void put_into(const Expr* target, ValueId put);
  void swap(const Expr* left, const Expr* right);
  std::optional<ValueId> exchanging_member(const Expr* object, const clang::CXXMethodDecl* method,
                                           llvm::ArrayRef<const Expr*> arguments);

  // functions on buffers (lower_memory.cpp)
  std::optional<ValueId> memory_function(const std::string& name, llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> device_memory(llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> copied_memory(const Expr* to, const Expr* from);
  std::optional<ValueId> launched(const Expr* kernel, llvm::ArrayRef<const Expr*> arguments);

  // short vectors (lower_vectors.cpp)
  Dtype lane(const TypeFacts& type) const;
  ValueId vector_of(const TypeFacts& type, const Arguments& lanes);
  std::optional<ValueId> vector_function(const clang::FunctionDecl* callee,
                                         llvm::ArrayRef<const Expr*> arguments);
  void store_lanes(const Expr* target, ValueId stored);

  // strings, and what is written through references (lower_text.cpp)
  std::optional<ValueId> made_text(llvm::ArrayRef<const Expr*> arguments);
  ValueId assigned_text(const Expr* source);
  ValueId compared_texts(ValueId left, ValueId right);
  std::optional<ValueId> text_function(const std::string& name, llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> text_member(const Expr* object, const clang::CXXMethodDecl* method,
                                     llvm::ArrayRef<const Expr*> arguments);
  void lose_written(const clang::FunctionDecl* callee, llvm::ArrayRef<const Expr*> arguments);
  void lose_operand(const clang::CXXOperatorCallExpr* expr);

  // members of library classes (lower_members.cpp)
  std::optional<ValueId> new_element(const TypeFacts& list, llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> added_element(llvm::StringRef name, const Expr* list,
                                       llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> member(const TypeFacts& object_type, const Expr* object,
                                const clang::CXXMethodDecl* method, llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> tensor_member(const std::string& name, const Expr* object,
                                       const clang::CXXMethodDecl* method,
                                       llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> options_member(const std::string& name, const Expr* object,
                                        const clang::CXXMethodDecl* method,
                                        llvm::ArrayRef<const Expr*> arguments);
  std::optional<ValueId> container_member(const std::string& name, const Expr* object,
                                          llvm::ArrayRef<const Expr*> arguments);
  bool casts_tensor(const Expr* expr) const;
  bool grows_in_loop(const Expr* container) const;
  std::optional<ValueId> module_member(const std::string& name, const Expr* object,
                                       llvm::ArrayRef<const Expr*> arguments);
  ValueId forward(const clang::CXXRecordDecl* module, ValueId object, llvm::ArrayRef<const Expr*> arguments);
  ValueId value_or(const Expr* object, const Expr* fallback);

  // Of the expression as written: the base class that a method is inherited from says less.
  TypeFacts facts(const Expr* expr) const;
  TypeFacts facts(clang::QualType type) const;
  Builder::Position position(const Expr* expr) const;

  TranslationUnit& unit_;
  const clang::FunctionDecl* function_;
  flow::Function result_;
  Builder builder_;
  BoundExpressions bound_;
  ValueId this_ = 0;
  // Locals that are never rebound are their value; the others have a variable. References hold an address in
  // addresses_.
  std::unordered_map<const clang::ValueDecl*, ValueId> fixed_;
  std::unordered_map<const clang::ValueDecl*, ValueId> addresses_;
  std::unordered_map<const clang::ValueDecl*, flow::VariableId> variables_;
  // In a lambda: the variable that a capture stands for, by name of its field, and whether the field is an
  // address.
  std::map<const clang::ValueDecl*, std::pair<std::string, bool>> captures_;
  // What the fields of a DLDataType were last set to, and where.
  struct DescriptorPart {
    flow::BlockId block = 0;
    flow::ValueId code = 0, bits = 0;
  };
  std::map<std::string, DescriptorPart> descriptors_;
  std::vector<std::vector<Cleanup>> scopes_;
  std::vector<JumpTarget> breaks_;
  std::vector<JumpTarget> continues_;
  std::unordered_map<const clang::ValueDecl*, std::size_t> loop_of_;  // breaks_.size() at the declaration
  std::unordered_map<const clang::SwitchCase*, flow::BlockId> cases_;
  std::unordered_map<const clang::LabelDecl*, flow::BlockId> labels_;
  ValueId pending_restore_ = 0;  // saved state of the guard object that is being constructed
  int depth_ = 0;
};

bool is_module_list(const clang::CXXRecordDecl* record);
// CHECK of glog and c10: the message is an object that ends the program when it is written.
bool is_fatal(const clang::Stmt* stmt);
// "[a, b]" for a structured binding's variable, which has no name of its own.
std::string variable_name(const clang::VarDecl* decl);
// The statement that an OpenMP directive is written before, if any.
const clang::Stmt* governed(const clang::Stmt* directive);
// Of torch::OrderedDict.
bool is_dictionary_item(const clang::CXXRecordDecl* record);
// Of std::map or std::unordered_map.
bool is_map_iterator(clang::QualType type);
// Of a vector, an array, a deque or a list; of other things than numbers it is the address of an element.
bool is_list_iterator(clang::QualType type);

}  // namespace dtype_guard::clang_front_end
