// A concrete interpreter of the dtype-flow IR: it runs a function with real dtypes, numbers and objects, as
// ir.h says of each instruction, and notes what arrives at every call that has a contract. It knows rules/,
// where operators have their dtypes, and nothing of the engine that it is held against.
#pragma once

#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "rules/contracts/contract.h"
#include "rules/operators/operators.h"
#include "tests/oracle/interpreter/choices.h"
#include "tests/oracle/interpreter/prepared.h"
#include "tests/oracle/interpreter/symbols.h"

namespace dtype_guard::oracle {

using flow::Function;
using flow::Instruction;
using flow::Module;
using Instructions = std::set<const Instruction*>;
// Of generated programs each instruction has a line of its own.
inline constexpr std::size_t kMostLines = 1024;
inline constexpr const char* kSetter = "set";  // what a method's name begins with that only stores
using Lines = std::bitset<kMostLines>;
inline std::size_t line_of(const Instruction& each) {
  return static_cast<std::size_t>(each.range.line) % kMostLines;
}

// What a precision setting decides, of which the interpreter knows no more.
struct World {
  std::string name;
  Dtype inputs = Dtype::kFloat32;
  Dtype parameters = Dtype::kFloat32;
  Dtype buffers = Dtype::kFloat32;
  Dtype autocast = Dtype::kUndefined;  // kUndefined: off
  std::string device = "cuda";
  std::string torch_version = "2.13";
  bool is_named = true;        // by the user, who says then that the program is run so
  bool inputs_differ = false;  // callers may hand in other dtypes, always with two dimensions
};

struct Tensor {
  Dtype dtype = Dtype::kUndefined;
  int rank = 0;
  bool is_number = false;  // a number with an element type
  bool is_buffer = false;
  bool is_stated = false;          // the code converted it itself
  bool is_promoted = false;        // of half data, by an operator or a conversion that the code does not name
  bool is_owned = false;           // by a module
  bool is_of_setting = false;      // which says its dtype, unless the code converted it itself
  bool is_as_told = false;         // made in a dtype that a constructor was handed
  bool has_escaped = false;        // code that is not there could reach it, or what it was computed from
  Dtype data = Dtype::kUndefined;  // of a descriptor: the dtype of what it describes
  Lines descent;                   // all instructions that its dtype may be owed to
  Lines supply;                    // those since which it has this dtype
  std::uint32_t shape = 0;         // equal for tensors of one shape, whose sizes are equal
};

struct Value {
  enum class Kind : std::uint8_t {
    kNothing,
    kNone,
    kBool,
    kInteger,
    kReal,
    kText,
    kDtype,
    kDefaultOptions,
    kTensor,
    kObject,
    kReference,
    kState
  };
  Kind kind = Kind::kNothing;
  std::int64_t number = 0;
  Dtype dtype = Dtype::kUndefined;
  Symbol text;  // of a text; of a reference the cell; of a dtype told() where a constructor was handed it
  std::size_t id = 0;  // tensor, object or saved state
  static Value of(Kind kind) { return {kind, 0, Dtype::kUndefined, {}, 0}; }
  static Value boolean(bool value) { return {Kind::kBool, value, Dtype::kUndefined, {}, 0}; }
  static Value integer(std::int64_t value) { return {Kind::kInteger, value, Dtype::kUndefined, {}, 0}; }
  static Value a_dtype(Dtype value) { return {Kind::kDtype, 0, value, {}, 0}; }
  static Value at(Kind kind, std::size_t id) { return {kind, 0, Dtype::kUndefined, {}, id}; }
  bool is(Kind wanted) const { return kind == wanted; }
};

inline Symbol told() {
  static const Symbol out("told");
  return out;
}

// What an object has in each cell, in the order of their names.
class Cells {
 public:
  struct Cell {
    Symbol name;
    Value value;
  };
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  // Null where there is none.
  Value* find(Symbol name) { return const_cast<Value*>(std::as_const(*this).find(name)); }
  const Value* find(Symbol name) const {
    for (const Cell& each : all_) {
      if (each.name == name) return &each.value;
    }
    return nullptr;
  }
  Value& operator[](Symbol name);
  void erase(Symbol name) {
    std::erase_if(all_, [&](const Cell& each) { return each.name == name; });
  }

 private:
  std::vector<Cell> all_;
};

struct Object {
  enum class Kind : std::uint8_t { kFrame, kInstance, kContainer, kClosure };
  Kind kind = Kind::kInstance;
  Symbol type;  // class; of a closure the function
  Cells cells;  // "v3" a variable, ".field", "[0]"
  struct Registered {
    Symbol kind, name;
    Value value;
  };
  std::vector<Registered> registered;  // tensors and objects that a conversion of the module reaches
  std::size_t count() const;           // elements of a container
};

// What one operand was when the call was made.
struct Arrived {
  std::string role;
  bool is_none = false;
  Tensor tensor;
};
struct Observation {
  const Instruction* sink = nullptr;
  bool under_autocast = false;
  std::vector<Arrived> operands;
};

enum class End : std::uint8_t {
  kReturned,
  kThrew,  // PyTorch, a check or the program itself
  kOpen,   // rules/ do not say what happens: nothing is known of what would follow
  kTooLong,
  kAssumedAway,  // the run is not as the engine assumes of all programs
};
struct Run {
  End end = End::kReturned;
  std::string_view why;
  const Instruction* stopped_at = nullptr;  // what threw, or the branch that led to a throw
  std::vector<std::shared_ptr<const Observation>> observations;  // shared by runs that begin alike
  bool makes_own_half = false;                                   // and is not as assumed for that
  Instructions passed_by;  // the calls that it came to since it is not as assumed
  struct Differing {
    std::string choice;
    Dtype dtype;
  };
  std::vector<Differing> differing;  // inputs that are not what the setting hands in
};
// What a value was at a probe, which stands on its instruction's line.
struct Arrival {
  int line = 0;
  Dtype dtype = Dtype::kUndefined;  // of none: kUndefined
  int rank = 0;
  bool is_none = false, is_number = false;
  friend auto operator<=>(const Arrival&, const Arrival&) = default;
};
// Of one run or of all: what arrived at probes, behind which instructions one went on, which arms of branches
// that one took, and by which arms a phi was come to; by line.
struct Passed {
  std::vector<Arrival> arrivals;  // of all runs each once, in order; of one run as they came
  Lines instructions, arms[2];
  Lines no_tensors;                   // probes at which something else arrived
  std::map<int, std::uint64_t> phis;  // a bit for each argument
  void add(const Passed& run);
  static void note(Lines& lines, const Instruction& each) { lines.set(line_of(each)); }
  static bool has(const Lines& lines, const Instruction& each) { return lines.test(line_of(each)); }
};

// A copy of which has room for what is made next.
template <typename T>
class Roomy : public std::vector<T> {
 public:
  Roomy() = default;
  Roomy(const Roomy& other) : std::vector<T>() {
    constexpr std::size_t kRoom = 12;
    this->reserve(other.size() + kRoom);
    this->insert(this->end(), other.begin(), other.end());
  }
  Roomy(Roomy&&) noexcept = default;
  Roomy& operator=(const Roomy&) = delete;
  Roomy& operator=(Roomy&&) noexcept = default;
  ~Roomy() = default;
};

class Machine {
 public:
  // Where runs can go on: before an instruction of the root that decides something.
  struct Checkpoint;
  using Checkpoints = std::deque<Checkpoint>;

  Machine(const Module& module, const PreparedModule& prepared, const World& world, Choices& choices,
          Checkpoints* checkpoints = nullptr);
  Run run(const Function& root);
  // The run whose beginning is that of an earlier one.
  static Run go_on_from(Checkpoint checkpoint, Passed& passed);
  const Passed& passed() const { return passed_; }

 private:
  struct Stop {
    End end;
    std::string_view why;
  };
  struct Autocast {
    bool on = false;
    Dtype dtype = Dtype::kUndefined;
    bool is_of_setting = false;  // and the code did not turn it off since
  };
  using Autocasts = std::vector<std::pair<std::string_view, Autocast>>;
  Autocast& autocast_of(std::string_view device);
  struct Frame {
    const Function* code = nullptr;
    const PreparedFunction* prepared = nullptr;
    std::size_t variables = 0;  // an object
    std::vector<Value> values;
    std::vector<int> made;  // after how many steps each value was
    std::vector<Value> arguments;
    flow::BlockId block = 0;
    const Instruction* branch = nullptr;  // the last one
  };
  struct Location {
    std::size_t object = 0;
    Symbol cell;
  };
  struct Target {
    bool is_location = false;
    Location location;
    Value direct;
    bool is_element = false;  // of a tensor or buffer
  };

  // machine.cpp
  Value call(const Function& code, std::vector<Value> arguments);
  Frame enter(const Function& code, std::vector<Value> arguments);
  Value go_on(Frame& frame, const std::size_t* kept_at, bool is_root);
  Run finish(Frame& frame, const std::size_t* kept_at);
  Run ended(const Stop& stop);
  bool decides(const Frame& frame, const Prepared& prepared) const;
  static bool decides_once(const Frame& frame, const Prepared& prepared);
  void step(Frame& frame, const Prepared& prepared);
  Value input(const flow::Parameter& parameter);
  Dtype dtype_of_input(const flow::Parameter& parameter);
  Value constant(const flow::Constant& constant) const;
  const Value& argument(const Frame& frame, const Instruction& each, std::size_t position) const;
  const Value* named(const Frame& frame, const Instruction& each, std::string_view name) const;
  const Value& latest(const Frame& frame, const Instruction& phi);
  bool truth(const Value& value) const;
  const Function* find(std::string_view key) const;

  // calls.cpp
  struct Handed {
    std::string name;  // empty: by position
    Value value;
  };
  const Function* method(std::string_view class_name, std::string_view name) const;
  std::vector<Handed> spread(const Frame& frame, const Instruction& each) const;
  Value rest_of(flow::Rest rest, const std::vector<Handed>& left);
  std::vector<Value> bound(const Function& code, const std::vector<Handed>& given);
  Value call_closure(const Value& closure, std::vector<Handed> given);
  Value attribute_call(const Instruction& each, std::vector<Handed> given);
  Value call_instruction(Frame& frame, const Instruction& each);

  // unknown.cpp: code that is not there.
  Value unknown_call(Frame& frame, const Instruction& each);
  Value unknown_value(const std::string& name, const Instruction& each);
  void change_owned(const Value& owned, const Instruction& each);
  void change_anything(const Value& value, const Instruction& each, int depth);

  // guessed_settings.cpp: what is assumed of a setting that the user did not name.
  void guess_object(const Value& object);
  void guess_conversion(const Value& target, Dtype dtype);
  void guess_call();
  bool is_made_half(const Value& object, int depth = 0) const;
  bool is_below(const Value& object, const Value& target, int depth = 0) const;

  // escaping.cpp: lambdas that code which is not there may run.
  bool is_closure(const Value& value) const;
  static bool is_lost(const Function& code, const Instruction& made);
  void run_some_day(const Value& closure);

  // memory.cpp
  std::size_t make(Object object);
  Value make(Tensor tensor);
  Tensor fresh(Dtype dtype, int rank, const Instruction* by);
  Tensor& tensor_of(const Value& value);  // through references; throws where it is none
  const Value& behind(const Value& value) const;
  Target resolve(const Frame& frame, const flow::Place& place);
  Value read(const Location& location) const;
  Value load(const Target& target, const Instruction& each);
  void store(const Target& target, const Value& value);
  Value copy_of(const Value& value, int depth);
  void write_elements(const Value& target, const Value& given);
  void retype(const Value& target, Dtype dtype, const Instruction& each);
  static void register_with(Object& owner, const Object::Registered& entry);
  Value instance_of(std::string_view class_name);
  Value handed_to_constructor(const flow::Parameter& parameter);
  void call_a_setter(const Value& object, std::string_view class_name);
  void apply_setting(const Value& object);

  // operators.cpp
  Value operation(Frame& frame, const Prepared& prepared);
  bool scalar_operation(Frame& frame, const Prepared& prepared, Value& out);
  Value tensor_operation(Frame& frame, const Instruction& each, const Operator& op);
  Value cast(Frame& frame, const Instruction& each);
  Value sink(Frame& frame, const Prepared& prepared);
  std::optional<Tensor> described(const Value& value) const;
  Value probe(Frame& frame, const Instruction& each);
  struct Given {
    std::string_view argument;
    Value value;
    const Tensor* tensor = nullptr;
  };
  static void assume_no_wider(const std::vector<Given>& given);
  static std::vector<OperatorInput> table_inputs(const std::vector<Given>& given);
  Dtype dtype_of_result(const Operator& op, const std::vector<Given>& given,
                        std::optional<Dtype> stated) const;
  Tensor result_of(const Instruction& each, const Operator& op, const std::vector<Given>& given, Dtype dtype,
                   int rank);
  int rank_of_result(const Operator& op, const Instruction& each, const Frame& frame,
                     const std::vector<Given>& given);
  OperatorContext context() const;

  // keyed_operators.cpp
  static Symbol cell_of_key(const Object& whole, const Value& key);
  Value dictionary_operation(const Frame& frame, const Prepared& prepared, const Value& dictionary);
  Value part_of_tensor(const Instruction& each, const Value& whole, bool is_slice);
  Value keyed_operation(const Frame& frame, const Prepared& prepared);
  Value compared_operation(const Frame& frame, const Prepared& prepared) const;

  // library_modules.cpp
  Value library_module(const Instruction& each);
  bool is_library_module(const Value& value) const;
  Value library_forward(const Instruction& each, const Value& module, std::vector<Value> inputs);

  const Module& module_;
  const PreparedModule& prepared_;
  const World& world_;
  Choices& choices_;
  Checkpoints* checkpoints_;
  Passed passed_;
  const Instruction* running_ = nullptr;
  bool has_ended_ = false;  // in a check or a throw of the root
  Roomy<Object> objects_;
  Roomy<Tensor> tensors_;
  Autocasts autocast_;  // by device, that of the setting first
  Dtype default_dtype_ = Dtype::kFloat32;
  struct Saved {
    Autocasts autocast;
    Dtype default_dtype;
  };
  std::vector<Saved> saved_;
  std::vector<Value> kept_;  // lambdas, by objects
  std::uint32_t shapes_ = 0;
  int steps_ = 0, depth_ = 0;
  bool has_input_without_dimensions_ = false;
  Value own_object_;  // that the root is a method of
  bool has_half_module_ = false;
  std::string_view violated_;  // the first assumption that the run is not as
  Run run_;
};

struct Machine::Checkpoint {
  Machine machine;
  Frame frame;
  std::size_t instruction;  // in the block
  Choices::Mark decided;
  bool decides_once;
};

}  // namespace dtype_guard::oracle
