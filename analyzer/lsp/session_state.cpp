// What the analysis works on: folders, settings and texts. It is told of each change at once, and to analyse
// when changes have ended for a moment.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/lsp/session.h"

namespace dtype_guard::lsp {

namespace {

constexpr int kError = 1, kWarning = 2;  // of window/showMessage
// After the last key: short where the last answer came fast, so that few are begun in vain where it did not.
constexpr Clock::duration kShortestPause = std::chrono::milliseconds(20);
constexpr Clock::duration kLongestPause = std::chrono::milliseconds(500);

constexpr std::int64_t kUsualRest = 1000, kLongestRest = 600'000;  // milliseconds

}  // namespace

void Session::analyse_soon() {
  const Clock::duration pause = std::clamp<Clock::duration>(last_took_ / 4, kShortestPause, kLongestPause);
  analyse_at_ = Clock::now() + pause;
}

void Session::analyse_now() {
  if (!analyse_at_) return;
  analyse_at_.reset();
  asked_at_ = Clock::now();
  to_analysis_({{"analyse", ++generation_}});
}

void Session::at_time(Clock::time_point now) {
  if (analyse_at_ && *analyse_at_ <= now) analyse_now();
}

Json Session::setup() const {
  return {{"folders", folders_},
          {"arguments", arguments_},
          {"exactAfter", exact_after_},
          {"encoding", client_.encoding == Encoding::kUtf8 ? "utf-8" : "utf-16"},
          {"relatedInformation", client_.related_information},
          {"codeDescription", client_.code_description},
          {"data", client_.diagnostic_data},
          {"tags", client_.diagnostic_tags},
          {"preferred", client_.code_action_preferred},
          {"documentChanges", client_.document_changes},
          {"markdown", client_.markdown},
          {"links", client_.definition_links}};
}

void Session::send_text(const std::string& path) {
  const Document* document = documents_.find(path);
  if (!document) return to_analysis_({{"closed", path}});
  to_analysis_(
      {{"text", path}, {"content", document->text}, {"version", document->version}, {"uri", document->uri}});
}

void Session::everything_anew() {
  to_analysis_({{"setup", setup()}});
  for (const std::string& each : broken_) to_analysis_({{"skip", each}});
  for (const auto& [path, document] : documents_.all()) send_text(path);
  analyse_soon();
}

void Session::document(const std::string& method, const Json& params) {
  std::string path, wrong;
  if (method == "textDocument/didOpen") {
    wrong = documents_.open(params, path);
  } else if (method == "textDocument/didChange") {
    wrong = documents_.change(params, path);
  } else if (method == "textDocument/didClose") {
    wrong = documents_.close(params, path);
  } else if (method == "textDocument/didSave") {
    path = path_of(text_at(params, "textDocument", "uri"));
  } else {
    return;
  }
  if (!wrong.empty()) tell(kWarning, "dtype-lint: " + wrong, false);
  if (path.empty() || (!wrong.empty() && !documents_.find(path))) return;
  if (broken_.erase(path) > 0) to_analysis_({{"retry", path}});
  if (method == "textDocument/didSave") {
    to_analysis_({{"disk", Json::array({path})}, {"saved", true}});
  } else {
    send_text(path);
  }
  if (method == "textDocument/didClose") to_analysis_({{"disk", Json::array({path})}});
  analyse_soon();
}

void Session::folders_changed(const Json& event) {
  for (const Json& each : list_at(event, "removed")) std::erase(folders_, path_of(text_at(each, "uri")));
  for (const Json& each : list_at(event, "added")) {
    const std::string path = path_of(text_at(each, "uri"));
    if (!path.empty() && std::find(folders_.begin(), folders_.end(), path) == folders_.end())
      folders_.push_back(path);
  }
  everything_anew();
}

void Session::files_changed(const Json& changes) {
  Json paths = Json::array();
  for (const Json& each : changes) {
    const std::string path = path_of(text_at(each, "uri"));
    if (path.empty()) continue;
    if (broken_.erase(path) > 0) to_analysis_({{"retry", path}});
    paths.push_back(path);
  }
  if (paths.empty()) return;
  to_analysis_({{"disk", std::move(paths)}});
  analyse_soon();
}

// Settings that cannot be meant leave everything as it was.
void Session::configured(const Json& settings) {
  const Json& arguments = at(settings, "arguments");
  const Json& shown = at(settings, "diagnostics");
  const bool has_words =
      arguments.is_array() &&
      std::all_of(arguments.begin(), arguments.end(), [](const Json& each) { return each.is_string(); });
  if (!arguments.is_null() && !has_words) {
    tell(kError, "dtype-lint: the setting 'arguments' is a list of words of the command line", true);
  } else if (!shown.is_null() && shown != "workspace" && shown != "openFiles") {
    tell(kError, "dtype-lint: the setting 'diagnostics' is \"workspace\" or \"openFiles\"", true);
  } else {
    arguments_ = has_words ? arguments.get<std::vector<std::string>>() : std::vector<std::string>();
    only_open_ = shown == "openFiles";
    const Json& after = at(settings, "exactAfter");
    exact_after_ = after.is_number_unsigned()
                       ? std::min<std::int64_t>(after.get<std::int64_t>(), kLongestRest)
                       : kUsualRest;
  }
  everything_anew();
}

}  // namespace dtype_guard::lsp
