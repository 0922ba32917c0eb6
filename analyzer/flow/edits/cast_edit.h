// An edit of source code as the IR sees it: ".to(q.scalar_type())" behind an expression. It is tried on the
// IR before it is offered, and taken back afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

struct CastEdit {
  enum class Kind : std::uint8_t {
    kExpression,  // the value of the expression `range`
    kArgument,  // what the call `range` is given as its argument number `argument`, counted as it is written
    kAssign,    // the dropped result of `range` is assigned to `like`
  };
  Kind kind = Kind::kExpression;
  SourceRange range;
  std::size_t argument = 0;
  std::size_t position = 0;  // of it among the arguments of the IR, which has the object and defaults too
  std::string like;          // the variable whose dtype it takes
  bool names_dtype = false;  // `like` holds a dtype itself: "input_dtype = x.dtype"
  bool for_call = false;     // of what one call is given: it wants that of each copy of the expression
  friend bool operator==(const CastEdit&, const CastEdit&) = default;
};

// The call that watches a cast: what gives the dtype, as its operand "like", and what is cast, as "cast". Its
// contract is the trial's.
inline constexpr const char* kWatchedCast = "cast of a fix";

// While alive, the module is what it would be with the edits; then it is what it was.
class EditedModule {
 public:
  explicit EditedModule(Module& module) : module_(module) {}
  ~EditedModule();
  EditedModule(const EditedModule&) = delete;
  EditedModule& operator=(const EditedModule&) = delete;

  // Every function that was made from the text at that place is changed, all instantiations of a template,
  // and each copy of a loop's body that is unrolled. False when it means nothing there, or not the same to
  // all of them.
  bool add(const CastEdit& edit);
  // Changed functions, ascending.
  std::vector<std::uint32_t> functions() const;

 private:
  bool add(const CastEdit& edit, Function& function);

  Module& module_;
  std::vector<std::pair<std::uint32_t, Function>> before_;
};

// The instruction whose value is that of the expression at `range`; null: none here.
const Instruction* expression_in(const Function& function, const SourceRange& range);
// Likewise the call that takes the arguments written there, whatever takes its result apart.
const Instruction* call_in(const Function& function, const SourceRange& range);
// Variables that hold the dtype of a tensor, asked for once and before that place.
std::vector<std::string> dtype_names(const Function& function, const SourceRange& before);
// Whether it stands in the file as a tensor that can be read by that name; not all can be cast there.
bool is_tensor(const Instruction& instruction);
// What makes the value; null: nothing does.
const Instruction* definition_in(const Function& function, ValueId id);

}  // namespace dtype_guard::flow
