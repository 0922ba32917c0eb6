#include "analyzer/driver/kept_answer.h"

#include <fmt/format.h>

#include <utility>

#include "analyzer/driver/packed.h"
#include "analyzer/driver/reading.h"
#include "analyzer/flow/kept_groups.h"

namespace dtype_guard {

template <typename T, typename Wanted>
concept Is = std::is_same_v<std::remove_const_t<T>, Wanted>;

// Of each, what a static analysis fills.
template <typename Bytes>
void pack(Bytes& bytes, Is<SourceLocation> auto& one) {
  bytes(one.file, one.line, one.column, one.end_line, one.end_column, one.function);
}

template <typename Bytes>
void pack(Bytes& bytes, Is<PathStep> auto& one) {
  bytes(one.location, one.op, one.before, one.after, one.note);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<Sink> auto& one) {
  bytes(one.api, one.role, one.location);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<FindingOperand> auto& one) {
  bytes(one.role, one.dtypes, one.accepts, one.shape, one.device, one.origin);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<Edit> auto& one) {
  bytes(one.range, one.replacement);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<Fix> auto& one) {
  bytes(one.title, one.verified, one.edits);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<Finding> auto& one) {
  bytes(one.rule, one.also_rules, one.level, one.certainty, one.message, one.fingerprint,
        one.first_fingerprint, one.observed, one.runtime, one.location, one.api, one.sinks, one.operands,
        one.path, one.precision, one.torch, one.device, one.count, one.fixes, one.baseline);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<NotAnalysed> auto& one) {
  bytes(one.file, one.function, one.reason, one.detail);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<CheckedCall> auto& one) {
  bytes(one.api, one.location, one.reached, one.operands, one.unknown, one.given_up);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<UnseenCall> auto& one) {
  bytes(one.name, one.location, one.cause, one.detail);
}

namespace flow {
template <typename Bytes>
void pack(Bytes& bytes, Is<UnfinishedSearch> auto& one) {
  bytes(one.location, one.rule, one.limit, one.objection);
}
}  // namespace flow

namespace flow {
template <typename Bytes>
void pack(Bytes& bytes, Is<SourceRange> auto& one) {
  bytes(one.file, one.line, one.column, one.end_line, one.end_column);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<KeptGroup::Root> auto& one) {
  bytes(one.is_settled, one.is_left_out, one.is_given_up, one.problem, one.work, one.allowed);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<KeptGroup::Call::Operand> auto& one) {
  bytes(one.role, one.is_known);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<KeptGroup::Call> auto& one) {
  bytes(one.name, one.range, one.root, one.function, one.place, one.operands);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<KeptGroup::Position> auto& one) {
  bytes(one.function, one.instruction);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<KeptGroup::CallsOf> auto& one) {
  bytes(one.forward, one.hash);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<KeptGroup> auto& one) {
  bytes(one.roots, one.calls, one.followed, one.lost, one.steps, one.knew_halves, one.functions, one.modules);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<ClassesMadeHalf> auto& one) {
  bytes(one.parameters, one.buffers);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<KeptGroups::Lasting> auto& one) {
  bytes(one.outline.high, one.outline.low, one.contents, one.groups, one.halves);
}
}  // namespace flow

namespace source {
template <typename Bytes>
void pack(Bytes& bytes, Is<SourceError> auto& one) {
  bytes(one.file, one.line, one.column, one.message);
}
}  // namespace source

namespace driver {
template <typename Bytes>
void pack(Bytes& bytes, Is<FileSummary> auto& one) {
  bytes(one.root, one.source, one.torch_version, one.outcome, one.errors, one.module.files);
}
template <typename Bytes>
void pack(Bytes& bytes, Is<KeptAnswer> auto& one) {
  auto& result = one.answer.result;
  bytes(one.summaries, result.findings, result.not_analysed, result.calls, result.unseen, result.without_fix,
        one.answer.not_lowered);
}

namespace {
constexpr const char* kAnswer = ".answer";
constexpr const char* kGroups = ".groups";

// All that decides about the answer besides the tool, its tables, the contracts and the files.
std::vector<std::string> parts_of(const Options& options) {
  std::vector<std::string> out = {"answer",
                                  options.settings_named ? "settings named" : "settings",
                                  options.device,
                                  options.device_named ? "device named" : "device",
                                  options.strict ? "strict" : "",
                                  std::to_string(options.time_limit)};
  const auto add = [&](const char* what, const std::vector<std::string>& all) {
    out.push_back(fmt::format("{} {}", what, all.size()));
    out.insert(out.end(), all.begin(), all.end());
  };
  for (const flow::PrecisionSetting& each : options.settings) out.push_back(each.name);
  add("torch", options.torch_versions);
  for (const auto& [library, versions] : options.versions) add(library.c_str(), versions);
  return out;
}

// Headers and texts from elsewhere are looked for while files are read; an edit needs the code.
bool can_be_kept(const Options& options, const SourceList& sources) {
  const bool reports = !options.dump_flow && options.emit_summary.empty() && options.depfile.empty() &&
                       !options.fix && options.export_fixes.empty() && !options.lsp;
  return reports && !options.cache.empty() && sources.texts.empty() && sources.carried.empty() &&
         sources.carriers.empty() && sources.headers.empty() && !sources.commands.empty();
}

}  // namespace

KeptAnswers::KeptAnswers(const Options& options, const SourceList& sources, Cache& cache) : cache_(cache) {
  if (!can_be_kept(options, sources)) return;
  std::vector<std::string> parts = parts_of(options);
  const SourceReader reader(options, sources, cache);
  for (const source::CompileCommand& each : sources.commands) parts.push_back(reader.key_of(each));
  key_ = cache.key(parts);
}

std::optional<KeptAnswer> KeptAnswers::find() {
  if (key_.empty()) return std::nullopt;
  const std::optional<std::string> text = cache_.find_text(key_ + kAnswer);
  if (!text) return std::nullopt;
  try {
    KeptAnswer out;
    Unpacker bytes(*text);
    bytes(out);
    if (bytes.is_at_end()) return out;
  } catch (const PackedError&) {
  }
  return std::nullopt;
}

void KeptAnswers::keep(const KeptAnswer& answer) {
  if (key_.empty()) return;
  Packer bytes;
  bytes(answer);
  cache_.store_text(key_ + kAnswer, bytes.text());
}

void KeptAnswers::find_groups(flow::KeptGroups& groups) {
  const std::optional<std::string> text = cache_.find_text(key_ + kGroups);
  if (!text) return;
  try {
    flow::KeptGroups::Lasting kept;
    Unpacker bytes(*text);
    bytes(kept);
    if (bytes.is_at_end()) {
      groups = flow::KeptGroups(std::move(kept));
      return;
    }
  } catch (const PackedError&) {
  }
  groups = {};
}

// They rest on functions, which are compared by what they are.
void KeptAnswers::keep_groups(const flow::KeptGroups& groups) {
  Packer bytes;
  bytes(groups.lasting());
  cache_.store_text(key_ + kGroups, bytes.text(), {});
}

std::vector<FileSummary> without_code(const std::vector<FileSummary>& summaries) {
  std::vector<FileSummary> out;
  for (const FileSummary& each : summaries) {
    FileSummary& one = out.emplace_back();
    one.root = each.root;
    one.source = each.source;
    one.torch_version = each.torch_version;
    one.outcome = each.outcome;
    one.errors = each.errors;
    one.module.files = each.module.files;
  }
  return out;
}

}  // namespace driver
}  // namespace dtype_guard
