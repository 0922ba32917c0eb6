#include "analyzer/python/installed_code.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace dtype_guard::python {

using namespace flow;

namespace {
constexpr std::size_t kMaxFunctions = 300;  // of packages, for one file of the project
constexpr int kMaxRounds = 20;              // one use leading to the next

// It has no place in the project.
void make_foreign(Function& function) {
  function.foreign = true;
  function.external = false;
  function.range = {};
  for (Block& block : function.blocks) {
    for (Instruction& each : block.instructions) {
      each.range = {};
      each.written = Written::kOther;
    }
  }
}
}  // namespace

void InstalledCode::add() {
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

void InstalledCode::index_files() {
  for (const SourceFile* file : modules_.noted_files()) {
    if (!file->is_installed || !indexed_.insert(file).second) continue;
    for (const auto& each : file->functions()) functions_.emplace(each->key, each.get());
    for (const auto& each : file->classes()) {
      classes_.emplace(each->qualified, each.get());
      for (const auto& [name, method] : each->methods) functions_.emplace(method->key, method.get());
    }
  }
}

void InstalledCode::look_for_uses() {
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

// "KEY", "attribute::NAME" or "attribute::NAME::KEY".
void InstalledCode::use(std::string_view callee) {
  if (callee.starts_with(kAttributeCall)) {
    callee.remove_prefix(kAttributeCall.size());
    const std::size_t end = callee.find("::");
    methods_.emplace(callee.substr(0, end));
    if (end == std::string_view::npos) return;
    callee.remove_prefix(end + 2);
  }
  const auto found = functions_.find(std::string(callee));
  if (found == functions_.end()) return;
  if (found->second->owner) use_class(found->second->owner->qualified);
  add_function(*found->second);
}

void InstalledCode::use_class(const std::string& name) {
  const auto found = classes_.find(name);
  if (found == classes_.end() || !used_.insert(found->second).second) return;
  FileLowering& with = unit(*found->second->file);
  take_over(with.facts_of(*found->second));
}

void InstalledCode::add_methods(const ClassDefinition& of) {
  for (const auto& [name, method] : of.methods) {
    if (methods_.contains(name)) add_function(*method);
  }
}

void InstalledCode::add_function(const FunctionDefinition& definition) {
  if (added_.size() >= kMaxFunctions || !added_.insert(&definition).second) return;
  take_over(unit(*definition.file).only(definition));
}

void InstalledCode::take_over(Module lowered) {
  for (Function& each : lowered.functions) {
    if (!present_.insert(each.key).second) continue;
    make_foreign(each);
    module_.functions.push_back(std::move(each));
  }
  for (ClassFacts& each : lowered.classes) {
    if (noted_.insert(each.name).second) module_.classes.push_back(std::move(each));
  }
}

FileLowering& InstalledCode::unit(const SourceFile& file) {
  std::unique_ptr<FileLowering>& out = units_[&file];
  if (!out) out = std::make_unique<FileLowering>(modules_, file, contracts_);
  return *out;
}

}  // namespace dtype_guard::python
