// One folder of the editor, or one file that stands in none: what dtype-lint would answer for it, with the
// texts of open documents in place of those on disk. What did not change is not read again.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/driver/editing/edited_texts.h"
#include "analyzer/driver/editing/file_stamps.h"
#include "analyzer/driver/file_summary.h"
#include "analyzer/driver/options.h"
#include "analyzer/driver/program.h"
#include "analyzer/driver/sources.h"
#include "analyzer/flow/program/changed_functions.h"
#include "analyzer/flow/root_memo.h"
#include "rules/report/report.h"
#include "rules/report/source_files.h"

namespace dtype_guard::driver {

// What questions about single expressions are asked of.
struct AskedProgram {
  const flow::Module* module = nullptr;
  const flow::Program* program = nullptr;
  flow::AnalysisOptions options;
};

using ReadCount = std::function<void(std::size_t read, std::size_t of)>;

class SourceReader;

class EditedProject {
 public:
  // `words`: of the command line, without SOURCEs. `place` is a folder, or a file.
  EditedProject(std::vector<std::string> words, std::string place, bool is_folder);

  const std::string& place() const { return place_; }
  bool is_folder() const { return is_folder_; }
  // Whether the file is its own, or in its folder.
  bool is_above(const std::string& path) const;
  // Options and the list of files are found anew when it is next asked.
  void forget_setup() { is_set_up_ = false; }
  void forget_list() {
    is_listed_ = false;
    disk_.reset();
  }
  // C++ is read anew where the disk changed, for headers come and go.
  void forget_cxx();
  void leave_out(const std::string& path) { left_out_.insert(path); }
  void take_back(const std::string& path) { left_out_.erase(path); }

  // Throws UsageError where a run would refuse. A report that is not `exact` may rest on what functions gave
  // that cannot come to what has changed since; is_exact() then tells whether it does.
  const Report& report(const EditedTexts& edited, const BeforeStep& step, const ReadCount& count, bool exact);
  bool is_exact() const { return is_exact_; }
  // Of a report that is not exact, fixes are searched for when someone asks.
  void find_fixes(const BeforeStep& step);
  const Report& last_report() const { return report_; }
  const std::vector<FileSummary>& summaries() const { return summaries_; }
  const Options& options() const { return options_; }
  const std::string& root() const { return sources_.user_code.root(); }
  // The texts that the report rests on, by absolute path.
  const std::map<std::string, std::string>& texts() const { return sources_.texts; }
  // Whether the report is of what is on disk, although the document has another text.
  bool is_of_disk(const std::string& path) const;

  // C++ files that are open, of which the start is not yet kept in the process; it takes as long as to parse
  // all of the file.
  bool waits_to_prepare(const EditedTexts& edited) const;
  void prepare(const EditedTexts& edited, const BeforeStep& step);

  AskedProgram asked();
  std::string report_name(const std::string& path) const { return sources_.user_code.report_name(path); }

  // The same with other texts, of which nothing is kept.
  Report tried(const EditedTexts& edited, const BeforeStep& step);

 private:
  struct Kept {  // where it is, for modules_ points to it
    source::CompileCommand command;
    FileSummary summary;  // without functions
    flow::Module module;
    FileStamps::Then rests_on;
  };
  void set_up();
  void list_files();
  void take_texts(const EditedTexts& edited);
  void take_text(const std::string& path, const EditedText& document);
  void take_cxx(const std::string& path, const EditedText& document);
  void read_all(const BeforeStep& step, const ReadCount& count);
  Kept* find_kept(const source::CompileCommand& command);
  const Kept& kept_of(const source::CompileCommand& command, const SourceReader& reader,
                      const BeforeStep& step);
  FileSummary broken(const source::CompileCommand& command) const;
  const source::CompileCommand* next_to_prepare(const EditedTexts& edited) const;
  flow::ChangedFunctions changed_since_link() const;
  void forget_roots_of(const flow::ChangedFunctions& changed);
  enum class Link : std::uint8_t { kAll, kChanged, kBodies };  // what was linked anew
  Link link();
  Link link_changed_alone();
  void link_changed();
  Report evaluate(const BeforeStep& step);

  std::vector<std::string> words_;
  std::string place_;
  bool is_folder_;
  Options options_;
  SourceList sources_, read_;         // with what was chosen to read headers through
  std::vector<std::string> on_disk_;  // Python files of the list, before open documents were added
  bool is_set_up_ = false, is_listed_ = false;
  std::set<std::string> left_out_;
  std::map<std::string, std::list<Kept>> kept_;  // by file
  std::string kept_for_;                         // the list of files that they rest on
  std::map<std::string, std::uint64_t> edited_;  // hashes of texts_
  FileStamps stamps_;                            // of one report
  std::shared_ptr<clang_front_end::Preambles> preambles_;
  std::set<std::string> prepared_;            // files that it was tried for
  std::vector<FileSummary> summaries_;        // without functions
  std::vector<const flow::Module*> modules_;  // with them, in their order; of kept_
  Report report_;
  bool is_exact_ = false;
  std::unique_ptr<LinkedProgram> linked_;
  std::vector<std::string> linked_units_;  // the sources that it is of
  std::vector<const flow::Module*> linked_modules_;
  std::map<const flow::Module*, flow::Module> replaced_;  // since then, as they were; those of kept_ by place
  ContractSet newest_;                                    // contracts for questions
  flow::RootMemo memo_;
  // Files that were read anew since the last report, and since the program was linked, as a report names
  // them.
  std::set<std::string> unreported_, unlinked_;
  std::optional<SourceFiles> disk_;  // texts for reports
};

}  // namespace dtype_guard::driver
