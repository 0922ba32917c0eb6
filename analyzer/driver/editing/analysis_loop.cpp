#include "analyzer/driver/editing/analysis_loop.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>

#include "analyzer/driver/editing/answers.h"
#include "analyzer/driver/usage_error.h"
#include "analyzer/python/parse_watch.h"
#include "rules/files/input_file.h"

namespace dtype_guard::driver {

namespace {

using lsp::Json;

constexpr int kErrorMessage = 1, kLogMessage = 4;  // MessageType
// Folders of other people's code, in which editors open files on the way.
constexpr std::array<const char*, 3> kInstalled = {"/site-packages/", "/dist-packages/", "/lib/python3"};

// What changes when another file than a source does.
bool is_source(const std::string& path) { return source::is_python(path) || source::is_cxx(path); }

bool changes_state(const Json& message) {
  return message.contains("setup") || message.contains("text") || message.contains("closed") ||
         message.contains("disk") || message.contains("skip") || message.contains("retry");
}

}  // namespace

// A first answer may rest on what was kept; the last word is given once the user rests.
void AnalysisLoop::run() {
  python::watch_parsing([this](const std::string& path) {
    std::string before = mark_.path();
    mark_.set(path);
    return before;
  });
  constexpr std::chrono::milliseconds kLongestRest(30'000), kBeforePreparing(100);
  while (!channel_.has_ended()) {
    std::optional<std::chrono::milliseconds> rest;
    const bool prepares = std::any_of(projects_.begin(), projects_.end(), [&](const auto& each) {
      return !refused_.contains(each->place()) && each->waits_to_prepare(edited_);
    });
    if (generation_ && is_current_ && !is_exact())
      rest = std::max(exact_after_, std::min(exact_took_, kLongestRest));
    if (generation_ && is_current_ && !rest && prepares) rest = kBeforePreparing;
    const std::optional<Json> message = channel_.next(rest);
    try {
      if (message) {
        take(*message);
      } else if (rest && !channel_.has_ended()) {
        if (is_exact()) {
          prepare();
        } else {
          analyse_exactly();
        }
      }
    } catch (const Interrupted&) {
      // What interrupted it is waiting.
    }
    mark_.set("");
  }
}

bool AnalysisLoop::is_exact() const {
  return std::all_of(projects_.begin(), projects_.end(),
                     [&](const auto& each) { return refused_.contains(each->place()) || each->is_exact(); });
}

void AnalysisLoop::analyse_exactly() {
  const auto begin = std::chrono::steady_clock::now();
  is_current_ = false;
  bring_up_to_date(true);
  exact_took_ = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  send_result();
}

void AnalysisLoop::prepare() {
  for (const auto& each : projects_) {
    if (!refused_.contains(each->place()))
      each->prepare(edited_, [&](const std::string& path) { step(path); });
  }
}

void AnalysisLoop::take(const Json& message) {
  const Json& number = lsp::at(message, "analyse");
  if (number.is_number_integer()) return analyse(number.get<std::int64_t>());
  if (message.contains("ask")) return answer(message);
  if (!changes_state(message)) return;
  is_current_ = false;
  generation_.reset();
  if (message.contains("setup")) return set_up(lsp::at(message, "setup"));
  if (message.contains("disk")) return disk_changed(lsp::list_at(message, "disk"));
  if (message.contains("skip")) {
    left_out_.insert(lsp::text_at(message, "skip"));
    for (const auto& each : projects_) each->leave_out(lsp::text_at(message, "skip"));
    return;
  }
  if (message.contains("retry")) {
    left_out_.erase(lsp::text_at(message, "retry"));
    for (const auto& each : projects_) each->take_back(lsp::text_at(message, "retry"));
    return;
  }
  if (message.contains("closed")) {
    edited_.erase(lsp::text_at(message, "closed"));
    return;
  }
  const Json& version = lsp::at(message, "version");
  std::string text = lsp::text_at(message, "content");
  const std::uint64_t hash = XXH3_64bits(text.data(), text.size());
  edited_[lsp::text_at(message, "text")] = {std::move(text), lsp::text_at(message, "uri"),
                                            version.is_number_integer() ? version.get<std::int64_t>() : 0,
                                            hash};
}

void AnalysisLoop::set_up(const Json& setup) {
  view_ = read_view(setup);
  const Json& rest = lsp::at(setup, "exactAfter");
  if (rest.is_number_integer()) exact_after_ = std::chrono::milliseconds(rest.get<std::int64_t>());
  std::vector<std::string> words;
  for (const Json& each : lsp::list_at(setup, "arguments"))
    if (each.is_string()) words.push_back(each.get<std::string>());
  words.insert(words.end(), words_.begin(), words_.end());
  projects_.clear();
  told_.clear();
  left_out_.clear();
  edited_.clear();  // the texts follow
  for (const Json& each : lsp::list_at(setup, "folders")) {
    if (each.is_string())
      projects_.push_back(std::make_unique<EditedProject>(words, each.get<std::string>(), true));
  }
  loose_words_ = std::move(words);
}

// Which files there are is asked anew where one came or went or was saved; settings, where one of their files
// may have changed.
void AnalysisLoop::disk_changed(const Json& paths) {
  for (const Json& each : paths) {
    if (!each.is_string()) continue;
    const std::string path = each.get<std::string>();
    for (const auto& project : projects_) {
      project->forget_list();
      project->forget_cxx();
      if (!is_source(path)) project->forget_setup();
    }
  }
}

EditedProject* AnalysisLoop::project_of(const std::string& path) {
  EditedProject* found = nullptr;
  for (const auto& each : projects_) {
    if (refused_.contains(each->place()) || !each->is_above(path)) continue;
    if (!found || each->place().size() > found->place().size()) found = each.get();
  }
  return found;
}

// Open files that stand in no folder are looked at one by one.
void AnalysisLoop::find_loose_files() {
  const auto is_in_folder = [&](const std::string& path) {
    return std::any_of(projects_.begin(), projects_.end(), [&](const auto& each) {
      return each->is_folder() && !refused_.contains(each->place()) && each->is_above(path);
    });
  };
  std::erase_if(projects_, [&](const auto& each) {
    return !each->is_folder() && (!edited_.contains(each->place()) || is_in_folder(each->place()));
  });
  for (const auto& [path, document] : edited_) {
    const bool installed = std::any_of(kInstalled.begin(), kInstalled.end(), [&](const char* folder) {
      return path.find(folder) != std::string::npos;
    });
    if (installed || !is_source(path) || project_of(path) || refused_.contains(path)) continue;
    projects_.push_back(std::make_unique<EditedProject>(loose_words_, path, false));
    if (left_out_.contains(path)) projects_.back()->leave_out(path);
  }
}

void AnalysisLoop::step(const std::string& path) {
  mark_.set(path);
  channel_.look();
  const auto& waiting = channel_.waiting();
  const bool is_stale = std::any_of(waiting.begin(), waiting.end(), changes_state);
  const bool is_forgotten = answering_ && std::any_of(waiting.begin(), waiting.end(), [&](const Json& each) {
                              return lsp::at(each, "forget") == *answering_;
                            });
  if (is_stale || is_forgotten) throw Interrupted();
}

void AnalysisLoop::show_progress(std::size_t read, std::size_t of) {
  constexpr std::size_t kWorthShowing = 20;  // files
  if (of < kWorthShowing) return;
  const int percent = static_cast<int>(100 * read / of);
  if (percent == shown_percent_) return;
  shown_percent_ = percent;
  channel_.send(
      {{"progress",
        {{"text", fmt::format("reading {}/{}", read, of)}, {"percent", static_cast<unsigned>(percent)}}}});
}

void AnalysisLoop::end_progress() {
  if (shown_percent_ >= 0) channel_.send({{"progress", {{"end", true}}}});
  shown_percent_ = -1;
}

void AnalysisLoop::tell(const std::string& place, const std::string& problem) {
  std::string& told = told_[place];
  if (told == problem) return;
  told = problem;
  // A folder without sources is no mistake of the user's.
  const bool is_mistake =
      !problem.starts_with("no Python file") && !problem.starts_with("no compile_commands");
  channel_.send({{"message", "dtype-lint: " + problem},
                 {"type", is_mistake ? kErrorMessage : kLogMessage},
                 {"shown", is_mistake}});
}

bool AnalysisLoop::report_of(EditedProject& project, bool exact) {
  std::size_t fresh = 0;
  try {
    project.report(
        edited_,
        [&](const std::string& path) {
          ++fresh;
          step(path);
        },
        [&](std::size_t read, std::size_t of) {
          if (fresh > 0) show_progress(read, of);
        },
        exact);
    told_.erase(project.place());
    return true;
  } catch (const UsageError& error) {
    tell(project.place(), error.what());
    project.forget_setup();
    return false;
  }
}

void AnalysisLoop::bring_up_to_date(bool exact) {
  if (is_current_) return;
  refused_.clear();  // what was refused may be right now
  for (std::size_t i = 0; i < projects_.size(); ++i) {
    if (!projects_[i]->is_folder()) continue;
    if (!report_of(*projects_[i], exact && !projects_[i]->is_exact())) refused_.insert(projects_[i]->place());
  }
  find_loose_files();
  for (const auto& each : projects_) {
    if (!each->is_folder() && !report_of(*each, exact && !each->is_exact())) refused_.insert(each->place());
  }
  end_progress();
  mark_.set("");
  is_current_ = true;
}

void AnalysisLoop::analyse(std::int64_t generation) {
  generation_ = generation;
  bring_up_to_date();
  send_result();
}

void AnalysisLoop::send_result() {
  TextsNow texts(edited_, view_.encoding);
  Json files = Json::object();
  // A header that was not saved is shown as it was when it was.
  for (const auto& [path, document] : edited_) {
    const EditedProject* project = project_of(path);
    const bool is_of_disk = project ? project->is_of_disk(path) : !source::is_python(path);
    if (!is_of_disk || read_input(path).text == document.text) continue;
    texts.read_from_disk(path);
    files[path] = nullptr;
  }
  for (const auto& project : projects_) {
    if (refused_.contains(project->place())) continue;
    if (!pages_) pages_.emplace(project->options().cache);
    Diagnostics diagnostics(view_, texts, *pages_);
    for (auto& [path, list] : diagnostics.of(project->last_report(), project->summaries())) {
      const EditedProject* owner = project_of(path);
      if (owner && owner != project.get()) continue;
      if (!files.contains(path)) files[path] = std::move(list);
    }
  }
  channel_.send({{"result", *generation_}, {"exact", is_exact()}, {"files", std::move(files)}});
}

void AnalysisLoop::answer(const Json& ask) {
  const Json& number = lsp::at(ask, "ask");
  if (!number.is_number_integer()) return;
  answering_ = number.get<std::int64_t>();
  Json out = {{"answer", *answering_}};
  try {
    bring_up_to_date();
    const std::string path = lsp::text_at(ask, "path");
    EditedProject* project = project_of(path);
    Json value;
    if (project) {
      if (lsp::text_at(ask, "method") == "textDocument/codeAction")
        project->find_fixes([&](const std::string& at) { step(at); });
      Answers answers(*project, edited_, view_, [&](const std::string& at) { step(at); });
      value = answers.to(lsp::text_at(ask, "method"), path, lsp::at(ask, "params"));
    }
    out["value"] = std::move(value);
  } catch (const Interrupted&) {
    answering_.reset();
    // Places have moved: the client asks again where it still wants to know.
    out["failed"] = "the text has changed meanwhile";
    out["changed"] = true;
    channel_.send(out);
    throw;
  } catch (const std::exception& error) {
    out["failed"] = error.what();
  }
  answering_.reset();
  channel_.send(out);
}

}  // namespace dtype_guard::driver
