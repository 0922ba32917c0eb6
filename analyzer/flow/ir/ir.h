// The dtype-flow IR: what a function does to dtypes, and nothing else. A front end lowers each function to a
// control-flow graph of small instructions on values; the engine evaluates it without knowing the language it
// came from. Values are single-assignment; everything that can be rebound or written to is a Place. The IR
// depends on source and flags only: precision settings, torch version, device and contracts come later.
// `print` and `parse` (text.h) give the same IR back, so it is also what tests are written on and what
// summary files hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rules/dtype/dtype.h"

namespace dtype_guard::flow {

// The argument of a sink that is no operand but names the result's dtype.
inline constexpr std::string_view kResultArgument = "result";

// "virtual::NAME::KEY" names a call for which the object's class decides: its own NAME runs, or else the
// function KEY.
inline constexpr std::string_view kVirtualCall = "virtual::";
// "attribute::NAME" names a call of what the first argument has by that name, whatever that is: a method of
// its class, a library module's, a function that a field holds. "attribute::__call__" calls the thing itself.
inline constexpr std::string_view kAttributeCall = "attribute::";
// The type of an object that holds what it does by keys: fields, as far as these are constant texts.
inline constexpr std::string_view kDictionary = "dict";
// Begins the key of a function that stands for what has no source: an operator, a call that has a contract,
// a class that is made. What it does, it does where it is called.
inline constexpr std::string_view kStub = "stub:";
// Operators that ask what is left undecided: whether a try block ends in its handler, and whether a range has
// one more.
inline constexpr std::string_view kMayThrow = "may_throw";
inline constexpr std::string_view kMoreElements = "more_elements";
// Whether a loop that is taken to run does so: not where its condition is known to be false at once.
inline constexpr std::string_view kLoopEntered = "loop_entered";
// strcmp: 0 where two texts are one, and else not.
inline constexpr std::string_view kTextOrder = "text_order";
inline constexpr std::string_view kTextLength = "text_length";
// std::min and std::max of two whole numbers.
inline constexpr std::string_view kSmallerOf = "smaller_of";
inline constexpr std::string_view kLargerOf = "larger_of";

// Index of the instruction result within its function; printed %1, %2, ...; 0 is "no value".
using ValueId = std::uint32_t;
using BlockId = std::uint32_t;  // index into Function::blocks; block 0 is the entry; printed b0, b1, ...
using VariableId = std::uint32_t;

// Lines and columns count from 1, ends exclusive, columns in UTF-8 bytes; file is an index into
// Module::files. What a macro writes carries the location of its expansion, its arguments their own.
struct SourceRange {
  std::uint32_t file = 0;
  int line = 0;
  int column = 0;
  int end_line = 0;
  int end_column = 0;
  friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

// Storage: a variable of this function, or whatever `base` refers to, followed by a path of fields and cells.
// `x`, `this.mat_qkv.weight`, `parts[0]`, `parts[*]` (index not constant), `parts[+]` (one more at the end).
struct Place {
  VariableId variable = 0;  // used when base is 0; printed by name, index into Function::variables
  ValueId base = 0;         // an object, reference, pointer or container value
  struct Step {
    enum class Kind : std::uint8_t { kField, kCell, kAnyCell, kNextCell };
    Kind kind = Kind::kField;
    std::string field;
    std::int64_t cell = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };
  std::vector<Step> path;
  // The name of the field that it ends in, elements of that aside; null where it has none.
  const std::string* last_field() const {
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      if (step->kind == Step::Kind::kField) return &step->field;
    }
    return nullptr;
  }
  friend bool operator==(const Place&, const Place&) = default;
};

// Bool, integer, floating number (their C++/Python category is what promotion needs), string, dtype, none
// (absent optional, undefined tensor, nullptr) or unknown.
struct None {
  friend bool operator==(None, None) = default;
};
struct Unknown {
  friend bool operator==(Unknown, Unknown) = default;
};
using Constant = std::variant<Unknown, None, bool, std::int64_t, double, std::string, Dtype>;

// How the expression of an instruction stands in the file; printed as "tensor", "bound" or "macro" after its
// position.
enum class Written : std::uint8_t {
  kOther,
  kTensor,  // the value of a C++ expression of a tensor type, as written: it can be cast where it stands
  kBound,   // likewise, where a reference or pointer needs a place: it can be read, a cast does not fit
  kMacro,   // an expansion has a part in it: nothing can be edited there
};

enum class Op : std::uint8_t {
  kConst,     // %r = const C
  kParam,     // %r = param N: the argument; `this` is parameter 0 of a method
  kCopy,      // %r = copy %a
  kPhi,       // %r = phi %a %b: value of a ?: or && whose arms were lowered as blocks
  kOperator,  // %r = op NAME(args): an operator of rules/operators, by canonical name ("mul", "normalize",
              // "eq")
  kDtypeOf,   // %r = dtype_of %a: x.scalar_type(), x.dtype(), options of a tensor
  kOptions,   // %r = options(dtype=%d): at::TensorOptions; without dtype: the default dtype decides
  kCast,  // %r = cast %a, %d[, from=%f]: to dtype value %d; `implicit` when it is not written. %f is what the
          // language says %a is, for where nothing else is known of it
  kAlloc,   // %r = alloc NAME(dtype=%d, ...): a typed buffer (vector<float>, float*) or descriptor; NAME its
            // kind
  kObject,  // %r = object TYPE: a fresh instance of a class (fields are stored by the constructor's body)
  kModule,  // %r = module TYPE(args): a library nn module ("torch::nn::Linear"), parameters as its table says
  kPack,    // %r = pack(args): vector, tuple, initializer list, array; cells by position
  kClosure,   // %r = closure FUNCTION(captures): a lambda; captures become the fields of its `this`
  kRegister,  // %r = register KIND %object NAME %value: KIND parameter | buffer | module; yields the handle
  kRetype,    // retype %target, %d: Module::to(dtype) on all parameters and buffers below, set_data on a
              // tensor, where %d is the tensor
  kCall,  // %r = call FUNCTION(args): FUNCTION is a Function::key, or %closure in args[0] with an empty name;
          // arguments with a name are bound by it, "*" and "**" are those of a list and of a dictionary
  kLoad,  // %r = load PLACE
  kStore,    // store PLACE, %a: rebinds a variable, field or cell; never changes a tensor's own dtype
  kWrite,    // write %target, %a: into a tensor's or buffer's elements; converts to the target's dtype
  kAddress,  // %r = address PLACE: reference or pointer to storage (out-parameters, by-reference captures)
  kSetAutocast,      // set_autocast DEVICE on=%b dtype=%d: either may be absent
  kSetDefaultDtype,  // set_default_dtype %d
  kSaveState,        // %r = save_state: autocast and default dtype of this thread
  kRestoreState,     // restore_state %s
  kDiscard,          // discard %a: the statement was that expression, and its result is not used
  kAssume,           // assume %b: a check that ends the path when false (TORCH_CHECK, assert)
  kSink,             // %r = sink API(role=%v, ...): a call that has a contract
  kJump,             // jump bN
  kBranch,           // branch %b ? bN : bM
  kReturn,           // return %a, or return
  kUnreachable,      // throw, abort
};

struct Argument {
  std::string name;  // parameter or role name; empty when positional
  ValueId value = 0;
  friend bool operator==(const Argument&, const Argument&) = default;
};

struct Instruction {
  Op op = Op::kUnreachable;
  ValueId result = 0;
  std::string name;  // operator, callee, type, API, device, register kind
  std::vector<Argument> args;
  Place place;                    // kLoad, kStore, kAddress
  Constant constant = Unknown{};  // kConst; kParam: its index; kRegister: the registered name
  bool implicit = false;          // kCast: a conversion that is not written
  std::vector<BlockId> targets;   // kJump, kBranch
  SourceRange range;
  std::string text;  // the expression as written, white space folded, at most 120 bytes; for paths
  Written written = Written::kOther;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

struct Block {
  std::vector<Instruction> instructions;  // the last one is a terminator
  friend bool operator==(const Block&, const Block&) = default;
};

enum class ParameterKind : std::uint8_t {
  kTensor,
  kOptionalTensor,
  kTensorList,
  kDtype,
  kOptions,
  kNumber,
  kObject,
  kOther
};
// A parameter that takes what others leave: the rest of the positions, or of the names.
enum class Rest : std::uint8_t { kNone, kPositional, kKeywords };
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::kOther;
  std::string type;           // kObject: class name; kTensor from a typed pointer: element dtype's name
  bool by_reference = false;  // the callee may write the caller's place
  std::optional<Constant> default_value = {};  // where a call leaves it out; Unknown: computed, or a function
  Rest rest = Rest::kNone;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

enum class FunctionKind : std::uint8_t { kFunction, kMethod, kConstructor, kDestructor, kLambda };

struct Function {
  std::string key;         // unique in a program: the mangled name or USR
  std::string name;        // for people: "SelfAttentionImpl::forward"
  std::string class_name;  // enclosing class of a method
  bool of_module = false;  // of a class that module conversion reaches (torch::nn::Module)
  FunctionKind kind = FunctionKind::kFunction;
  bool external = true;  // callers may stand outside the analysed code
  bool is_main = false;
  bool foreign = false;                // of a header outside the project: evaluated where it is called only
  std::vector<Parameter> parameters;   // without `this`
  std::vector<std::string> variables;  // names by VariableId
  std::vector<Argument> constants;     // tensors with a name that is never rebound: their values
  std::vector<Block> blocks;
  SourceRange range;  // of the definition's name
  // The linked source files that have this definition, ascending (link.h); empty before linking. Not printed.
  std::vector<std::uint32_t> units;
  friend bool operator==(const Function&, const Function&) = default;
};

// The base of a class that is not known.
inline constexpr std::string_view kUnknownClass = "?";

// A class of the project: which other methods an object of it has, and what one that comes from elsewhere
// holds.
struct ClassFacts {
  std::string name;
  std::vector<std::string> bases;
  std::vector<Parameter> fields;  // none where constructors decide
  // Plain values that a constructor gives a first value; by_reference: anyone may set them later.
  std::vector<Parameter> settable;
  std::vector<std::string> setters;  // keys of methods that may set them and have no body in the class
  // Of a source file and no header: no other file knows it, derives from it or sets what it holds.
  bool local = false;
  std::vector<std::string> virtuals;  // of a local class: keys of what its objects run in virtual calls
  std::vector<std::string> owned;     // tensors that only methods of the class set
  // Fields in which a constructor leaves None or a flag; what other code puts there is all in sight.
  std::vector<std::string> placeholders;
  friend bool operator==(const ClassFacts&, const ClassFacts&) = default;
};

struct NotLowered {
  std::string function;
  std::string reason;
  SourceRange range;
  friend bool operator==(const NotLowered&, const NotLowered&) = default;
};

// What one source file (or several, linked) says.
struct Module {
  std::vector<std::string> files;  // as the report names them
  std::vector<Function> functions;
  std::vector<NotLowered> not_lowered;
  // Keys of virtual functions that a class here overrides: a call of them by another file is unknown.
  std::vector<std::string> overridden;
  std::vector<ClassFacts> classes;  // by name
};

}  // namespace dtype_guard::flow
