// What the engine looks up about a function again and again, computed once: which instruction defines a
// value, the order to visit blocks in, and who precedes whom.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/program/postdominators.h"

namespace dtype_guard::flow {

struct FunctionInfo {
  explicit FunctionInfo(const Function& function);
  const Instruction* definition(ValueId id) const {
    return id < definitions.size() ? definitions[id] : nullptr;
  }

  // Whether whoever leaves `block` and returns comes through `later`.
  bool always_follows(BlockId block, BlockId later) const;

  std::vector<const Instruction*> definitions;  // by ValueId
  std::vector<std::uint32_t> order;             // by BlockId: position in reverse postorder
  // The position of the block that computes a value.
  std::uint32_t defined_at(ValueId id) const { return id < defined_at_.size() ? defined_at_[id] : 0; }
  bool is_used(ValueId id) const { return id < used_.size() && used_[id]; }
  std::vector<bool> repeats;  // by BlockId: may run again in one activation
  struct Edge {
    BlockId from = 0;
    std::size_t slot = 0;  // which of the terminator's targets
    bool back = false;     // ends at a block that is visited no later than its start
  };
  std::vector<std::vector<Edge>> incoming;  // by BlockId
  // Blocks that can come back to `head` without leaving.
  struct Loop {
    BlockId head = 0;
    std::vector<bool> blocks;
    bool is_left_by(BlockId from, BlockId to) const { return blocks[from] && !blocks[to]; }
  };
  std::vector<Loop> loops;
  std::vector<bool> always_throws;  // by BlockId: whoever enters it does not return

 private:
  const Function* code_;
  std::vector<std::uint32_t> defined_at_;  // by ValueId
  std::vector<bool> used_;                 // by ValueId: some instruction takes it
  mutable std::optional<Postdominators> after_;
};

// The source files that have a function's definition; {0} in a module that was not linked.
const std::vector<std::uint32_t>& units_of(const Function& function);

struct VirtualCall {
  std::string_view method;  // without its class
  std::string_view key;
};
// What a call names, where the object's class decides.
std::optional<VirtualCall> virtual_call(std::string_view name);
// A method's name without its class: "Attention::forward", "Attention.forward".
std::string_view method_name(const Function& function);

// Classes of which every object that the program makes is given half parameters, and half buffers.
struct ClassesMadeHalf {
  std::set<std::string> parameters, buffers;
};

// The functions of a module by key and by class.
class FunctionIndex {
 public:
  explicit FunctionIndex(const Module& module);
  const Module& module() const { return *module_; }
  const Function& function(std::uint32_t id) const { return module_->functions[id]; }
  const FunctionInfo& info(std::uint32_t id) const;
  // Every function of that key: several when the front end names the overrides of a virtual function alike.
  const std::vector<std::uint32_t>& find(std::string_view key) const;
  // Arguments that are bound by name: however many parameters a method has.
  static constexpr std::size_t kAnyNumber = SIZE_MAX;
  // Methods of that qualified name with that many parameters: those that source file `unit` sees, else all.
  std::vector<std::uint32_t> methods(std::string_view name, std::size_t parameters, std::uint32_t unit) const;
  // What a call or the making of a lambda may run; of a virtual call, every method of that name.
  std::vector<std::uint32_t> may_run(const Instruction& instruction) const;
  std::vector<std::uint32_t> attribute_callees(const Instruction& instruction) const;
  // The same of all that a function holds; sorted, each once.
  const std::vector<std::uint32_t>& callees(std::uint32_t function) const;
  const ClassFacts* class_facts(std::string_view name) const;
  // Of a class and its bases: the fields that others than its constructors may have set (settable.cpp).
  const std::vector<Parameter>& settable(const std::string& class_name) const;
  // Those who write the field and others of the same object with it, by one condition perhaps: a number for
  // each such function that is no constructor. Of a method's own object those that such an object has.
  const std::vector<std::uint32_t>& written_by(const std::string& class_name, const std::string& field) const;
  // A tensor's field that is given another value after the constructor, and by which method of the class;
  // nothing where others do.
  struct Reassigned {
    std::string field;
    std::optional<std::uint32_t> method;
  };
  const std::vector<Reassigned>& reassigned(const std::string& class_name) const;  // other_methods.cpp
  // Tensors of a class and its bases that hold what methods of theirs put there, and nobody else
  // (setters.cpp).
  struct SetLater {
    std::string field;
    std::vector<std::uint32_t> setters, readers;
  };
  const std::vector<SetLater>& set_later(const std::string& class_name) const;
  // Known once that was looked for (made_half.cpp), under that setting and release: what makes a class half
  // may ask for the dtype of an input.
  std::optional<ClassesMadeHalf>& made_half(const std::string& setting, const std::string& version) const {
    return made_half_[{setting, version}];
  }
  // Whether a function object with that many parameters is somewhere handed what may have been cast
  // (escaping.cpp).
  bool is_called_with_casts(std::size_t parameters) const;
  bool names_dtypes(std::uint32_t function) const;
  // Whether it, or what it leads to, asks for the dtype of a tensor.
  bool asks_for_dtypes(std::uint32_t function) const;
  // What a function leads to, itself included.
  std::set<std::uint32_t> reached_from(std::uint32_t function) const;
  // What NAME an object of that class runs: its own, else that of a base; nothing where that is not known.
  std::vector<std::uint32_t> inherited(std::string_view class_name, std::string_view method,
                                       std::size_t parameters, std::uint32_t unit) const;
  // What NAME runs in a class that has none of its own, where every class that derives from it is known
  // (overrides.cpp).
  const std::vector<std::uint32_t>& overrides(const std::string& class_name, std::string_view method,
                                              std::size_t parameters) const;
  // Classes whose objects run a method that they inherit, in which something of their own is called.
  const std::vector<std::string>& heirs(std::uint32_t method) const;
  // Those that source file `unit` sees; else those of the one class of that name that other files have.
  std::vector<std::uint32_t> constructors(std::string_view class_name, std::uint32_t unit) const;
  // What watched_body.cpp has found of a function's argument and the dtypes that a contract accepts there.
  using KnownUses = std::map<std::tuple<std::uint32_t, std::size_t, std::uint64_t>, std::uint8_t>;
  KnownUses& known_uses() const { return known_uses_; }

 private:
  const Module* module_;
  mutable std::vector<std::unique_ptr<FunctionInfo>> infos_;
  mutable std::vector<std::optional<std::vector<std::uint32_t>>> callees_;
  mutable std::map<std::uint32_t, bool> asks_for_dtypes_;
  mutable std::optional<std::set<std::size_t>> called_with_casts_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> by_key_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> methods_;  // by qualified name
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> methods_of_any_class_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> constructors_;
  std::map<std::string_view, const ClassFacts*> classes_;
  bool derives(std::string_view class_name, std::string_view base, int depth = 0) const;
  void note_writes(const Function& function) const;
  void note_all_writes() const;
  // By field: the classes whose methods write it to their own object; "" where the object is another.
  mutable std::map<std::string, std::set<std::string>, std::less<>> writers_;
  struct WritesSeveral {
    std::uint32_t number = 0;
    std::string class_name;  // whose method it is; "" where the object is another
  };
  mutable std::map<std::string, std::vector<WritesSeveral>> write_several_;  // by field
  mutable std::uint32_t count_of_writes_ = 0;
  mutable std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> written_by_;
  mutable bool writers_are_noted_ = false;
  std::vector<Parameter> find_settable(std::string_view class_name) const;
  mutable std::map<std::string, std::vector<Parameter>> settable_;  // by class
  mutable KnownUses known_uses_;
  mutable std::map<std::tuple<std::string, std::string, std::size_t>, std::vector<std::uint32_t>> overrides_;
  mutable std::map<std::uint32_t, std::vector<std::string>> heirs_;  // by method
  mutable std::map<std::pair<std::string, std::string>, std::optional<ClassesMadeHalf>> made_half_;
  struct FieldStore {
    std::uint32_t function = 0;
    bool own = false;         // of the method's own object
    bool handed_out = false;  // its address is: whoever gets it may store there
  };
  void note_stores(std::uint32_t id) const;
  struct FieldUse {
    std::vector<std::uint32_t> setters, readers;  // of its own object
    bool elsewhere = false;                       // it may be set otherwise
  };
  void note_uses(std::uint32_t id) const;
  mutable std::optional<std::map<std::string, FieldUse, std::less<>>> uses_;     // by field
  mutable std::map<std::string, std::vector<SetLater>, std::less<>> set_later_;  // by class
  bool deals_with(std::uint32_t function, std::string_view class_name) const;
  mutable std::optional<std::map<std::string, std::vector<FieldStore>, std::less<>>> stores_;  // by field
  mutable std::map<std::string, std::vector<Reassigned>> reassigned_;                          // by class
};

}  // namespace dtype_guard::flow
