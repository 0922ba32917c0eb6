#include "analyzer/flow/program/function_index.h"

#include <algorithm>

#include "analyzer/flow/ir/registered_names.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {

std::optional<VirtualCall> virtual_call(std::string_view name) {
  if (!name.starts_with(kVirtualCall)) return std::nullopt;
  name.remove_prefix(kVirtualCall.size());
  const std::size_t split = name.find("::");
  if (split == std::string_view::npos) return VirtualCall{name, {}};
  return VirtualCall{name.substr(0, split), name.substr(split + 2)};
}

std::string_view method_name(const Function& function) {
  const std::string_view name = function.name;
  const std::size_t scope = name.rfind("::");
  if (scope != std::string_view::npos) return name.substr(scope + 2);
  const std::size_t dot = name.rfind('.');
  return name.substr(dot == std::string_view::npos ? 0 : dot + 1);
}

FunctionIndex::FunctionIndex(const Module& module)
    : module_(&module),
      tables_(std::make_shared<Tables>()),
      infos_(module.functions.size()),
      effects_(module.functions.size()),
      callees_(module.functions.size()) {
  Tables& out = *tables_;
  for (const ClassFacts& each : module.classes) out.classes[each.name] = &each;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const Function& function = module.functions[i];
    const auto id = static_cast<std::uint32_t>(i);
    if (function.blocks.empty()) continue;
    out.by_key[function.key].push_back(id);
    if (is_registered_operator(function.key)) out.registered[function.key].push_back(id);
    if (function.kind == FunctionKind::kMethod) {
      const std::string name(method_name(function));
      const bool scoped = function.name.find("::") != std::string::npos;
      out.methods[scoped ? function.name : function.class_name + "::" + name].push_back(id);
      out.methods_of_any_class[name].push_back(id);
      out.methods_in_file[function.range.file][name].push_back(id);
    }
    if (function.kind == FunctionKind::kConstructor) out.constructors[function.class_name].push_back(id);
  }
}

FunctionIndex::FunctionIndex(const FunctionIndex& before, const std::vector<std::uint32_t>& bodies)
    : module_(before.module_),
      tables_(before.tables_),
      infos_(before.infos_, bodies),
      effects_(before.effects_, bodies),
      callees_(before.callees_, bodies) {
  bool all_by_key = true;
  for (const std::uint32_t each : bodies) {
    const std::vector<std::uint32_t>& known = find(function(each).key);
    all_by_key = all_by_key && (function(each).blocks.empty() ||
                                std::find(known.begin(), known.end(), each) != known.end());
  }
  if (all_by_key) return;
  // A key may say where a definition stands, which is lower now; who calls it says so as well.
  tables_->by_key.clear();
  tables_->may_run.clear();
  tables_->may_run_in_file.clear();
  for (std::uint32_t i = 0; i < module_->functions.size(); ++i) {
    if (!function(i).blocks.empty()) tables_->by_key[function(i).key].push_back(i);
  }
}

const FunctionInfo& FunctionIndex::info(std::uint32_t id) const {
  return infos_.of(id, [&] { return FunctionInfo(function(id)); });
}

const FunctionEffects& FunctionIndex::effects(std::uint32_t id) const {
  return effects_.of(id, [&] { return FunctionEffects(function(id), info(id)); });
}

namespace {
template <class Index>
const std::vector<std::uint32_t>& look_up(const Index& index, std::string_view key) {
  static const std::vector<std::uint32_t> none;
  const auto found = index.find(key);
  return found == index.end() ? none : found->second;
}
}  // namespace

const std::vector<std::uint32_t>& FunctionIndex::methods_of_any_class(std::string_view name) const {
  return look_up(tables_->methods_of_any_class, name);
}

const std::vector<std::uint32_t>& FunctionIndex::find(std::string_view key) const {
  return look_up(tables_->by_key, key);
}

namespace {
bool is_seen_by(const Function& function, std::uint32_t unit) {
  const std::vector<std::uint32_t>& units = units_of(function);
  return std::binary_search(units.begin(), units.end(), unit);
}
}  // namespace

std::vector<std::uint32_t> FunctionIndex::methods(std::string_view name, std::size_t parameters,
                                                  std::uint32_t unit) const {
  std::vector<std::uint32_t> all, here;
  for (const std::uint32_t each : look_up(tables_->methods, name)) {
    if (parameters != kAnyNumber && function(each).parameters.size() != parameters) continue;
    all.push_back(each);
    if (is_seen_by(function(each), unit)) here.push_back(each);
  }
  return here.empty() ? all : here;
}

const ClassFacts* FunctionIndex::class_facts(std::string_view name) const {
  const auto found = tables_->classes.find(name);
  return found == tables_->classes.end() ? nullptr : found->second;
}

const std::vector<std::uint32_t>& FunctionIndex::may_run(const Instruction& instruction) const {
  static const std::vector<std::uint32_t> none;
  if (instruction.op != Op::kCall && instruction.op != Op::kClosure) return none;
  if (is_registered_operator(instruction.name)) return registered_callees(instruction.name);
  if (instruction.name.starts_with(kAttributeCall)) return attribute_callees(instruction);
  const std::optional<VirtualCall> call = virtual_call(instruction.name);
  return call ? virtual_callees(instruction.name, *call) : find(instruction.name);
}

const std::vector<std::uint32_t>& FunctionIndex::registered_callees(const std::string& name) const {
  const auto [known, fresh] = tables_->may_run.try_emplace(name);
  std::vector<std::uint32_t>& out = known->second;
  if (!fresh) return out;
  const std::string any_key = name + "@";
  for (auto each = tables_->registered.lower_bound(any_key);
       each != tables_->registered.end() && each->first.starts_with(any_key); ++each)
    out.insert(out.end(), each->second.begin(), each->second.end());
  return out;
}

const std::vector<std::uint32_t>& FunctionIndex::virtual_callees(const std::string& name,
                                                                 const VirtualCall& call) const {
  const auto [known, fresh] = tables_->may_run.try_emplace(name);
  std::vector<std::uint32_t>& out = known->second;
  if (!fresh) return out;
  out = look_up(tables_->methods_of_any_class, call.method);
  const std::vector<std::uint32_t>& own = find(call.key);
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

// Methods of that name, those of the same file where there are many.
const std::vector<std::uint32_t>& FunctionIndex::attribute_callees(const Instruction& instruction) const {
  constexpr std::size_t kMany = 32;
  const std::uint32_t file = instruction.range.file;
  if (const auto known = tables_->may_run.find(instruction.name); known != tables_->may_run.end())
    return known->second;
  if (const auto in_file = tables_->may_run_in_file.find(file); in_file != tables_->may_run_in_file.end()) {
    const auto known = in_file->second.find(instruction.name);
    if (known != in_file->second.end()) return known->second;
  }
  std::string_view name = std::string_view(instruction.name).substr(kAttributeCall.size());
  const std::size_t split = name.find("::");
  const std::string_view key = split == std::string_view::npos ? std::string_view() : name.substr(split + 2);
  name = name.substr(0, split);
  const bool of_object = is_named(Named::kCallOfObject, name);
  const std::string_view method = of_object ? name_of(Named::kForward) : name;
  const std::vector<std::uint32_t>& all = look_up(tables_->methods_of_any_class, method);
  std::vector<std::uint32_t> out = find(key);
  if (of_object) {  // of no module
    const std::vector<std::uint32_t>& plain = look_up(tables_->methods_of_any_class, name);
    if (plain.size() < kMany) out.insert(out.end(), plain.begin(), plain.end());
  }
  if (all.size() < kMany) {
    out.insert(out.end(), all.begin(), all.end());
    return tables_->may_run.emplace(instruction.name, std::move(out)).first->second;
  }
  const auto here = tables_->methods_in_file.find(file);
  if (here != tables_->methods_in_file.end()) {
    const std::vector<std::uint32_t>& own = look_up(here->second, method);
    out.insert(out.end(), own.begin(), own.end());
  }
  return tables_->may_run_in_file[file].emplace(instruction.name, std::move(out)).first->second;
}

namespace {
// A constant has no methods of the project, nor has what is not known at all: what other code imports.
bool is_called_of_constant(const Instruction& call, const FunctionInfo& info) {
  const bool by_attribute = call.op == Op::kCall && call.name.starts_with(kAttributeCall);
  if (!by_attribute || call.args.empty() || call.name.find("::", kAttributeCall.size()) != std::string::npos)
    return false;
  const Instruction* receiver = info.definition(call.args.front().value);
  return receiver && receiver->op == Op::kConst;
}
}  // namespace

const std::vector<std::uint32_t>& FunctionIndex::callees(std::uint32_t function) const {
  return callees_.of(function, [&] { return find_callees(function); });
}

std::vector<std::uint32_t> FunctionIndex::find_callees(std::uint32_t function) const {
  std::vector<std::uint32_t> all;
  // What a constructor of Python calls by a value, as in `norm_layer(dim)`, makes a part; it runs none.
  const bool makes = this->function(function).kind == FunctionKind::kConstructor;
  const std::string run = std::string(kAttributeCall).append(name_of(Named::kCallOfObject));
  for (const Instruction* each : effects(function).runs) {
    if (makes && each->op == Op::kCall && each->name == run) continue;
    const std::vector<std::uint32_t>& found = may_run(*each);
    if (found.empty() || is_called_of_constant(*each, info(function))) continue;
    all.insert(all.end(), found.begin(), found.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<std::uint32_t> FunctionIndex::callees_by_key(std::uint32_t function) const {
  std::vector<std::uint32_t> out;
  for (const Instruction* each : effects(function).runs) {
    std::string_view name = each->name;
    const bool by_attribute = each->op == Op::kCall && name.starts_with(kAttributeCall);
    if (by_attribute) name.remove_prefix(kAttributeCall.size());
    const std::size_t split = by_attribute ? name.find("::") : std::string_view::npos;
    if (by_attribute && split == std::string_view::npos) continue;
    const std::vector<std::uint32_t>& found = by_attribute ? find(name.substr(split + 2)) : may_run(*each);
    out.insert(out.end(), found.begin(), found.end());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::set<std::uint32_t> FunctionIndex::reached_from(std::uint32_t function) const {
  std::set<std::uint32_t> seen = {function};
  std::vector<std::uint32_t> work = {function};
  while (!work.empty()) {
    const std::uint32_t next = work.back();
    work.pop_back();
    for (const std::uint32_t callee : callees(next)) {
      if (seen.insert(callee).second) work.push_back(callee);
    }
  }
  return seen;
}

std::vector<std::uint32_t> FunctionIndex::constructors(std::string_view class_name,
                                                       std::uint32_t unit) const {
  const std::vector<std::uint32_t>& all = look_up(tables_->constructors, class_name);
  std::vector<std::uint32_t> here;
  std::copy_if(all.begin(), all.end(), std::back_inserter(here),
               [&](std::uint32_t each) { return is_seen_by(function(each), unit); });
  if (!here.empty() || all.empty()) return here;
  // Two programs may each have a class of that name; constructors that no file has together may be such.
  const std::vector<std::uint32_t>& files = units_of(function(all.front()));
  const bool one_class = std::any_of(files.begin(), files.end(), [&](std::uint32_t file) {
    return std::all_of(all.begin(), all.end(),
                       [&](std::uint32_t each) { return is_seen_by(function(each), file); });
  });
  return one_class ? all : here;
}

}  // namespace dtype_guard::flow
