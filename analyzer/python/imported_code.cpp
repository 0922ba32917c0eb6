#include "analyzer/python/imported_code.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr std::size_t kMaxFunctions = 600;  // for one file of the run
constexpr int kMaxRounds = 20;              // one use leading to the next

void take_place(Function& function) {
  function.range = {};
  for (Block& block : function.blocks) {
    for (Instruction& each : block.instructions) {
      each.range = {};
      each.written = Written::kOther;
    }
  }
}

void put_into(Function& function, std::uint32_t file) {
  function.range.file = file;
  for (Block& block : function.blocks) {
    for (Instruction& each : block.instructions) each.range.file = file;
  }
}
}  // namespace

void ImportedCode::add() {
  for (int round = 0; round < kMaxRounds; ++round) {
    index_files();
    if (functions_.empty() && classes_.empty()) return;
    const std::size_t before = module_.functions.size() + module_.classes.size();
    look_for_uses();
    for (const ClassDefinition* each : std::vector(used_.begin(), used_.end())) add_methods(*each);
    if (module_.functions.size() + module_.classes.size() == before) break;
  }
  std::sort(module_.classes.begin(), module_.classes.end(),
            [](const ClassFacts& a, const ClassFacts& b) { return a.name < b.name; });
}

// It brings its code into the program itself.
bool ImportedCode::is_looked_at(const SourceFile& file) const {
  const std::optional<std::set<std::string>>& all = modules_.options().looked_at;
  return !file.is_installed && (!all || all->contains(file.path()));
}

void ImportedCode::index_files() {
  for (const SourceFile* file : modules_.noted_files()) {
    if (is_looked_at(*file) || !indexed_.insert(file).second) continue;
    for (const auto& each : file->functions()) functions_.emplace(each->key, each.get());
    for (const auto& each : file->classes()) {
      classes_.emplace(each->qualified, each.get());
      for (const auto& [name, method] : each->methods) functions_.emplace(method->key, method.get());
    }
  }
}

void ImportedCode::look_for_uses() {
  for (; functions_seen_ < module_.functions.size(); ++functions_seen_) {
    present_.insert(module_.functions[functions_seen_].key);
    for (const Parameter& each : std::vector(module_.functions[functions_seen_].parameters))
      if (each.kind == ParameterKind::kObject) use_class(each.type);
    std::vector<std::pair<Op, std::string>> uses;
    for (const Block& block : module_.functions[functions_seen_].blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.op == Op::kCall || each.op == Op::kClosure || each.op == Op::kObject)
          uses.emplace_back(each.op, each.name);
      }
    }
    for (const auto& [op, name] : uses) {
      if (op == Op::kObject) {
        use_class(name);
      } else {
        use(name);
      }
    }
  }
  for (; classes_seen_ < module_.classes.size(); ++classes_seen_) {
    noted_.insert(module_.classes[classes_seen_].name);
    for (const std::string& each : std::vector(module_.classes[classes_seen_].bases)) use_class(each);
  }
}

void ImportedCode::use(std::string_view callee) {
  if (callee.starts_with(kAttributeCall)) {
    const std::string_view name = callee.substr(kAttributeCall.size());
    methods_.emplace(name.substr(0, name.find("::")));
  }
  const auto found = functions_.find(std::string(named_function(callee)));
  if (found == functions_.end()) return;
  if (found->second->owner) use_class(found->second->owner->qualified);
  add_function(*found->second);
}

void ImportedCode::use_class(const std::string& name) {
  const auto found = classes_.find(name);
  if (found == classes_.end() || !used_.insert(found->second).second) return;
  const SourceFile& file = *found->second->file;
  take_over(reach_.unit(file).facts_of(*found->second), file);
}

void ImportedCode::add_methods(const ClassDefinition& of) {
  for (const auto& [name, method] : of.methods) {
    if (methods_.contains(name)) add_function(*method);
  }
}

void ImportedCode::add_function(const FunctionDefinition& definition) {
  if (added_.size() >= kMaxFunctions || !added_.insert(&definition).second) return;
  if (definition.file->is_installed || reach_.is_worth_evaluating(definition))
    take_over(reach_.lowered(definition), *definition.file);
}

// Its place in the list of files that the module's ranges name.
std::uint32_t ImportedCode::number(const SourceFile& file) {
  const auto found = std::find(module_.files.begin(), module_.files.end(), file.tree().name());
  const auto out = static_cast<std::uint32_t>(found - module_.files.begin());
  if (found == module_.files.end()) module_.files.push_back(file.tree().name());
  return out;
}

void ImportedCode::take_over(Module lowered, const SourceFile& from) {
  for (Function& each : lowered.functions) {
    if (!present_.insert(each.key).second) continue;
    each.foreign = true;
    each.external = false;
    if (from.is_installed) {
      take_place(each);
    } else {
      put_into(each, number(from));
    }
    module_.functions.push_back(std::move(each));
  }
  for (ClassFacts& each : lowered.classes) {
    if (noted_.insert(each.name).second) module_.classes.push_back(std::move(each));
  }
}

}  // namespace dtype_guard::python
