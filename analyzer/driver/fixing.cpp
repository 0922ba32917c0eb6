#include "analyzer/driver/fixing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/driver/code_of_files.h"
#include "analyzer/driver/edited_text.h"
#include "analyzer/driver/exported_fixes.h"
#include "analyzer/driver/reading.h"
#include "analyzer/driver/reporting.h"
#include "analyzer/driver/usage_error.h"
#include "rules/files/atomic_file.h"
#include "rules/report/shown_place.h"
#include "rules/report/source_files.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;
using source::CompileCommand;
using source::SourceError;

namespace {

// Fixes that fail together are tried one by one, up to this many: each trial reads the files again.
constexpr std::size_t kTriedOneByOne = 20;
// Rounds of a pass: after a refused fix the next best one of that finding is tried with all others.
constexpr int kRounds = 3;
// Passes over the files, where edits of one pass overlap and have to wait for the next.
constexpr int kPasses = 8;

using FileEdits = std::map<std::string, std::vector<ByteEdit>>;  // by report name

// The names under which one file was read, where links lead to it: an edit under one is an edit of all.
class FileNames {
 public:
  FileNames(const std::string& root, const std::vector<FileSummary>& summaries) : root_(root) {
    for (const FileSummary& each : summaries) {
      add(each.source);
      for (const std::string& file : each.module.files) add(file);
    }
  }
  std::set<std::string> of(const std::string& file) const {
    const auto known = real_.find(file);
    return known == real_.end() ? std::set{file} : names_.at(known->second);
  }

 private:
  void add(const std::string& file) {
    const auto [known, fresh] = real_.try_emplace(file);
    if (!fresh) return;
    std::error_code error;
    known->second = fs::canonical(root_ / file, error).string();
    if (error) known->second = file;
    names_[known->second].insert(file);
  }

  fs::path root_;
  std::map<std::string, std::string> real_;
  std::map<std::string, std::set<std::string>> names_;
};

class Fixing {
 public:
  Fixing(std::vector<FileSummary> summaries, const Options& options, const SourceList& sources, Cache& cache)
      : before_(std::move(summaries)),
        options_(options),
        sources_(sources),
        cache_(cache),
        root_(sources.user_code.root()),
        files_(root_),
        code_(files_, none_),
        names_(root_, before_) {}

  FixedSources run() {
    Report report;
    for (int round = 0; round < kRounds; ++round) {
      report = report_on(before_, root_, options_,
                         {sources_.headers,
                          sources_.carriers,
                          {},
                          not_looked_at(sources_),
                          refused_,
                          /*on_trial=*/round > 0});
      chosen_.clear();
      not_chosen_.clear();
      choose(report);
      const std::size_t refused = refused_.size();
      accept(report);
      if (refused_.size() == refused) break;
    }
    if (!options_.export_fixes.empty()) export_to(report);
    if (options_.fix && !accepted_.empty()) write();
    if (written_.empty()) return {std::move(report), std::move(before_)};
    return std::move(after_);
  }
  const std::set<std::string>& written() const { return written_; }
  std::size_t fixed() const { return written_.empty() ? 0 : accepted_.size(); }
  void tell_what_is_left() const {
    for (const auto& [finding, why] : not_chosen_)
      std::cerr << fmt::format("dtype-lint: note: {}: {}\n", finding, why);
    const auto fixed = [&](const std::string& finding) {
      return std::find(fixed_.begin(), fixed_.end(), finding) != fixed_.end();
    };
    for (const auto& [finding, why] : not_accepted_) {
      if (!fixed(finding)) std::cerr << fmt::format("dtype-lint: note: {}: {}\n", finding, why);
    }
  }

 private:
  static std::string place(const Finding& finding) { return shown_place(finding.location); }
  static std::string not_fixed(const Finding& finding) {
    return fmt::format("{}: {} not fixed", place(finding), finding.rule);
  }
  // The first reason is that of the best edit.
  void refuse(const Finding& finding, const std::string& why) {
    const auto same = [&](const auto& each) { return each.first == not_fixed(finding); };
    if (std::none_of(not_accepted_.begin(), not_accepted_.end(), same))
      not_accepted_.emplace_back(not_fixed(finding), why);
  }

  // Below the root even when links are followed, and writable.
  std::string why_not_editable(const std::string& file) const {
    std::error_code error;
    const fs::path path = fs::canonical(fs::path(root_) / file, error);
    const std::string folder = fs::canonical(root_, error).string() + "/";
    if (error || !path.string().starts_with(folder)) {
      return fmt::format("'{}' is outside the project folder '{}'", file, root_);
    }
    if (options_.fix && ::access(path.c_str(), W_OK) != 0) {
      return fmt::format("'{}' cannot be written: {}", file, std::strerror(errno));
    }
    return "";
  }

  // Findings beside errors may differ without them, and an edit there cannot be checked.
  std::string why_not_readable(const std::string& file) const {
    const SourceError* error = nullptr;
    for (const FileSummary& each : before_) {
      const auto& read = each.module.files;
      if (each.source != file && std::find(read.begin(), read.end(), file) == read.end()) continue;
      if (!each.failed()) return "";
      if (!error && !each.errors.empty()) error = &each.errors.front();
    }
    if (!error) return fmt::format("'{}' could not be read to its end", file);
    return fmt::format("'{}' is compiled with errors, correct these first: {}:{}: {}", file, error->file,
                       error->line, error->message);
  }

  // The edits of a finding, or why they cannot be made beside those that were chosen.
  std::string bytes_of(const Finding& finding, FileEdits& out) {
    for (const Edit& edit : finding.fixes.front().edits) {
      const std::string* text = code_.text(edit.range.file);
      std::vector<ByteEdit> bytes = text ? byte_edits(*text, edit) : std::vector<ByteEdit>();
      if (bytes.empty()) return fmt::format("'{}' is not as it was read", edit.range.file);
      if (const Notebook* notebook = code_.notebook(edit.range.file)) bytes = edits_in_file(*notebook, bytes);
      if (bytes.empty()) return "its edit goes beyond one string of the cell's source";
      if (std::string why = why_not_editable(edit.range.file); !why.empty()) return why;
      if (std::string why = why_not_readable(edit.range.file); !why.empty()) return why;
      for (const std::string& name : names_.of(edit.range.file)) {
        out[name].insert(out[name].end(), bytes.begin(), bytes.end());
      }
    }
    for (const auto& [other, edits] : chosen_) {
      for (const auto& [file, theirs] : edits) {
        if (compatible(theirs, out[file])) continue;
        return fmt::format("its edit overlaps that of the finding at {}; run --fix again", place(*other));
      }
    }
    return "";
  }

  void choose(const Report& report) {
    for (const Finding& each : report.findings) {
      if (!is_open(each) || each.fixes.empty()) continue;
      FileEdits edits;
      const std::string why = bytes_of(each, edits);
      if (why.empty()) {
        chosen_.emplace_back(&each, std::move(edits));
      } else {
        not_chosen_.emplace_back(not_fixed(each), why);
      }
    }
  }

  static FileEdits edits_of(const std::vector<std::pair<const Finding*, FileEdits>>& fixes) {
    FileEdits out;
    for (const auto& [finding, edits] : fixes) {
      for (const auto& [file, list] : edits) out[file].insert(out[file].end(), list.begin(), list.end());
    }
    return out;
  }

  // All at once, or else one after the other.
  void accept(Report& report) {
    accepted_ = chosen_;
    std::string why = accepted_.empty() ? "" : try_accepted(report);
    if (!why.empty()) {
      accepted_.clear();
      std::size_t tried = 0;
      for (const auto& each : chosen_) {
        accepted_.push_back(each);
        const bool too_many = chosen_.size() > 1 && tried++ >= kTriedOneByOne;
        if (chosen_.size() > 1) why = too_many ? "too many in one run" : try_accepted(report);
        if (why.empty()) continue;
        refuse(*each.first, why);
        if (!too_many) refused_.push_back(each.first->fixes.front().edits);
        accepted_.pop_back();
      }
      // after_ holds the result of the last trial.
      if (!accepted_.empty() && !try_accepted(report).empty()) accepted_.clear();
    }
    std::set<const Finding*> kept;
    fixed_.clear();
    for (const auto& [finding, edits] : accepted_) {
      kept.insert(finding);
      fixed_.push_back(not_fixed(*finding));
    }
    for (Finding& each : report.findings) {
      if (!kept.count(&each)) each.fixes.clear();
    }
  }

  // Reads the edited text; empty when the findings are gone and no new one came.
  std::string try_accepted(const Report& report) {
    texts_.clear();
    SourceList again = sources_;
    again.commands.clear();
    for (const auto& [file, edits] : edits_of(accepted_)) {
      texts_[file] = edited_text(*files_.text(file), edits);
      again.texts[(fs::path(root_) / file).lexically_normal().string()] = texts_[file];
    }
    after_.summaries = before_;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const auto& read = before_[i].module.files;
      const bool edited = texts_.count(before_[i].source) ||
                          std::any_of(read.begin(), read.end(),
                                      [&](const std::string& file) { return texts_.count(file) != 0; });
      if (!edited) continue;
      which.push_back(i);
      again.commands.push_back(sources_.commands[i]);
    }
    std::vector<FileSummary> fresh = read_sources(options_, again, cache_);
    for (std::size_t i = 0; i < which.size(); ++i) {
      if (fresh[i].failed() && !as_before(fresh[i], before_[which[i]])) {
        const auto& errors = fresh[i].errors;
        return errors.empty() ? "the edited text is not read to its end"
                              : fmt::format("the edited text does not compile: {}:{}: {}", errors[0].file,
                                            errors[0].line, errors[0].message);
      }
      after_.summaries[which[i]] = std::move(fresh[i]);
    }
    Options quiet = options_;
    quiet.write_baseline.clear();
    after_.report =
        report_on(after_.summaries, root_, quiet,
                  {sources_.headers, sources_.carriers, texts_, not_looked_at(sources_), {}, true});
    return compare(report);
  }

  static bool as_before(const FileSummary& now, const FileSummary& then) {
    const auto same = [](const SourceError& a, const SourceError& b) {
      return a.file == b.file && a.line == b.line && a.message == b.message;
    };
    return now.outcome == then.outcome &&
           std::equal(now.errors.begin(), now.errors.end(), then.errors.begin(), then.errors.end(), same);
  }

  // Edits add no lines, so what is found is where it was.
  std::string compare(const Report& before) const {
    using Key = std::tuple<std::string, int, std::string>;
    const auto key = [](const Finding& each) {
      return Key(each.location.file, each.location.line, each.rule);
    };
    std::map<Key, int> open;
    for (const Finding& each : before.findings) open[key(each)] += is_open(each) ? 1 : 0;
    for (const auto& [finding, edits] : accepted_) --open[key(*finding)];
    for (const Finding& each : after_.report.findings) {
      if (is_open(each) && each.level != Level::kNote && --open[key(each)] < 0) {
        return fmt::format("the edited text has {} at {}", each.rule, shown_line(each.location));
      }
    }
    return "";
  }

  void write() {
    for (const auto& [file, text] : texts_) {
      SourceFiles now(root_);
      const std::string* current = now.text(file);
      if (current && *current == text) continue;  // written under another name
      if (!current || *current != *files_.text(file)) {
        throw UsageError(
            fmt::format("--fix: '{}' was changed while it was checked; nothing more was written, run "
                        "it again",
                        file));
      }
      const std::string problem = write_atomically((fs::path(root_) / file).string(), text);
      if (!problem.empty()) throw UsageError(fmt::format("--fix: writing '{}' failed: {}", file, problem));
      written_.insert(file);
    }
  }

  void export_to(Report report) {
    code_.count_in_files(report);
    const std::string text = clang_front_end::yaml_of(
        exported_fixes(report, [&](const std::string& file) { return files_.text(file); }));
    const std::string problem = write_atomically(options_.export_fixes, text);
    if (!problem.empty()) {
      throw UsageError(
          fmt::format("--export-fixes: writing '{}' failed: {}", options_.export_fixes, problem));
    }
  }

  std::vector<FileSummary> before_;
  const Options& options_;
  const SourceList& sources_;
  Cache& cache_;
  std::string root_;
  SourceFiles files_;
  std::map<std::string, std::string> none_;  // texts that are not on disk
  CodeOfFiles code_;
  FileNames names_;
  std::vector<std::pair<const Finding*, FileEdits>> chosen_, accepted_;
  std::vector<std::vector<Edit>> refused_;
  std::vector<std::pair<std::string, std::string>> not_chosen_, not_accepted_;  // which finding, and why
  std::vector<std::string> fixed_;                                              // findings, likewise
  std::set<std::string> written_;
  std::map<std::string, std::string> texts_;  // edited, by report name
  FixedSources after_;
};

}  // namespace

// A fix that overlaps another one is offered again in the next pass, until none is left.
FixedSources fix_sources(std::vector<FileSummary> summaries, const Options& options,
                         const SourceList& sources, Cache& cache) {
  Options now = options;
  FixedSources out;
  std::set<std::string> files;
  std::size_t fixed = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    Fixing fixing(std::move(summaries), now, sources, cache);
    out = fixing.run();
    fixed += fixing.fixed();
    files.insert(fixing.written().begin(), fixing.written().end());
    const bool more = !fixing.written().empty() && pass + 1 < kPasses &&
                      std::any_of(out.report.findings.begin(), out.report.findings.end(),
                                  [](const Finding& each) { return is_open(each) && !each.fixes.empty(); });
    if (!more) {
      fixing.tell_what_is_left();
      break;
    }
    summaries = std::move(out.summaries);
    now.export_fixes.clear();  // they are for the text as it was
  }
  if (!files.empty()) {
    std::cerr << fmt::format("dtype-lint: fixed {} finding{} in {} file{}\n", fixed, fixed == 1 ? "" : "s",
                             files.size(), files.size() == 1 ? "" : "s");
  }
  return out;
}

}  // namespace dtype_guard::driver
