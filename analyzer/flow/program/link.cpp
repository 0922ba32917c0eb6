#include "analyzer/flow/program/link.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

// One definition in one file, and which of the different definitions of its key it is.
struct Instance {
  std::uint32_t unit = 0;
  std::uint32_t function = 0;
  std::uint32_t variant = 0;
};
struct Definitions {
  std::vector<Instance> instances;  // by unit
  std::uint32_t variants = 1;
  const Instance* in(std::uint32_t unit) const {
    const auto at = std::lower_bound(instances.begin(), instances.end(), unit,
                                     [](const Instance& each, std::uint32_t id) { return each.unit < id; });
    return at != instances.end() && at->unit == unit ? &*at : nullptr;
  }
};

bool names_function(const Instruction& instruction) {
  return (instruction.op == Op::kCall || instruction.op == Op::kClosure) && !instruction.name.empty();
}

// The function that a call names; of a virtual call, the one that runs where no class has its own.
std::string key_of(const std::string& name) {
  const std::optional<VirtualCall> call = virtual_call(name);
  return call ? std::string(call->key) : name;
}

class Linker {
 public:
  explicit Linker(std::vector<Module> modules) : modules_(std::move(modules)) {}

  Module run() {
    for (Module& module : modules_) adopt_files(module);
    collect();
    find_variants();
    while (split_by_callees()) {
    }
    for (std::uint32_t unit = 0; unit < modules_.size(); ++unit) emit(unit);
    return std::move(out_);
  }

 private:
  // One table of files; every range points into it.
  void adopt_files(Module& module) {
    std::vector<std::uint32_t> ids;
    for (const std::string& name : module.files) {
      const auto [at, fresh] = files_.try_emplace(name, static_cast<std::uint32_t>(out_.files.size()));
      if (fresh) out_.files.push_back(name);
      ids.push_back(at->second);
    }
    const auto adopt = [&](SourceRange& range) {
      // A range that says nothing is the same in every file.
      range.file = range.line > 0 && range.file < ids.size() ? ids[range.file] : 0;
    };
    for (Function& function : module.functions) {
      adopt(function.range);
      for (Block& block : function.blocks) {
        for (Instruction& each : block.instructions) adopt(each.range);
      }
    }
    for (NotLowered& each : module.not_lowered) {
      adopt(each.range);
      if (std::find(out_.not_lowered.begin(), out_.not_lowered.end(), each) == out_.not_lowered.end()) {
        out_.not_lowered.push_back(each);
      }
    }
    for (ClassFacts& each : module.classes) adopt_class(std::move(each));
    overridden_.insert(module.overridden.begin(), module.overridden.end());
    out_.overridden.assign(overridden_.begin(), overridden_.end());
  }

  // A name that two classes have says nothing of either.
  void adopt_class(ClassFacts facts) {
    const auto at = std::lower_bound(out_.classes.begin(), out_.classes.end(), facts,
                                     [](const auto& a, const auto& b) { return a.name < b.name; });
    if (at == out_.classes.end() || at->name != facts.name) {
      out_.classes.insert(at, std::move(facts));
    } else if (!(*at == facts)) {
      // What others may set in the one or in the other, anyone may.
      std::map<std::string, Parameter> settable;
      for (const ClassFacts* each : std::initializer_list<const ClassFacts*>{&*at, &facts}) {
        for (const Parameter& field : each->settable) settable[field.name] = field;
      }
      *at = {at->name, {std::string(kUnknownClass)}, {}, {}, {}, false, {}, {}, {}};
      for (auto& [name, field] : settable) {
        field.by_reference = true;
        at->settable.push_back(std::move(field));
      }
    } else if (facts.local) {  // two of one name: what either has is not all
      at->local = false;
      at->virtuals.clear();
      at->owned.clear();
    }
  }

  void collect() {
    for (std::uint32_t unit = 0; unit < modules_.size(); ++unit) {
      const std::vector<Function>& functions = modules_[unit].functions;
      for (std::uint32_t i = 0; i < functions.size(); ++i) {
        if (functions[i].blocks.empty()) continue;
        std::vector<Instance>& known = by_key_[functions[i].key].instances;
        if (known.empty() || known.back().unit != unit) known.push_back({unit, i, 0});
      }
    }
  }

  const Function& code(const Instance& instance) const {
    return modules_[instance.unit].functions[instance.function];
  }

  void find_variants() {
    for (auto& [key, definitions] : by_key_) {
      std::vector<const Function*> different;
      for (Instance& each : definitions.instances) {
        const Function& own = code(each);
        const auto same = std::find_if(different.begin(), different.end(),
                                       [&](const Function* other) { return *other == own; });
        each.variant = static_cast<std::uint32_t>(same - different.begin());
        if (same == different.end()) different.push_back(&own);
      }
      definitions.variants = static_cast<std::uint32_t>(different.size());
    }
  }

  // What the calls of an instance mean where that depends on the file: the variant per call.
  std::vector<std::uint32_t> meaning(const Instance& instance) const {
    std::vector<std::uint32_t> out = {instance.variant};
    for (const Block& block : code(instance).blocks) {
      for (const Instruction& each : block.instructions) {
        if (!names_function(each)) continue;
        const auto found = by_key_.find(key_of(each.name));
        if (found == by_key_.end() || found->second.variants < 2) continue;
        const Instance* own = found->second.in(instance.unit);
        out.push_back(own ? own->variant : kNone);
      }
    }
    return out;
  }

  // The same text in two files is two functions when it calls different ones. True when something changed.
  bool split_by_callees() {
    bool changed = false;
    for (auto& [key, definitions] : by_key_) {
      if (definitions.instances.size() < 2 || definitions.variants == definitions.instances.size()) continue;
      std::map<std::vector<std::uint32_t>, std::uint32_t> seen;
      std::vector<std::uint32_t> variants;
      for (const Instance& each : definitions.instances) {
        const auto next = static_cast<std::uint32_t>(seen.size());
        variants.push_back(seen.try_emplace(meaning(each), next).first->second);
      }
      if (seen.size() == definitions.variants) continue;
      changed = true;
      for (std::size_t i = 0; i < variants.size(); ++i) definitions.instances[i].variant = variants[i];
      definitions.variants = static_cast<std::uint32_t>(seen.size());
    }
    return changed;
  }

  static std::string name_of(const std::string& key, const Definitions& definitions, std::uint32_t variant) {
    return definitions.variants < 2 ? key : key + "#" + std::to_string(variant);
  }

  void emit(std::uint32_t unit) {
    for (std::uint32_t i = 0; i < modules_[unit].functions.size(); ++i) {
      const auto found = by_key_.find(modules_[unit].functions[i].key);
      if (found == by_key_.end()) continue;
      const std::vector<Instance>& instances = found->second.instances;
      const Instance* own = found->second.in(unit);
      if (!own || own->function != i) continue;
      const auto same = [&](const Instance& other) { return other.variant == own->variant; };
      if (&*std::find_if(instances.begin(), instances.end(), same) != own) continue;
      // by_key_ looks functions up by the keys that the moved functions had; strings of its own.
      Function function = std::move(modules_[unit].functions[i]);
      for (const Instance& each : instances) {
        if (same(each)) function.units.push_back(each.unit);
      }
      function.key = name_of(found->first, found->second, own->variant);
      for (Block& block : function.blocks) {
        for (Instruction& each : block.instructions) {
          if (names_function(each)) each.name = resolved(each.name, unit);
        }
      }
      out_.functions.push_back(std::move(function));
    }
  }

  std::string resolved(const std::string& name, std::uint32_t unit) const {
    const std::string key = key_of(name);
    // A file that knows of an override and still names the function means that one: Base::forward().
    const std::vector<std::string>& known = modules_[unit].overridden;
    const bool meant = std::find(known.begin(), known.end(), key) != known.end();
    if (key == name && !meant && overridden_.contains(key)) return key + std::string(kOverridden);
    return name.substr(0, name.size() - key.size()) + in_file(key, unit);
  }

  std::string in_file(const std::string& key, std::uint32_t unit) const {
    const auto found = by_key_.find(key);
    if (found == by_key_.end() || found->second.variants < 2) return key;
    const Instance* own = found->second.in(unit);
    return own ? name_of(key, found->second, own->variant) : key;
  }

  std::vector<Module> modules_;
  Module out_;
  std::unordered_map<std::string, std::uint32_t> files_;
  std::map<std::string, Definitions> by_key_;
  std::set<std::string> overridden_;
};

}  // namespace

Module link(std::vector<Module> modules) { return Linker(std::move(modules)).run(); }

}  // namespace dtype_guard::flow
