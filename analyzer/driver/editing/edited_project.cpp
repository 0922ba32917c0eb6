#include "analyzer/driver/editing/edited_project.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "analyzer/clang/preambles.h"
#include "analyzer/driver/carried_headers.h"
#include "analyzer/driver/code_of_files.h"
#include "analyzer/driver/command_line.h"
#include "analyzer/driver/editing/diagnostics.h"
#include "analyzer/driver/reading.h"
#include "analyzer/driver/reporting.h"
#include "analyzer/driver/usage_error.h"
#include "analyzer/driver/version_variants.h"
#include "analyzer/flow/analysis.h"
#include "analyzer/flow/program/relink.h"
#include "rules/files/input_file.h"

namespace dtype_guard::driver {

namespace {

bool is_same(const flow::Module& a, const flow::Module& b) {
  return a.files == b.files && a.functions == b.functions && a.not_lowered == b.not_lowered &&
         a.overridden == b.overridden && a.classes == b.classes;
}

bool is_below(const std::string& path, const std::string& folder) {
  return path.starts_with(folder.ends_with('/') ? folder : folder + "/");
}

}  // namespace

EditedProject::EditedProject(std::vector<std::string> words, std::string place, bool is_folder)
    : words_(std::move(words)),
      place_(std::move(place)),
      is_folder_(is_folder),
      preambles_(std::make_shared<clang_front_end::Preambles>()) {}

bool EditedProject::is_above(const std::string& path) const {
  return is_folder_ ? is_below(path, place_) : path == place_;
}

void EditedProject::forget_cxx() {
  const auto some = std::erase_if(kept_, [](const auto& each) { return !source::is_python(each.first); });
  if (some == 0) return;
  linked_modules_.clear();
  replaced_.clear();
}

void EditedProject::set_up() {
  if (is_set_up_) return;
  std::vector<std::string> words = words_;
  const bool is_there = std::filesystem::exists(place_);
  if (is_there) words.insert(words.begin(), place_);
  CommandLine line = read_command_line(std::move(words));
  if (line.exit) throw UsageError("the setting 'arguments' has an option that prints and ends");
  options_ = std::move(line.options);
  if (!is_there) options_.stdin_file = place_;
  options_.quiet = true;
  options_.preambles = preambles_;
  kept_.clear();
  linked_.reset();
  linked_modules_.clear();
  is_listed_ = false;
  list_files();
  settle_project(options_, sources_.user_code.root());
  is_set_up_ = true;
}

void EditedProject::list_files() {
  if (is_listed_) return;
  sources_ = find_sources(options_);
  on_disk_.clear();
  for (const source::CompileCommand& each : sources_.commands) {
    if (source::is_python(each.file)) on_disk_.push_back(each.file);
  }
  std::sort(on_disk_.begin(), on_disk_.end());
  is_listed_ = true;
}

// Documents that are not on disk yet are files of the project as well. Of C++ the sources are; a header is as
// it was saved, for all that include it would have to be parsed again with each key.
void EditedProject::take_texts(const EditedTexts& edited) {
  sources_.texts.clear();
  edited_.clear();
  std::set<std::string> open;
  for (const auto& [path, document] : edited) open.insert(path);
  std::erase_if(prepared_, [&](const std::string& each) { return !open.contains(each); });
  preambles_->keep_only(open);
  std::erase_if(sources_.commands, [&](const source::CompileCommand& each) {
    return source::is_python(each.file) && !std::binary_search(on_disk_.begin(), on_disk_.end(), each.file);
  });
  for (const auto& [path, document] : edited) {
    if (!source::is_python(path)) {
      take_cxx(path, document);
      continue;
    }
    bool is_listed = std::binary_search(on_disk_.begin(), on_disk_.end(), path);
    if (!is_listed && is_folder_ && is_below(path, place_) && sources_.user_code.contains(path) &&
        !std::filesystem::exists(path)) {
      const auto behind = std::upper_bound(
          sources_.commands.begin(), sources_.commands.end(), path,
          [](const std::string& name, const source::CompileCommand& each) { return name < each.file; });
      sources_.commands.insert(behind, {std::filesystem::current_path().string(), path, {}});
      is_listed = true;
    }
    if (!is_listed) continue;
    take_text(path, document);
  }
  // What took the analysis down is parsed for no import either.
  for (const std::string& path : left_out_) {
    if (!source::is_python(path) || !is_above(path)) continue;
    sources_.texts[path].clear();
    edited_[path] = hash_of("");
  }
}

void EditedProject::take_text(const std::string& path, const EditedText& document) {
  const InputFile disk = read_input(path);
  if (disk.found.empty() && disk.text == document.text) return;
  sources_.texts[path] = document.text;
  edited_[path] = document.hash;
}

void EditedProject::take_cxx(const std::string& path, const EditedText& document) {
  const bool is_compiled = source::is_cxx(path) && !source::is_header(path) &&
                           std::any_of(sources_.commands.begin(), sources_.commands.end(),
                                       [&](const source::CompileCommand& each) { return each.file == path; });
  if (is_compiled) take_text(path, document);
}

bool EditedProject::is_of_disk(const std::string& path) const {
  return !source::is_python(path) && !sources_.texts.contains(path);
}

const source::CompileCommand* EditedProject::next_to_prepare(const EditedTexts& edited) const {
  if (!clang_front_end::is_built_in() || !is_set_up_) return nullptr;
  const auto next = std::find_if(sources_.commands.begin(), sources_.commands.end(),
                                 [&](const source::CompileCommand& each) {
                                   return edited.contains(each.file) && source::is_cxx(each.file) &&
                                          !source::is_header(each.file) && !left_out_.contains(each.file) &&
                                          !prepared_.contains(each.file) && !preambles_->has(each.file);
                                 });
  return next == sources_.commands.end() ? nullptr : &*next;
}

bool EditedProject::waits_to_prepare(const EditedTexts& edited) const { return next_to_prepare(edited); }

void EditedProject::prepare(const EditedTexts& edited, const BeforeStep& step) {
  const source::CompileCommand* const next = next_to_prepare(edited);
  if (!next) return;
  step(next->file);
  prepared_.insert(next->file);
  Cache none("", options_.rules_hash);
  SourceReader(options_, sources_, none).parse_start(*next);
}

void EditedProject::read_all(const BeforeStep& step, const ReadCount& count) {
  std::string files;
  for (const source::CompileCommand& each : sources_.commands)
    if (source::is_python(each.file)) files += each.file + '\n';
  // What an import means may change with every file that comes or goes.
  if (files != kept_for_) {
    std::erase_if(kept_, [](const auto& each) { return source::is_python(each.first); });
    linked_.reset();
    linked_modules_.clear();
  }
  kept_for_ = files;
  stamps_.begin(edited_);
  Cache cache(options_.cache, options_.rules_hash);
  const SourceReader reader(options_, sources_, cache);
  read_ = sources_;
  summaries_ = read_with_headers(options_, read_, cache, [&](const SourceList& list) {
    std::vector<FileSummary> out;
    for (const source::CompileCommand& each : list.commands) {
      count(out.size(), list.commands.size());
      out.push_back(kept_of(each, reader, step).summary);
    }
    return out;
  });
  modules_.clear();
  for (const source::CompileCommand& each : read_.commands) modules_.push_back(&find_kept(each)->module);
}

EditedProject::Kept* EditedProject::find_kept(const source::CompileCommand& command) {
  std::list<Kept>& known = kept_[command.file];
  const auto same = std::find_if(known.begin(), known.end(), [&](const Kept& one) {
    return one.command.arguments == command.arguments && one.command.directory == command.directory;
  });
  return same == known.end() ? nullptr : &*same;
}

const EditedProject::Kept& EditedProject::kept_of(const source::CompileCommand& command,
                                                  const SourceReader& reader, const BeforeStep& step) {
  const bool is_left_out = left_out_.contains(command.file);
  Kept* const known = find_kept(command);
  if (!is_left_out && known && stamps_.are(known->rests_on, command.file, step)) return *known;
  step(command.file);
  Kept fresh{command, is_left_out ? broken(command) : reader.read(command), {}, {}};
  fresh.module = std::move(fresh.summary.module);
  fresh.summary.module = {};
  fresh.summary.module.files = fresh.module.files;
  fresh.summary.module.not_lowered = fresh.module.not_lowered;
  // One that was left out is read when it is taken back, whatever became of it.
  if (is_left_out) {
    fresh.rests_on[""] = FileStamp{1, 0, 0, true, false};
  } else {
    for (const std::string& path : fresh.summary.files_read)
      fresh.rests_on[path] = stamps_.of(path, command.file, step);
    fresh.rests_on[command.file] = stamps_.of(command.file, command.file, step);
  }
  if (!known || FileStamps::has_other_on_disk(known->rests_on, fresh.rests_on)) disk_.reset();
  if (known && is_same(known->module, fresh.module)) {
    fresh.module = std::move(known->module);
  } else {
    unreported_.insert(fresh.summary.source);
    unlinked_.insert(fresh.summary.source);
    if (known) replaced_.try_emplace(&known->module, std::move(known->module));
  }
  if (known) return *known = std::move(fresh);
  return kept_[command.file].emplace_back(std::move(fresh));
}

FileSummary EditedProject::broken(const source::CompileCommand& command) const {
  FileSummary out;
  out.root = root();
  out.source = sources_.user_code.report_name(command.file);
  out.module.files.push_back(out.source);
  out.outcome = FileSummary::Outcome::kCrashed;
  return out;
}

flow::ChangedFunctions EditedProject::changed_since_link() const {
  flow::ChangedFunctions out;
  std::set<std::string> unknown = unlinked_;
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    const std::string& source = summaries_[i].source;
    if (!unlinked_.contains(source)) continue;
    unknown.erase(source);
    const auto before = replaced_.find(modules_[i]);
    if (before == replaced_.end()) {
      out.add(source);
    } else {
      out.add(source, before->second, *modules_[i]);
    }
  }
  for (const std::string& each : unknown) out.add(each);
  return out;
}

// Those that may come to what has changed.
void EditedProject::forget_roots_of(const flow::ChangedFunctions& changed) {
  const flow::Module& module = linked_->module;
  const std::vector<std::uint32_t> functions = changed.in(module, linked_units_);
  if (functions.empty()) return;
  std::set<std::string> names;
  const flow::Program& program = *linked_->program;
  const auto& all = memo_.roots([&] { return flow::roots_to_analyse(program); });
  for (const std::uint32_t root : flow::roots_through(program, all, functions))
    names.insert(flow::RootMemo::name_of(module, root));
  memo_.forget(names);
}

// Where the files are the same as before, those that have not changed need not be linked again; where only
// bodies of functions differ, what is known of all others stays.
EditedProject::Link EditedProject::link_changed_alone() {
  if (!linked_ || linked_modules_ != modules_) return Link::kAll;
  std::optional<std::vector<std::uint32_t>> bodies(std::in_place);
  for (std::uint32_t i = 0; i < modules_.size(); ++i) {
    const auto before = replaced_.find(modules_[i]);
    if (before == replaced_.end()) continue;
    std::vector<const flow::Module*> others = modules_;
    // Those that follow are still linked as they were.
    for (std::uint32_t k = i + 1; k < modules_.size(); ++k) {
      const auto later = replaced_.find(modules_[k]);
      if (later != replaced_.end()) others[k] = &later->second;
    }
    const flow::Relinked done = flow::relink(linked_->module, others, i, before->second);
    if (!done.is_done) return Link::kAll;
    if (!done.bodies) bodies.reset();
    if (bodies) bodies->insert(bodies->end(), done.bodies->begin(), done.bodies->end());
  }
  linked_->program = bodies ? std::make_unique<const flow::Program>(*linked_->program, *bodies)
                            : std::make_unique<const flow::Program>(linked_->module);
  return bodies ? Link::kBodies : Link::kChanged;
}

EditedProject::Link EditedProject::link() {
  memo_.forget_program();
  const Link how = link_changed_alone();
  if (how == Link::kAll) {
    std::vector<flow::Module> modules;
    for (const flow::Module* each : modules_) modules.push_back(*each);
    linked_ = linked_program(std::move(modules));
  }
  linked_modules_ = modules_;
  replaced_.clear();
  unlinked_.clear();
  linked_units_.clear();
  for (const FileSummary& each : summaries_) linked_units_.push_back(each.source);
  return how;
}

// What roots gave is kept where they ran nothing that has changed or, where functions came or went, can come
// to nothing of it in the program as it was and as it is.
void EditedProject::link_changed() {
  if (linked_ && unlinked_.empty()) return;
  if (!linked_) {
    memo_ = {};
    link();
    return;
  }
  const flow::ChangedFunctions changed = changed_since_link();
  memo_.forget_that_ran(changed.in(linked_->module, linked_units_));
  if (!changed.are_bodies() || !memo_.knows_what_ran()) forget_roots_of(changed);
  if (link() == Link::kBodies) return;
  forget_roots_of(changed);
  memo_.forget_what_ran();
}

Report EditedProject::evaluate(const BeforeStep& step) {
  Options options = options_;
  options.memo = &memo_;
  options.before_root = [&](const std::string& file) {
    step(file.empty() ? "" : absolute_path(root(), file));
  };
  ReportScope scope;
  scope.headers = read_.headers;
  scope.carriers = read_.carriers;
  scope.missing = not_looked_at(read_);
  for (const auto& [path, text] : sources_.texts) scope.texts[sources_.user_code.report_name(path)] = text;
  scope.linked = linked_.get();
  if (!disk_) disk_.emplace(root());
  scope.disk = &*disk_;
  scope.on_trial = true;
  Report out = report_on(summaries_, root(), options, scope);
  CodeOfFiles(*disk_, scope.texts).count_in_files(out);
  memo_.end_search();
  return out;
}

const Report& EditedProject::report(const EditedTexts& edited, const BeforeStep& step, const ReadCount& count,
                                    bool exact) {
  set_up();
  list_files();
  take_texts(edited);
  read_all(step, count);
  link_changed();
  flow::RootMemo before;
  if (exact) before = std::exchange(memo_, {});
  memo_.note_changed(unreported_);
  memo_.search_fixes(exact);
  memo_.begin();
  is_exact_ = is_exact_ && unreported_.empty();
  try {
    report_ = evaluate(step);
  } catch (...) {
    // For the next answer, which may come before the next last word.
    if (exact) memo_ = std::move(before);
    throw;
  }
  // A kept root does not say which calls it came to, which --strict asks for.
  is_exact_ = exact || (is_exact_ && !options_.strict) || !memo_.was_used();
  unreported_.clear();
  return report_;
}

void EditedProject::find_fixes(const BeforeStep& step) {
  if (!memo_.lacks_fixes()) return;
  memo_.search_fixes(true);
  const Report now = evaluate(step);
  flow::take_over_fixes(now.findings, {}, report_.findings);
}

AskedProgram EditedProject::asked() {
  newest_ = newest_contracts(options_.contracts, options_.versions);
  AskedProgram out{&linked_->module, linked_->program.get(), analysis_options(summaries_, options_)};
  out.options.contracts = &newest_;
  return out;
}

Report EditedProject::tried(const EditedTexts& edited, const BeforeStep& step) {
  EditedProject other(words_, place_, is_folder_);
  other.options_ = options_;
  other.sources_ = sources_;
  other.on_disk_ = on_disk_;
  other.left_out_ = left_out_;
  other.kept_ = kept_;
  other.kept_for_ = kept_for_;
  other.is_set_up_ = other.is_listed_ = true;
  return other.report(
      edited, step, [](std::size_t, std::size_t) {}, true);
}

}  // namespace dtype_guard::driver
