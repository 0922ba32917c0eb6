#include "analyzer/flow/findings/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>

#include "analyzer/flow/findings/messages.h"
#include "rules/catalog/catalog.h"

namespace dtype_guard::flow {
namespace {

constexpr const char* kVersionDependent = "version-dependent-dtype";

std::string text_of(Dtype dtype) {
  return dtype == Dtype::kUndefined ? std::string() : std::string(name(dtype));
}

bool contains(const SourceLocation& outer, const SourceLocation& inner) {
  return std::tie(outer.line, outer.column) <= std::tie(inner.line, inner.column) &&
         std::tie(inner.end_line, inner.end_column) <= std::tie(outer.end_line, outer.end_column);
}

// Operators on one line whose result is one expression are one instruction.
bool same_expression(const SourceLocation& a, const SourceLocation& b) {
  return a.file == b.file && a.function == b.function && a.line == b.line &&
         (contains(a, b) || contains(b, a));
}

bool same_sink(const Sink& a, const Sink& b) {
  return a.api == b.api && a.role == b.role && a.location.file == b.location.file &&
         a.location.line == b.location.line && a.location.column == b.location.column &&
         a.location.function == b.location.function;
}

std::string without_blanks(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c); }),
             text.end());
  return text;
}

bool same_place(const SourceLocation& a, const SourceLocation& b) {
  return std::tie(a.file, a.line, a.column, a.end_line, a.end_column) ==
         std::tie(b.file, b.line, b.column, b.end_line, b.end_column);
}

// What one is about was wide before, and meets a half value where the other begins: what cures that cures
// both. A half value that was widened before meets none there.
bool meets_half_at_origin(const Finding& one, const Finding& other) {
  if (one.path.size() < 3 || other.path.size() < 2 || one.certainty < other.certainty) return false;
  const PathStep& origin = other.path.front();
  const bool comes_by = std::any_of(one.path.begin() + 1, one.path.end() - 1, [&](const PathStep& each) {
    return same_place(each.location, origin.location) && each.op == origin.op && !each.before.empty() &&
           each.before != each.after && each.after == origin.after;
  });
  return comes_by && std::all_of(one.sinks.begin(), one.sinks.end(), [&](const Sink& each) {
           return std::any_of(other.sinks.begin(), other.sinks.end(),
                              [&](const Sink& theirs) { return same_sink(each, theirs); });
         });
}

// What the library prints when this operand's rule, or that of one it has to equal, is broken.
std::string library_says(const Defect& defect) {
  if (defect.unsupported && !defect.operand->error.empty()) return defect.operand->error;
  for (const SinkOperand* other : defect.differs_from) {
    const Operand& theirs = *defect.record->api->find(other->role);
    const bool compared = defect.operand->same_as == theirs.role || defect.operand->same_as == theirs.same_as;
    if (compared && !defect.operand->error.empty()) return defect.operand->error;
    if (theirs.same_as == defect.operand->role && !theirs.error.empty()) return theirs.error;
  }
  return "";
}

}  // namespace

SourceLocation FindingCollector::location(const SourceRange& range, std::uint32_t function) const {
  SourceLocation out;
  if (range.file < module_.files.size()) out.file = module_.files[range.file];
  out.line = range.line;
  out.column = range.column;
  out.end_line = range.end_line;
  out.end_column = range.end_column;
  out.function = module_.functions[function].name;
  return out;
}

std::vector<PathStep> FindingCollector::path(const Defect& defect, const Engine& engine) const {
  std::vector<PathStep> out;
  for (const Step* step : engine.origins().path(defect.alternative.trail)) {
    PathStep& to = out.emplace_back();
    to.location = location(step->instruction->range, step->function);
    to.op = step->op;
    to.before = text_of(step->before);
    to.after = text_of(step->after);
    to.note = step->note;
  }
  if (const PassedTest* test = missed_by_test(defect)) {
    PathStep& to = out.emplace_back();
    to.location = location(test->where->range, test->function);
    to.op = "test";
    to.before = to.after = text_of(defect.origin->before);
    to.note = "tests the dtype from before";
  }
  if (const Construction* at = engine.root_case().construction()) {
    PathStep& to = out.emplace_back();
    to.location = location(at->instruction->range, at->function);
    to.op = "construct";
    to.before = to.after = text_of(defect.alternative.dtype);
    to.note = "for an object that is made so";
  }
  PathStep& last = out.emplace_back();
  last.location = location(defect.record->instruction->range, defect.record->function);
  last.op = defect.record->api->name;
  last.before = last.after = text_of(defect.alternative.dtype);
  const std::string said = library_says(defect);
  last.note = arrival(defect) + (said.empty() ? "" : fmt::format(", which stops with \"{}\"", said));
  return out;
}

// On the trial of an edit messages are not read.
RoundsAround FindingCollector::comes_back(const Defect& defect, const Finding& finding) {
  if (!defect.origin || options_.refusals) return {};
  const auto [known, fresh] =
      comes_back_.try_emplace({defect.origin->instruction, defect.record->instruction});
  if (fresh) {
    const Function& function = module_.functions[defect.origin->function];
    known->second = rounds_.comes_back(function, *defect.origin->instruction, finding);
  }
  return known->second;
}

std::vector<FindingOperand> FindingCollector::operands(const Defect& defect, const Engine& engine,
                                                       bool has_path) const {
  std::vector<FindingOperand> out;
  for (const SinkOperand& each : defect.record->operands) {
    FindingOperand operand;
    operand.role = each.role;
    operand.dtypes = dtypes_of(each);
    const bool absent =
        std::all_of(each.alternatives.begin(), each.alternatives.end(),
                    [](const Alternative& one) { return one.kind == Alternative::Kind::kNone; });
    if (absent) continue;
    operand.accepts = defect.record->api->accepted(each.role).names();
    operand.device = engine.device();
    if (&each == defect.arrived && has_path && defect.origin) operand.origin = 0;
    out.push_back(std::move(operand));
  }
  return out;
}

Sink FindingCollector::sink(const SinkRecord& record, const std::string& role) const {
  return {record.api->name, role, location(record.instruction->range, record.function)};
}

void FindingCollector::add(const Defect& defect, const Engine& engine, const std::string& setting,
                           const std::string& torch_version) {
  if (!defect.definite && !options_.strict) return;
  Entry entry;
  Finding& finding = entry.finding;
  const Query* rule = nullptr;
  for (const Query& query : queries()) {
    if (!query.fits(defect)) continue;
    if (rule) {
      finding.also_rules.emplace_back(query.rule);
    } else {
      rule = &query;
    }
  }
  if (!rule) return;
  finding.rule = rule->rule;
  const Instruction& sink = *defect.record->instruction;
  const Instruction& promoting = defect.origin ? *defect.origin->instruction : sink;
  const std::uint32_t promoter = defect.origin ? defect.origin->function : defect.record->function;
  const Step* place = rule->place ? rule->place(defect) : nullptr;
  entry.opens_at_call = is_never_half(defect);
  const Instruction& decisive = entry.opens_at_call ? sink : place ? *place->instruction : promoting;
  finding.certainty = defect.definite ? Certainty::kDefinite : Certainty::kPossible;
  // A call that is only slow still gives the right result.
  const bool only_slow = defect.slow && !defect.breaks_contract();
  finding.level = defect.definite && !only_slow ? Level::kError : Level::kWarning;
  finding.observed = {"static"};
  finding.runtime = "unknown";
  finding.location = location(decisive.range, entry.opens_at_call ? defect.record->function
                                              : place             ? place->function
                                                                  : promoter);
  if (only_in_ && finding.location.file != *only_in_) return;
  finding.api = defect.record->api->name;
  finding.sinks = {this->sink(*defect.record, defect.arrived->role)};
  finding.path = path(defect, engine);
  entry.promoting = location(promoting.range, promoter);
  const SinkPlace at = defect.record->place;
  entry.ends_before = at == SinkPlace::kStore || at == SinkPlace::kCheck;
  entry.is_slow = is_computed_wide(defect);
  finding.message = message(rule->rule, defect, comes_back(defect, finding), entry.promoting.file);
  finding.operands = operands(defect, engine, finding.path.size() > 1);
  finding.precision = {setting};
  finding.torch = {torch_version};
  finding.device = engine.device();
  entry.expression = without_blanks(decisive.text);
  if (kept_) kept_->push_back(entry);
  merge(std::move(entry));
}

void FindingCollector::merge(Entry entry) {
  Finding& more = entry.finding;
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& each) { return same_matter(each, entry); });
  if (found == entries_.end()) {
    entries_.push_back(std::move(entry));
    return;
  }
  // The surer account wins, then the shorter path, then the call that is written first, whichever root came
  // to it first, and of one call its first operand.
  Finding& kept = found->finding;
  const bool of_two_kinds = found->is_slow != entry.is_slow;
  const auto quality = [&](const Entry& account) {
    const Finding& each = account.finding;
    const bool is_possible = each.certainty == Certainty::kPossible;
    const int kind = of_two_kinds ? 2 * is_possible + account.is_slow : 0;
    const SourceLocation& call = each.path.back().location;
    const auto operand = std::find_if(each.operands.begin(), each.operands.end(),
                                      [](const FindingOperand& one) { return one.origin.has_value(); });
    return std::tuple(kind, account.opens_at_call, precedence(each.rule), is_possible, each.path.size(),
                      call.file, call.line, call.column, operand - each.operands.begin());
  };
  if (quality(entry) < quality(*found)) {
    std::swap(kept, more);
    std::swap(found->is_slow, entry.is_slow);
    std::swap(found->opens_at_call, entry.opens_at_call);
    std::swap(found->expression, entry.expression);
    std::swap(kept.precision, more.precision);  // settings stay in the order in which they were evaluated
    std::swap(kept.torch, more.torch);
    std::swap(kept.sinks, more.sinks);
  }
  if (more.rule != kept.rule) add_once(kept.also_rules, more.rule);
  for (const Sink& each : more.sinks) {
    const auto same = [&](const Sink& other) { return same_sink(each, other); };
    if (std::none_of(kept.sinks.begin(), kept.sinks.end(), same)) kept.sinks.push_back(each);
  }
  for (const std::string& each : more.also_rules) {
    if (each != kept.rule) add_once(kept.also_rules, each);
  }
  for (const std::string& each : more.precision) add_once(kept.precision, each);
  for (const std::string& each : more.torch) add_once(kept.torch, each);
}

// A store that refuses, or a check, comes before the call that its tensor goes on to: one matter. So are a
// product that takes what was widened, and a call behind it that does not.
// Of the settings together one rule speaks of an instruction when the others are contained in it: a table in
// a plain member is a promotion under autocast, where modules are not converted.
bool FindingCollector::same_matter(const Entry& a, const Entry& b) {
  if (a.finding.rule == b.finding.rule && same_expression(a.finding.location, b.finding.location))
    return true;
  const auto covers = [](const Entry& one, const Entry& other) {
    const auto& also = one.finding.also_rules;
    return std::find(also.begin(), also.end(), other.finding.rule) != also.end();
  };
  if (a.is_slow != b.is_slow && same_expression(a.promoting, b.promoting)) return true;
  // Of one layer, which a root knows more of than another does.
  if (a.opens_at_call != b.opens_at_call && same_expression(a.promoting, b.promoting) &&
      same_sink(a.finding.sinks.front(), b.finding.sinks.front()))
    return true;
  const bool special = a.finding.torch != b.finding.torch || a.finding.rule == "unregistered-buffer" ||
                       b.finding.rule == "unregistered-buffer" || a.ends_before || b.ends_before;
  return special && same_expression(a.promoting, b.promoting) && (covers(a, b) || covers(b, a));
}

// What breaks in some of the versions asked for and not in others is version-dependent-dtype, unless a rule
// before it decides.
void FindingCollector::add_versions(Finding& finding) const {
  const std::vector<std::string>& all = options_.torch_versions;
  std::sort(finding.torch.begin(), finding.torch.end(), [&](const std::string& a, const std::string& b) {
    return std::find(all.begin(), all.end(), a) < std::find(all.begin(), all.end(), b);
  });
  if (finding.torch.size() >= all.size()) return;
  std::string spans;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto has = [&](std::size_t at) {
      return std::find(finding.torch.begin(), finding.torch.end(), all[at]) != finding.torch.end();
    };
    if (!has(i)) continue;
    const std::size_t first = i;
    while (i + 1 < all.size() && has(i + 1)) ++i;
    spans += (spans.empty() ? "" : ", ") + all[first] + (i > first ? " to " + all[i] : "");
  }
  finding.message += fmt::format("; in torch {} only, of {} to {}", spans, all.front(), all.back());
  if (precedence(finding.rule) < precedence(kVersionDependent)) {
    finding.also_rules.emplace_back(kVersionDependent);
    order_by_precedence(finding.also_rules);
  } else {
    finding.also_rules.insert(finding.also_rules.begin(), finding.rule);
    finding.rule = kVersionDependent;
  }
}

// Two roots may see the same promotion, one of them with what made its other operand wide.
void FindingCollector::drop_longer_accounts() {
  for (std::size_t i = entries_.size(); i-- > 0;) {
    const Finding& longer = entries_[i].finding;
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) {
      return &each != &entries_[i] && meets_half_at_origin(longer, each.finding);
    });
    if (found == entries_.end()) continue;
    for (const std::string& each : longer.precision) add_once(found->finding.precision, each);
    for (const std::string& each : longer.torch) add_once(found->finding.torch, each);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

std::vector<Finding> FindingCollector::take() {
  drop_longer_accounts();
  std::vector<Finding> out;
  for (Entry& each : entries_) {
    Finding& finding = each.finding;
    add_versions(finding);
    finding.fingerprint =
        fingerprint({finding.rule, finding.location.function, each.expression, finding.api, 0});
    out.push_back(std::move(finding));
  }
  entries_.clear();
  const auto place = [](const Finding& each) {
    return std::tie(each.location.file, each.location.line, each.location.column, each.rule,
                    each.fingerprint);
  };
  std::sort(out.begin(), out.end(), [&](const Finding& a, const Finding& b) { return place(a) < place(b); });
  return out;
}

}  // namespace dtype_guard::flow
