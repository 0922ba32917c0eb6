// What the analysis says, as the client takes it.
#include <fmt/format.h>

#include <utility>

#include "analyzer/lsp/session.h"

namespace dtype_guard::lsp {

namespace {
constexpr int kInternalError = -32603;
constexpr int kRequestFailed = -32803;
constexpr int kContentModified = -32801;  // which editors do not show
constexpr int kWarning = 2;
}  // namespace

void Session::from_analysis(const Json& message) {
  if (phase_ != Phase::kRunning) return;
  if (message.contains("result")) return result(message);
  if (message.contains("progress")) return progress(at(message, "progress"));
  if (message.contains("message")) {
    const Json& kind = at(message, "type");
    return tell(kind.is_number_integer() ? kind.get<int>() : kWarning, text_at(message, "message"),
                is_true_at(message, "shown"));
  }
  const Json& number = at(message, "answer");
  if (!number.is_number_integer()) return;
  const auto found = pending_.find(number.get<std::int64_t>());
  if (found == pending_.end()) return;  // cancelled meanwhile
  if (message.contains("failed")) {
    refuse(found->second.id, is_true_at(message, "changed") ? kContentModified : kRequestFailed,
           text_at(message, "failed"));
  } else {
    respond(found->second.id, at(message, "value"));
  }
  pending_.erase(found);
}

void Session::publish(const std::string& path, const Json& diagnostics) {
  const Document* document = documents_.find(path);
  const bool is_shown = document || !only_open_;
  Published now{is_shown ? diagnostics : Json::array(), document ? document->version : -1};
  const auto before = published_.find(path);
  if (before == published_.end() && now.diagnostics.empty() && !document) return;
  const bool is_same = before != published_.end() && before->second.diagnostics == now.diagnostics &&
                       before->second.version == now.version;
  if (is_same) return;
  Json params = {{"uri", document ? document->uri : uri_of(path)}, {"diagnostics", now.diagnostics}};
  if (document && client_.diagnostic_versions) params["version"] = document->version;
  notify("textDocument/publishDiagnostics", std::move(params));
  if (now.diagnostics.empty() && !document) {
    published_.erase(path);
  } else {
    published_[path] = std::move(now);
  }
}

// Of an older state nothing is shown: places have moved since, and the next result is on its way.
void Session::result(const Json& message) {
  if (at(message, "result") != generation_ || analyse_at_) return;
  if (asked_at_) last_took_ = Clock::now() - *asked_at_;
  asked_at_.reset();
  known_.clear();
  for (const auto& [path, diagnostics] : at(message, "files").items()) known_[path] = diagnostics;
  for (const auto& [path, document] : documents_.all()) known_.try_emplace(path, Json::array());
  for (const auto& [path, before] : published_) known_.try_emplace(path, Json::array());
  for (const auto& [path, diagnostics] : known_) {
    if (!diagnostics.is_null()) publish(path, diagnostics);  // else it stays as it is shown
  }
  if (client_.takes_state) notify("dtypeLint/state", {{"exact", at(message, "exact")}});
  if (client_.refreshes_inlay_hints) ask_client("workspace/inlayHint/refresh", nullptr);
}

void Session::progress(const Json& at_now) {
  if (!client_.work_done_progress) return;
  const auto report = [&](Json value) {
    notify("$/progress", {{"token", progress_}, {"value", std::move(value)}});
  };
  const std::string text = text_at(at_now, "text");
  if (is_true_at(at_now, "end")) {
    if (!progress_.empty()) report({{"kind", "end"}});
    progress_.clear();
    return;
  }
  if (progress_.empty()) {
    progress_ = fmt::format("dtype-lint-progress-{}", ++asked_of_client_);
    ask_client("window/workDoneProgress/create", {{"token", progress_}});
    report({{"kind", "begin"}, {"title", "dtype-lint"}, {"cancellable", false}, {"percentage", 0}});
  }
  Json value = {{"kind", "report"}, {"message", text}};
  const Json& percent = at(at_now, "percent");
  if (percent.is_number_unsigned()) value["percentage"] = percent;
  report(std::move(value));
}

void Session::analysis_restarted(const std::string& how, const std::string& file) {
  if (exit_status_) return;
  for (const auto& [number, each] : pending_)
    refuse(each.id, kInternalError, fmt::format("the analysis ended ({})", how));
  pending_.clear();
  if (phase_ != Phase::kRunning) return;
  if (!progress_.empty()) progress({{"end", true}});
  if (!file.empty()) broken_.insert(file);
  tell(kWarning,
       file.empty()
           ? fmt::format("dtype-lint: the analysis ended ({}) and was begun again", how)
           : fmt::format("dtype-lint: '{}' is left out until it changes: the analysis ended there ({})", file,
                         how),
       !file.empty());
  // Without a file to leave out it would end again: the next change begins it.
  everything_anew();
  if (file.empty()) analyse_at_.reset();
}

}  // namespace dtype_guard::lsp
