#include "analyzer/flow/root_memo.h"

#include <algorithm>
#include <utility>

namespace dtype_guard::flow {

namespace {

bool same(const SourceLocation& a, const SourceLocation& b) {
  return std::tie(a.file, a.line, a.column, a.end_line, a.end_column) ==
         std::tie(b.file, b.line, b.column, b.end_line, b.end_column);
}

bool same(const Finding& a, const Finding& b) {
  const auto same_step = [](const PathStep& x, const PathStep& y) { return same(x.location, y.location); };
  const auto same_sink = [](const Sink& x, const Sink& y) {
    return x.role == y.role && same(x.location, y.location);
  };
  return a.rule == b.rule && a.message == b.message && same(a.location, b.location) &&
         a.fingerprint == b.fingerprint && a.precision == b.precision &&
         std::equal(a.path.begin(), a.path.end(), b.path.begin(), b.path.end(), same_step) &&
         std::equal(a.sinks.begin(), a.sinks.end(), b.sinks.begin(), b.sinks.end(), same_sink);
}

}  // namespace

std::string RootMemo::name_of(const Module& module, std::uint32_t root) {
  const Function& function = module.functions[root];
  const bool has_file = function.range.file < module.files.size();
  return function.key + '@' + (has_file ? module.files[function.range.file] : "") + ':' +
         std::to_string(function.range.line);
}

void RootMemo::forget(const std::set<std::string>& roots) {
  for (auto& [how, kept] : kept_)
    std::erase_if(kept, [&](const auto& each) { return roots.contains(each.first); });
}

void RootMemo::forget_that_ran(const std::vector<std::uint32_t>& functions) {
  const auto ran_one = [&](const KeptRoot& root) {
    return root.ran && std::any_of(functions.begin(), functions.end(),
                                   [&](std::uint32_t function) { return root.ran->contains(function); });
  };
  for (auto& [how, kept] : kept_) std::erase_if(kept, [&](const auto& each) { return ran_one(each.second); });
}

bool RootMemo::knows_what_ran() const {
  return std::all_of(kept_.begin(), kept_.end(), [](const auto& of) {
    return std::all_of(of.second.begin(), of.second.end(),
                       [](const auto& each) { return each.second.ran.has_value(); });
  });
}

void RootMemo::forget_what_ran() {
  for (auto& [how, kept] : kept_) {
    for (auto& [name, root] : kept) root.ran.reset();
  }
}

std::vector<Finding*> RootMemo::take_over_fixes(const std::string& variant, std::vector<Finding>& now) {
  std::vector<Finding*> others = flow::take_over_fixes(offered_[variant], changed_, now);
  if (!searches_fixes_) lacks_fixes_ = lacks_fixes_ || !others.empty();
  return others;
}

void RootMemo::keep_fixes(const std::string& variant, const std::vector<Finding>& found) {
  offered_[variant] = found;
  lacks_fixes_ = false;
}

void RootMemo::end_search() {
  if (searches_fixes_) changed_.clear();
}

std::vector<Finding*> take_over_fixes(const std::vector<Finding>& before,
                                      const std::set<std::string>& changed, std::vector<Finding>& now) {
  std::vector<Finding*> others;
  for (Finding& each : now) {
    const bool touches_changed =
        changed.contains(each.location.file) ||
        std::any_of(each.path.begin(), each.path.end(),
                    [&](const PathStep& step) { return changed.contains(step.location.file); }) ||
        std::any_of(each.sinks.begin(), each.sinks.end(),
                    [&](const Sink& sink) { return changed.contains(sink.location.file); });
    const auto known = touches_changed
                           ? before.end()
                           : std::find_if(before.begin(), before.end(),
                                          [&](const Finding& other) { return same(each, other); });
    if (known == before.end()) {
      others.push_back(&each);
    } else {
      each.fixes = known->fixes;
    }
  }
  return others;
}

}  // namespace dtype_guard::flow
