#include "analyzer/flow/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>

namespace dtype_guard::flow {
namespace {

std::string text_of(Dtype dtype) {
  return dtype == Dtype::kUndefined ? std::string() : std::string(name(dtype));
}

template <typename T>
void add_once(std::vector<T>& to, const T& item) {
  if (std::find(to.begin(), to.end(), item) == to.end()) to.push_back(item);
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

std::string quoted_list(const std::vector<std::string>& names, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i) out += i + 1 == names.size() ? fmt::format(" {} ", last) : ", ";
    out += "'" + names[i] + "'";
  }
  return out;
}

std::vector<std::string> names_of(DtypeSet set) {
  std::vector<std::string> out;
  for (Dtype dtype : all_dtypes()) {
    if (set.contains(dtype)) out.emplace_back(name(dtype));
  }
  return out;
}

std::vector<std::string> dtypes_of(const SinkOperand& operand) {
  std::vector<std::string> out;
  for (const Alternative& each : operand.alternatives) {
    if (each.kind == Alternative::Kind::kTensor && each.dtype != Dtype::kUndefined) {
      add_once(out, std::string(name(each.dtype)));
    }
  }
  return out;
}

std::string came_about(const Defect& defect) {
  const Origin* origin = defect.origin;
  if (!origin) return "";
  const std::string before =
      origin->before == Dtype::kUndefined ? "" : fmt::format(" from '{}'", name(origin->before));
  switch (origin->kind) {
    case Origin::Kind::kPromotion:
      if (origin->instruction->op == Op::kCast)
        return fmt::format(", promoted{} by an implicit conversion", before);
      return fmt::format(", promoted{} by '{}'{}", before, origin->op,
                         origin->by_autocast ? " under autocast" : "");
    case Origin::Kind::kCast:
      return fmt::format(", cast{} by '{}'", before, origin->op == "cast" ? "to" : origin->op);
    case Origin::Kind::kSource:
      return fmt::format(", made by '{}'", origin->op);
  }
  return "";
}

std::string wanted(const Defect& defect) {
  std::string out;
  if (!defect.differs_from.empty() && !defect.unsupported) {
    std::vector<std::string> roles;
    std::vector<std::string> dtypes;
    for (const SinkOperand* each : defect.differs_from) {
      roles.push_back(each->role);
      for (const std::string& dtype : dtypes_of(*each)) add_once(dtypes, dtype);
    }
    std::sort(roles.begin(), roles.end());
    std::sort(dtypes.begin(), dtypes.end());
    out = fmt::format("; {} {} {} and the call wants them equal", quoted_list(roles, "and"),
                      roles.size() == 1 ? "is" : "are", quoted_list(dtypes, "or"));
  }
  const DtypeSet accepts = defect.record->api->accepted(defect.arrived->role);
  if (defect.unsupported) out += fmt::format("; the call accepts {}", quoted_list(names_of(accepts), "or"));
  return out;
}

// What the library prints when this operand's rule, or that of one it has to equal, is broken.
std::string library_says(const Defect& defect) {
  if (defect.unsupported && !defect.operand->error.empty()) return defect.operand->error;
  for (const SinkOperand* other : defect.differs_from) {
    const Operand& theirs = *defect.record->api->find(other->role);
    if (defect.operand->same_as == theirs.role && !defect.operand->error.empty())
      return defect.operand->error;
    if (theirs.same_as == defect.operand->role && !theirs.error.empty()) return theirs.error;
  }
  return "";
}

std::string cure(const Defect& defect) {
  const Origin* origin = defect.origin;
  if (!origin) return "; cast it before the call";
  if (origin->kind == Origin::Kind::kPromotion) {
    if (origin->instruction->op == Op::kCast) {
      return fmt::format("; round back to '{}' where it is stored", name(origin->before));
    }
    // A dtype by name would be right in one precision setting and wrong in the next.
    if (origin->narrow.empty()) return "; cast back after it, to the dtype from before";
    return fmt::format("; cast back after it, e.g. '.to({}.scalar_type())'", origin->narrow);
  }
  if (defect.record->api->kind == ApiKind::kRotary && !defect.differs_from.empty()) {
    std::vector<std::string> roles;
    for (const SinkOperand* each : defect.differs_from) roles.push_back(each->role);
    std::sort(roles.begin(), roles.end());
    return fmt::format("; cast {} alike, e.g. with '.type_as()'", quoted_list(roles, "and"));
  }
  if (origin->kind == Origin::Kind::kSource) return "; give it that dtype where it is made";
  return "; cast it back before the call";
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
  PathStep& last = out.emplace_back();
  last.location = location(defect.record->instruction->range, defect.record->function);
  last.op = defect.record->api->name;
  last.before = last.after = text_of(defect.alternative.dtype);
  const std::string said = library_says(defect);
  last.note = fmt::format("reaches '{}' of '{}'{}", defect.arrived->role, defect.record->api->name,
                          said.empty() ? "" : fmt::format(", which stops with \"{}\"", said));
  return out;
}

std::vector<FindingOperand> FindingCollector::operands(const Defect& defect, bool has_path) const {
  std::vector<FindingOperand> out;
  for (const SinkOperand& each : defect.record->operands) {
    FindingOperand operand;
    operand.role = each.role;
    operand.dtypes = dtypes_of(each);
    const bool absent =
        std::all_of(each.alternatives.begin(), each.alternatives.end(),
                    [](const Alternative& one) { return one.kind == Alternative::Kind::kNone; });
    if (absent) continue;
    operand.accepts = names_of(defect.record->api->accepted(each.role));
    operand.device = options_.device;
    if (&each == defect.arrived && has_path && defect.origin) operand.origin = 0;
    out.push_back(std::move(operand));
  }
  return out;
}

std::string FindingCollector::message(const Defect& defect) const {
  return fmt::format("'{}' of '{}' is '{}'{}{}{}", defect.arrived->role, defect.record->api->name,
                     name(defect.alternative.dtype), came_about(defect), wanted(defect), cure(defect));
}

void FindingCollector::add(const Defect& defect, const Engine& engine, const std::string& setting) {
  if (!defect.definite && !options_.strict) return;
  Entry entry;
  Finding& finding = entry.finding;
  for (const Query& query : queries()) {
    if (!query.fits(defect)) continue;
    if (finding.rule.empty()) {
      finding.rule = query.rule;
    } else {
      finding.also_rules.emplace_back(query.rule);
    }
  }
  if (finding.rule.empty()) return;
  const Instruction& sink = *defect.record->instruction;
  const Instruction& decisive = defect.origin ? *defect.origin->instruction : sink;
  finding.certainty = defect.definite ? Certainty::kDefinite : Certainty::kPossible;
  finding.level = defect.definite ? Level::kError : Level::kWarning;
  finding.message = message(defect);
  finding.observed = {"static"};
  finding.runtime = "unknown";
  finding.location =
      location(decisive.range, defect.origin ? defect.origin->function : defect.record->function);
  finding.api = defect.record->api->name;
  finding.sinks = {{finding.api, defect.arrived->role, location(sink.range, defect.record->function)}};
  finding.path = path(defect, engine);
  finding.operands = operands(defect, finding.path.size() > 1);
  finding.precision = {setting};
  finding.torch = {options_.torch_version};
  finding.device = options_.device;
  entry.expression = without_blanks(decisive.text);
  merge(std::move(entry));
}

void FindingCollector::merge(Entry entry) {
  Finding& more = entry.finding;
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) {
    return each.finding.rule == more.rule && same_expression(each.finding.location, more.location);
  });
  if (found == entries_.end()) {
    entries_.push_back(std::move(entry));
    return;
  }
  // The surer account wins, then the shorter path, then the one that came first.
  Finding& kept = found->finding;
  const auto quality = [](const Finding& each) {
    return std::tuple(each.certainty == Certainty::kPossible, each.path.size());
  };
  if (quality(more) < quality(kept)) {
    std::swap(kept, more);
    std::swap(found->expression, entry.expression);
    std::swap(kept.precision, more.precision);  // settings stay in the order in which they were evaluated
    std::swap(kept.sinks, more.sinks);
  }
  for (const Sink& each : more.sinks) {
    const auto same = [&](const Sink& other) { return same_sink(each, other); };
    if (std::none_of(kept.sinks.begin(), kept.sinks.end(), same)) kept.sinks.push_back(each);
  }
  for (const std::string& each : more.also_rules) add_once(kept.also_rules, each);
  for (const std::string& each : more.precision) add_once(kept.precision, each);
}

std::vector<Finding> FindingCollector::take() {
  std::vector<Finding> out;
  for (Entry& each : entries_) {
    Finding& finding = each.finding;
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
