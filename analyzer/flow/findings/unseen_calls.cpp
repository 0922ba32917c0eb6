#include "analyzer/flow/findings/unseen_calls.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "analyzer/flow/ir/mnemonics.h"
#include "rules/operators/library_names.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

namespace {

int depth_of(char c) {
  return c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
}

bool is_cut(std::string_view text) {
  return std::accumulate(text.begin(), text.end(), 0, [](int sum, char c) { return sum + depth_of(c); }) > 0;
}

// Before the parentheses of the outermost call that ends the text; of one that was cut, of the first. What
// is read of a call, as a part of what it gives, is none.
std::string_view callee_text(std::string_view text) {
  if (!text.ends_with(')')) return is_cut(text) ? text.substr(0, text.find('(')) : std::string_view();
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
    if (depth == 0) return text.substr(0, i);
  }
  return {};
}

// A statement or a list is no callee, whatever calls stand in it.
bool is_one_expression(std::string_view callee) {
  int depth = 0;
  const bool is_one = std::all_of(callee.begin(), callee.end(), [&](char c) {
    depth += depth_of(c);
    return depth > 0 || (c != ' ' && c != ',' && c != '=' && c != ';');
  });
  return is_one && depth == 0;
}

// Takes the last name off.
std::string_view last_name(std::string_view& callee) {
  while (!callee.empty() && callee.back() == ' ') callee.remove_suffix(1);
  std::size_t begin = callee.size();
  while (begin > 0 && is_word_part(callee[begin - 1])) --begin;
  const std::string_view name = callee.substr(begin);
  callee.remove_suffix(name.size());
  while (!callee.empty() && !is_word_part(callee.back()) && callee.back() != ')' && callee.back() != ']')
    callee.remove_suffix(1);
  return name;
}

constexpr std::string_view kUnseen = "?";  // begins the name of a function that has no source

bool is_dotted(std::string_view name) { return name.find('.') != std::string_view::npos; }

}  // namespace

std::string_view name_called(std::string_view text) {
  std::string_view callee = callee_text(text);
  if (callee.size() == text.size() || !is_one_expression(callee)) return {};
  const std::string_view name = last_name(callee);
  const bool runs = is_named(Named::kRun, name);
  return runs && !callee.empty() ? last_name(callee) : name;
}

void UnseenCalls::note(const FollowedCalls& calls) {
  calls_.followed.insert(calls.followed.begin(), calls.followed.end());
  calls_.lost.insert(calls.lost.begin(), calls.lost.end());
}

// Whether nothing of what it calls is known: where the evaluation came to it by that, else by its name.
bool UnseenCalls::is_lost(const Instruction& call) const {
  if (call.op == Op::kOperator) return !find_operator(call.name);
  if (call.op != Op::kCall) return false;
  if (calls_.followed.contains(&call)) return false;
  const bool lost = calls_.lost.contains(&call);
  if (call.name.empty()) return lost;
  if (call.name.starts_with(kAttributeCall)) return lost;
  if (call.name.starts_with(kVirtualCall)) return lost && index_.may_run(call).empty();
  return index_.may_run(call).empty();
}

// A value that is called, in a file that has attention of its own: it may be that, which is evaluated by
// itself.
bool UnseenCalls::may_be_own(const Instruction& call) const {
  const bool by_value = call.name.empty() || call.name.starts_with(kAttributeCall);
  if (call.op != Op::kCall || !by_value) return false;
  if (!files_with_own_) {
    files_with_own_.emplace();
    for (const Function& each : index_.module().functions) {
      const std::string_view method = method_name(each);
      const bool runs = is_named(Named::kRunAsCall, method);
      const std::string_view name =
          runs ? std::string_view(each.class_name).substr(each.class_name.find_last_of(".:") + 1) : method;
      if (!each.foreign && is_named_like_attention(name)) files_with_own_->insert(each.range.file);
    }
  }
  return files_with_own_->contains(call.range.file);
}

// Fields that hold what a library gave.
void UnseenCalls::look_for_makers() const {
  looked_ = true;
  for (const Function& function : index_.module().functions) {
    std::map<ValueId, const Instruction*> made;
    for (const Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.op == Op::kCall && each.name.starts_with(kUnseen) && is_dotted(each.name))
          made[each.result] = &each;
        if (each.op != Op::kRegister || each.args.size() < 2) continue;
        const auto from = made.find(each.args[1].value);
        const auto* field = std::get_if<std::string>(&each.constant);
        if (from != made.end() && field) libraries_.emplace(*field, from->second->name.substr(1));
      }
    }
  }
}

// The dotted name of what is called there or, for what a field holds, of what made that; else empty.
std::string UnseenCalls::library_of(const Instruction& call, const Function& function) const {
  if (call.op == Op::kCall && call.name.starts_with(kUnseen))
    return is_dotted(call.name) ? call.name.substr(1) : "";
  if (!call.name.starts_with(kAttributeCall) || call.args.empty()) return "";
  if (!looked_) look_for_makers();
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      if (each.result != call.args[0].value || each.op != Op::kLoad) continue;
      const std::string* field = each.place.last_field();
      const auto found = field ? libraries_.find(*field) : libraries_.end();
      return found == libraries_.end() ? "" : found->second;
    }
  }
  return "";
}

// Few functions call anything by one of the names.
bool UnseenCalls::may_have_some(const Function& function) const {
  return std::any_of(function.blocks.begin(), function.blocks.end(), [&](const Block& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(), [&](const Instruction& each) {
      const bool calls = each.op == Op::kCall || each.op == Op::kOperator;
      return calls && names_.contains(name_called(each.text));
    });
  });
}

void UnseenCalls::look_at(std::uint32_t id, const std::map<std::uint32_t, std::string>& given_up,
                          std::vector<UnseenCall>& out) const {
  const Function& function = index_.function(id);
  if (!may_have_some(function)) return;
  using Key = std::tuple<int, int, int, int>;
  std::map<Key, std::pair<const Instruction*, bool>> at;  // what is lost there, and whether something is not
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      const SourceRange& range = each.range;
      if (range.line <= 0) continue;
      auto& [lost, known] = at[{range.line, range.column, range.end_line, range.end_column}];
      const bool known_operator = each.op == Op::kOperator && find_operator(each.name);
      const bool runs = each.op == Op::kCall && calls_.followed.contains(&each);
      known = known || known_operator || runs || each.op == Op::kSink || each.op == Op::kObject ||
              each.op == Op::kModule || each.op == Op::kClosure;
      if (!lost && is_lost(each)) lost = &each;
    }
  }
  for (const auto& [key, here] : at) {
    const auto& [lost, known] = here;
    if (!lost || known || may_be_own(*lost)) continue;
    const std::string_view name = name_called(lost->text);
    if (!names_.contains(name)) continue;
    UnseenCall call{std::string(name), function.name, lost->range, UnseenCall::Cause::kUnknown, ""};
    const auto over = given_up.find(id);
    if (const std::string library = library_of(*lost, function); !library.empty()) {
      call.cause = UnseenCall::Cause::kLibrary;
      call.detail = library.substr(0, library.find('.'));
    } else if (over != given_up.end()) {
      call.cause = UnseenCall::Cause::kBudget;
      call.detail = over->second;
    }
    out.push_back(std::move(call));
  }
}

std::vector<UnseenCall> UnseenCalls::list(const std::map<std::uint32_t, std::string>& given_up) const {
  std::vector<UnseenCall> out;
  for (std::uint32_t id = 0; id < index_.module().functions.size(); ++id) {
    const Function& function = index_.function(id);
    if (!function.foreign && !function.blocks.empty()) look_at(id, given_up, out);
  }
  const auto order = [](const UnseenCall& each) {
    return std::tie(each.range.file, each.range.line, each.range.column, each.name);
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const UnseenCall& a, const UnseenCall& b) { return order(a) < order(b); });
  // Instantiations of one template are one call.
  out.erase(std::unique(out.begin(), out.end(),
                        [&](const UnseenCall& a, const UnseenCall& b) { return order(a) == order(b); }),
            out.end());
  return out;
}

}  // namespace dtype_guard::flow
