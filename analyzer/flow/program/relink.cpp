#include "analyzer/flow/program/relink.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzer/flow/ir/registered_names.h"
#include "analyzer/flow/program/function_index.h"
#include "analyzer/flow/program/link.h"

namespace dtype_guard::flow {
namespace {

class Relinker {
 public:
  Relinker(Module& linked, const std::vector<const Module*>& modules, std::uint32_t number,
           const Module& before)
      : linked_(linked), modules_(modules), number_(number), before_(before), now_(*modules[number]) {}

  Relinked run() {
    if (before_.files != now_.files || before_.overridden != now_.overridden || shares_names()) return {};
    for (std::uint32_t i = 0; i < linked_.files.size(); ++i) files_.emplace(linked_.files[i], i);
    Module alone = now_;
    // Of several files' overrides all are known only together.
    alone.overridden.clear();
    std::vector<Module> modules;
    modules.push_back(std::move(alone));
    Module fresh = link(std::move(modules));
    Relinked out{true, replace_functions(std::move(fresh.functions))};
    if (before_.classes != now_.classes) {
      out.bodies.reset();
      replace_classes(std::move(fresh.classes));
    }
    if (before_.not_lowered != now_.not_lowered) list_not_lowered();
    return out;
  }

 private:
  // What another module has as well is both modules' together. What is this one's alone is called by its own
  // name before and after.
  bool shares_names() const {
    std::unordered_set<std::string_view> keys, classes;
    for (const Module* each : {&before_, &now_}) {
      for (const Function& function : each->functions) {
        if (!function.blocks.empty()) keys.insert(function.key);
      }
      for (const ClassFacts& facts : each->classes) classes.insert(facts.name);
    }
    const auto shares = [&](const Module* each) {
      const auto has_key = [&](const Function& other) {
        return !other.blocks.empty() && keys.contains(other.key);
      };
      const auto has_name = [&](const ClassFacts& other) { return classes.contains(other.name); };
      return std::any_of(each->functions.begin(), each->functions.end(), has_key) ||
             std::any_of(each->classes.begin(), each->classes.end(), has_name);
    };
    const auto own = modules_.begin() + number_;
    return std::any_of(modules_.begin(), own, shares) || std::any_of(own + 1, modules_.end(), shares);
  }

  // Functions stand by the first module that has them.
  std::optional<std::vector<std::uint32_t>> replace_functions(std::vector<Function> fresh) {
    const std::vector<std::uint32_t> ids = ids_of(now_);
    for (Function& function : fresh) {
      function.units = {number_};
      adopt(function.range, ids);
      for (Block& block : function.blocks) {
        for (Instruction& each : block.instructions) {
          adopt(each.range, ids);
          resolve(each);
        }
      }
    }
    const auto is_before = [](const Function& each, std::uint32_t unit) {
      return units_of(each).front() < unit;
    };
    const auto begin =
        std::lower_bound(linked_.functions.begin(), linked_.functions.end(), number_, is_before);
    const auto end = std::lower_bound(begin, linked_.functions.end(), number_ + 1, is_before);
    if (std::equal(begin, end, fresh.begin(), fresh.end(), has_same_place)) {
      std::vector<std::uint32_t> bodies;
      for (auto each = begin; each != end; ++each) {
        Function& now = fresh[static_cast<std::size_t>(each - begin)];
        if (*each == now) continue;
        *each = std::move(now);
        bodies.push_back(static_cast<std::uint32_t>(each - linked_.functions.begin()));
      }
      return bodies;
    }
    std::vector<Function> out;
    out.reserve(linked_.functions.size() + fresh.size());
    std::move(linked_.functions.begin(), begin, std::back_inserter(out));
    std::move(fresh.begin(), fresh.end(), std::back_inserter(out));
    std::move(end, linked_.functions.end(), std::back_inserter(out));
    linked_.functions = std::move(out);
    return std::nullopt;
  }

  // Whether an index by names finds the one where it finds the other; by its key too, once that is entered.
  static bool has_same_place(const Function& a, const Function& b) {
    const auto names = [](const Function& each) {
      return std::tie(each.name, each.class_name, each.kind, each.range.file);
    };
    return names(a) == names(b) && a.blocks.empty() == b.blocks.empty() && !is_registered_operator(a.key) &&
           !is_registered_operator(b.key);
  }

  // A call of what another file overrides is of what is not known, as in link().
  void resolve(Instruction& instruction) const {
    if (instruction.op != Op::kCall && instruction.op != Op::kClosure) return;
    if (instruction.name.empty() || virtual_call(instruction.name)) return;
    const auto holds = [&](const std::vector<std::string>& keys) {
      return std::find(keys.begin(), keys.end(), instruction.name) != keys.end();
    };
    if (!linked_.overridden.empty() && holds(linked_.overridden) && !holds(now_.overridden))
      instruction.name += kOverridden;
  }

  void replace_classes(std::vector<ClassFacts> fresh) {
    std::unordered_set<std::string_view> gone;
    for (const ClassFacts& each : before_.classes) gone.insert(each.name);
    std::erase_if(linked_.classes, [&](const ClassFacts& each) { return gone.contains(each.name); });
    std::vector<ClassFacts> out;
    out.reserve(linked_.classes.size() + fresh.size());
    std::merge(std::make_move_iterator(linked_.classes.begin()),
               std::make_move_iterator(linked_.classes.end()), std::make_move_iterator(fresh.begin()),
               std::make_move_iterator(fresh.end()), std::back_inserter(out),
               [](const auto& a, const auto& b) { return a.name < b.name; });
    linked_.classes = std::move(out);
  }

  void list_not_lowered() {
    using Entry = std::tuple<std::string_view, std::string_view, std::uint32_t, int, int, int, int>;
    std::set<Entry> seen;
    std::vector<NotLowered> out;
    for (const Module* module : modules_) {
      if (module->not_lowered.empty()) continue;
      const std::vector<std::uint32_t> ids = ids_of(*module);
      for (const NotLowered& each : module->not_lowered) {
        SourceRange range = each.range;
        adopt(range, ids);
        const Entry entry(each.function, each.reason, range.file, range.line, range.column, range.end_line,
                          range.end_column);
        if (seen.insert(entry).second) out.push_back({each.function, each.reason, range});
      }
    }
    linked_.not_lowered = std::move(out);
  }

  std::vector<std::uint32_t> ids_of(const Module& module) const {
    std::vector<std::uint32_t> out;
    for (const std::string& name : module.files) out.push_back(files_.at(name));
    return out;
  }
  static void adopt(SourceRange& range, const std::vector<std::uint32_t>& ids) {
    range.file = range.line > 0 && range.file < ids.size() ? ids[range.file] : 0;
  }

  Module& linked_;
  const std::vector<const Module*>& modules_;
  std::uint32_t number_;
  const Module &before_, &now_;
  std::unordered_map<std::string_view, std::uint32_t> files_;
};

}  // namespace

Relinked relink(Module& linked, const std::vector<const Module*>& modules, std::uint32_t number,
                const Module& before) {
  return Relinker(linked, modules, number, before).run();
}

}  // namespace dtype_guard::flow
