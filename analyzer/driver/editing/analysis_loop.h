// What the analysing process does: it keeps the state that the server tells it, analyses when asked to, and
// stops in the middle when something has changed meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/driver/editing/channel.h"
#include "analyzer/driver/editing/diagnostics.h"
#include "analyzer/driver/editing/edited_project.h"
#include "analyzer/lsp/worker.h"

namespace dtype_guard::driver {

class AnalysisLoop {
 public:
  AnalysisLoop(std::vector<std::string> words, int in, int out, lsp::Mark& mark)
      : words_(std::move(words)), channel_(in, out), mark_(mark) {}
  void run();

 private:
  struct Interrupted {};

  void take(const lsp::Json& message);
  void set_up(const lsp::Json& setup);
  void disk_changed(const lsp::Json& paths);
  void analyse(std::int64_t generation);
  void analyse_exactly();
  void prepare();
  void send_result();
  bool is_exact() const;
  void answer(const lsp::Json& ask);
  // Brings the reports up to date; throws Interrupted.
  void bring_up_to_date(bool exact = false);
  bool report_of(EditedProject& project, bool exact);
  void step(const std::string& path);
  void show_progress(std::size_t read, std::size_t of);
  void end_progress();
  void tell(const std::string& place, const std::string& problem);
  EditedProject* project_of(const std::string& path);
  void find_loose_files();

  std::vector<std::string> words_, loose_words_;  // of the command line; with the client's
  Channel channel_;
  lsp::Mark& mark_;
  ClientView view_;
  std::optional<RulePages> pages_;
  EditedTexts edited_;
  std::vector<std::unique_ptr<EditedProject>> projects_;  // folders first
  std::set<std::string> left_out_;
  std::map<std::string, std::string> told_;      // problems, by place
  std::set<std::string> refused_;                // places of which there is no report
  bool is_current_ = false;                      // the reports are of this state
  std::optional<std::int64_t> generation_;       // that the server asked for, of this state
  std::chrono::milliseconds exact_after_{1000};  // of rest, at least
  std::chrono::milliseconds exact_took_{0};      // the last time
  std::optional<std::int64_t> answering_;
  int shown_percent_ = -1;
};

}  // namespace dtype_guard::driver
