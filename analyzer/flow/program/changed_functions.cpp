#include "analyzer/flow/program/changed_functions.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

namespace {

using ByKey = std::unordered_map<std::string_view, const Function*>;

// Of several of one key the first counts, as for the linker.
ByKey by_key(const Module& module) {
  ByKey out;
  for (const Function& each : module.functions) out.try_emplace(each.key, &each);
  return out;
}

// A linked definition that differs from other files' has a number behind its key.
std::string_view own_key(std::string_view linked) { return linked.substr(0, linked.rfind('#')); }

}  // namespace

bool ChangedFunctions::OfFile::has(const Function& function) const {
  return all || keys.contains(function.key) || keys.contains(own_key(function.key)) ||
         (!function.class_name.empty() && classes.contains(function.class_name));
}

void ChangedFunctions::add(const std::string& source, const Module& before, const Module& now) {
  OfFile& file = files_[source];
  // What is known of a class bears on functions that are as they were.
  file.all = file.all || before.files != now.files || before.classes != now.classes ||
             before.overridden != now.overridden;
  if (file.all) return;
  // A key may say where a definition stands.
  const auto has_same_name = [](const Function& a, const Function& b) {
    return a.name == b.name && a.class_name == b.class_name && a.kind == b.kind;
  };
  file.keeps_functions =
      file.keeps_functions && std::equal(before.functions.begin(), before.functions.end(),
                                         now.functions.begin(), now.functions.end(), has_same_name);
  const auto note = [&](const Function& each) {
    file.keys.insert(each.key);
    if (!each.class_name.empty()) file.classes.insert(each.class_name);
  };
  const ByKey old = by_key(before), fresh = by_key(now);
  for (const auto& [key, function] : fresh) {
    const auto known = old.find(key);
    if (known == old.end() || *known->second != *function) note(*function);
  }
  for (const auto& [key, function] : old) {
    if (!fresh.contains(key)) note(*function);
  }
}

bool ChangedFunctions::are_bodies() const {
  return std::all_of(files_.begin(), files_.end(),
                     [](const auto& each) { return !each.second.all && each.second.keeps_functions; });
}

std::vector<std::uint32_t> ChangedFunctions::in(const Module& linked,
                                                const std::vector<std::string>& sources) const {
  std::vector<const OfFile*> by_unit;
  for (const std::string& each : sources) {
    const auto file = files_.find(each);
    by_unit.push_back(file == files_.end() ? nullptr : &file->second);
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < linked.functions.size(); ++i) {
    const Function& function = linked.functions[i];
    const std::vector<std::uint32_t>& units = units_of(function);
    const bool is_changed = std::any_of(units.begin(), units.end(), [&](std::uint32_t unit) {
      return unit < by_unit.size() && by_unit[unit] && by_unit[unit]->has(function);
    });
    if (is_changed) out.push_back(i);
  }
  return out;
}

}  // namespace dtype_guard::flow
