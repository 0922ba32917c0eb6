// The functions of a module by key and by class, and what each may run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/program/function_effects.h"
#include "analyzer/flow/program/function_info.h"
#include "analyzer/flow/program/function_results.h"

namespace dtype_guard::flow {

struct VirtualCall {
  std::string_view method;  // without its class
  std::string_view key;
};
// What a call names, where the object's class decides.
std::optional<VirtualCall> virtual_call(std::string_view name);
// A method's name without its class: "Attention::forward", "Attention.forward".
std::string_view method_name(const Function& function);

class FunctionIndex {
 public:
  explicit FunctionIndex(const Module& module);
  // What `before` was of the same module, of which these functions have other bodies now, and nothing else
  // differs; `before` is not to be asked again.
  FunctionIndex(const FunctionIndex& before, const std::vector<std::uint32_t>& bodies);
  const Module& module() const { return *module_; }
  const Function& function(std::uint32_t id) const { return module_->functions[id]; }
  const FunctionInfo& info(std::uint32_t id) const;
  const FunctionEffects& effects(std::uint32_t id) const;
  // Every function of that key: several when the front end names the overrides of a virtual function alike.
  const std::vector<std::uint32_t>& find(std::string_view key) const;
  // Arguments that are bound by name: however many parameters a method has.
  static constexpr std::size_t kAnyNumber = SIZE_MAX;
  // Methods of that qualified name with that many parameters: those that source file `unit` sees, else all.
  std::vector<std::uint32_t> methods(std::string_view name, std::size_t parameters, std::uint32_t unit) const;
  // Methods of that name, whatever their class.
  const std::vector<std::uint32_t>& methods_of_any_class(std::string_view name) const;
  // What a call or the making of a lambda may run; of a virtual call, every method of that name.
  const std::vector<std::uint32_t>& may_run(const Instruction& instruction) const;
  // The same of all that a function holds; sorted, each once.
  const std::vector<std::uint32_t>& callees(std::uint32_t function) const;
  // Of these, those that a call names by their key; sorted, each once. Not kept.
  std::vector<std::uint32_t> callees_by_key(std::uint32_t function) const;
  // What a function leads to, itself included.
  std::set<std::uint32_t> reached_from(std::uint32_t function) const;
  const ClassFacts* class_facts(std::string_view name) const;
  // Those that source file `unit` sees; else those of the one class of that name that other files have.
  std::vector<std::uint32_t> constructors(std::string_view class_name, std::uint32_t unit) const;

 private:
  std::vector<std::uint32_t> find_callees(std::uint32_t function) const;
  const std::vector<std::uint32_t>& registered_callees(const std::string& name) const;
  const std::vector<std::uint32_t>& attribute_callees(const Instruction& instruction) const;
  const std::vector<std::uint32_t>& virtual_callees(const std::string& name, const VirtualCall& call) const;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  using ByName = std::unordered_map<std::string, std::vector<std::uint32_t>, Hash, std::equal_to<>>;
  struct Tables {
    ByName by_key;
    std::map<std::string_view, std::vector<std::uint32_t>> registered;  // operators, by key
    ByName methods;                                                     // by qualified name
    ByName methods_of_any_class;
    ByName constructors;
    std::unordered_map<std::string_view, const ClassFacts*> classes;
    // Methods of any class, by name and file: of a common name there are very many.
    std::map<std::uint32_t, ByName> methods_in_file;
    // What may_run() has found, by the name that is called; of attributes with very many methods by file too.
    ByName may_run;
    std::map<std::uint32_t, ByName> may_run_in_file;
  };
  const Module* module_;
  std::shared_ptr<Tables> tables_;
  FunctionResults<FunctionInfo> infos_;
  FunctionResults<FunctionEffects> effects_;
  FunctionResults<std::vector<std::uint32_t>> callees_;
};

}  // namespace dtype_guard::flow
