#include "analyzer/driver/editing/edited_project.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "analyzer/driver/carried_headers.h"
#include "analyzer/driver/command_line.h"
#include "analyzer/driver/editing/diagnostics.h"
#include "analyzer/driver/reading.h"
#include "analyzer/driver/reporting.h"
#include "analyzer/driver/usage_error.h"
#include "analyzer/driver/version_variants.h"
#include "analyzer/flow/analysis.h"
#include "rules/files/input_file.h"

namespace dtype_guard::driver {

using source::CompileCommand;

namespace {

// A file changed later than this before it was read may be changed again within the same time stamp.
constexpr std::chrono::nanoseconds kTrustedAfter = std::chrono::seconds(2);

std::uint64_t hash_of(const std::string& text) { return XXH3_64bits(text.data(), text.size()); }

bool is_same(const flow::Module& a, const flow::Module& b) {
  return a.files == b.files && a.functions == b.functions && a.not_lowered == b.not_lowered &&
         a.overridden == b.overridden && a.classes == b.classes;
}

bool is_below(const std::string& path, const std::string& folder) {
  return path.starts_with(folder.ends_with('/') ? folder : folder + "/");
}

}  // namespace

bool EditedProject::is_above(const std::string& path) const {
  return is_folder_ ? is_below(path, place_) : path == place_;
}

void EditedProject::forget_cxx() {
  std::erase_if(kept_, [](const auto& each) { return !source::is_python(each.first); });
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
  kept_.clear();
  linked_.reset();
  is_listed_ = false;
  list_files();
  settle_project(options_, sources_.user_code.root());
  is_set_up_ = true;
}

void EditedProject::list_files() {
  if (is_listed_) return;
  sources_ = find_sources(options_);
  on_disk_.clear();
  for (const CompileCommand& each : sources_.commands) {
    if (source::is_python(each.file)) on_disk_.push_back(each.file);
  }
  std::sort(on_disk_.begin(), on_disk_.end());
  is_listed_ = true;
}

// Documents that are not on disk yet are files of the project as well. C++ is analysed as it was saved.
void EditedProject::take_texts(const EditedTexts& edited) {
  sources_.texts.clear();
  edited_.clear();
  std::erase_if(sources_.commands, [&](const CompileCommand& each) {
    return source::is_python(each.file) && !std::binary_search(on_disk_.begin(), on_disk_.end(), each.file);
  });
  for (const auto& [path, document] : edited) {
    if (!source::is_python(path)) continue;
    bool is_listed = std::binary_search(on_disk_.begin(), on_disk_.end(), path);
    if (!is_listed && is_folder_ && is_below(path, place_) && sources_.user_code.contains(path) &&
        !std::filesystem::exists(path)) {
      const auto behind = std::upper_bound(
          sources_.commands.begin(), sources_.commands.end(), path,
          [](const std::string& name, const CompileCommand& each) { return name < each.file; });
      sources_.commands.insert(behind, {std::filesystem::current_path().string(), path, {}});
      is_listed = true;
    }
    if (!is_listed) continue;
    const InputFile disk = read_input(path);
    if (disk.found.empty() && disk.text == document.text) continue;
    sources_.texts[path] = document.text;
    edited_[path] = document.hash;
  }
}

EditedProject::Stamp EditedProject::stamp(const std::string& path) {
  const auto [known, fresh] = stamps_.try_emplace(path);
  Stamp& out = known->second;
  if (!fresh) return out;
  if (const auto edited = edited_.find(path); edited != edited_.end()) {
    out.hash = edited->second;
    out.is_edited = true;
    return out;
  }
  struct stat now {};
  if (::stat(path.c_str(), &now) != 0) return out;
  out.size = static_cast<std::uint64_t>(now.st_size);
  out.modified = std::int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
  const auto clock = std::chrono::system_clock::now().time_since_epoch();
  out.is_trusted = clock - std::chrono::nanoseconds(out.modified) > kTrustedAfter;
  if (!out.is_trusted) out.hash = hash_of(read_input(path).text);
  return out;
}

bool EditedProject::is_current(Kept& kept) {
  for (auto& [path, then] : kept.rests_on) {
    Stamp now = stamp(path);
    if (now.is_edited != then.is_edited) return false;
    if (now.is_edited) {
      if (now.hash != then.hash) return false;
      continue;
    }
    if (now.size != then.size) return false;
    if (now.is_trusted && then.is_trusted && now.modified == then.modified) continue;
    if (then.hash == 0) return false;  // it was not read, and has another time
    if (now.hash == 0) now.hash = hash_of(read_input(path).text);
    if (now.hash != then.hash) return false;
    then = now;
  }
  return true;
}

void EditedProject::read_all(const BeforeStep& step, const ReadCount& count) {
  std::string files;
  for (const CompileCommand& each : sources_.commands)
    if (source::is_python(each.file)) files += each.file + '\n';
  // What an import means may change with every file that comes or goes.
  if (files != kept_for_) {
    std::erase_if(kept_, [](const auto& each) { return source::is_python(each.first); });
    linked_.reset();
  }
  kept_for_ = files;
  stamps_.clear();
  Cache cache(options_.cache, options_.rules_hash);
  const SourceReader reader(options_, sources_, cache);
  read_ = sources_;
  summaries_ = read_with_headers(options_, read_, cache, [&](const SourceList& list) {
    std::vector<FileSummary> out;
    for (const CompileCommand& each : list.commands) {
      count(out.size(), list.commands.size());
      out.push_back(kept_of(each, reader, step).summary);
    }
    return out;
  });
  modules_.clear();
  for (const CompileCommand& each : read_.commands) modules_.push_back(&find_kept(each)->module);
}

EditedProject::Kept* EditedProject::find_kept(const CompileCommand& command) {
  std::list<Kept>& known = kept_[command.file];
  const auto same = std::find_if(known.begin(), known.end(), [&](const Kept& one) {
    return one.command.arguments == command.arguments && one.command.directory == command.directory;
  });
  return same == known.end() ? nullptr : &*same;
}

const EditedProject::Kept& EditedProject::kept_of(const CompileCommand& command, const SourceReader& reader,
                                                  const BeforeStep& step) {
  const bool is_left_out = left_out_.contains(command.file);
  Kept* const known = find_kept(command);
  if (!is_left_out && known && is_current(*known)) return *known;
  step(command.file);
  Kept fresh{command, is_left_out ? broken(command) : reader.read(command), {}, {}};
  fresh.module = std::move(fresh.summary.module);
  fresh.summary.module = {};
  fresh.summary.module.files = fresh.module.files;
  fresh.summary.module.not_lowered = fresh.module.not_lowered;
  // One that was left out is read when it is taken back, whatever became of it.
  if (is_left_out) fresh.rests_on[""] = Stamp{1, 0, 0, true, false};
  for (const std::string& path : fresh.summary.files_read) fresh.rests_on[path] = stamp(path);
  fresh.rests_on[command.file] = stamp(command.file);
  if (known && is_same(known->module, fresh.module)) {
    fresh.module = std::move(known->module);
  } else {
    unreported_.insert(fresh.summary.source);
  }
  if (known) return *known = std::move(fresh);
  return kept_[command.file].emplace_back(std::move(fresh));
}

FileSummary EditedProject::broken(const CompileCommand& command) const {
  FileSummary out;
  out.root = root();
  out.source = sources_.user_code.report_name(command.file);
  out.module.files.push_back(out.source);
  out.outcome = FileSummary::Outcome::kCrashed;
  return out;
}

// Those that may come to what a changed file has or had.
void EditedProject::forget_roots_of_changed() {
  const flow::Module& module = linked_->module;
  std::vector<std::uint32_t> functions;
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    const std::vector<std::uint32_t>& units = flow::units_of(module.functions[i]);
    const bool is_changed = std::any_of(units.begin(), units.end(), [&](std::uint32_t unit) {
      return unit < linked_units_.size() && unreported_.contains(linked_units_[unit]);
    });
    if (is_changed) functions.push_back(i);
  }
  if (functions.empty()) return;
  std::set<std::string> names;
  for (const std::uint32_t root : flow::roots_to_analyse(*linked_->program, functions))
    names.insert(flow::RootMemo::name_of(module, root));
  memo_.forget(names);
}

void EditedProject::link() {
  std::vector<flow::Module> modules;
  for (const flow::Module* each : modules_) modules.push_back(*each);
  linked_ = linked_program(std::move(modules));
  linked_units_.clear();
  for (const FileSummary& each : summaries_) linked_units_.push_back(each.source);
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
  scope.on_trial = true;
  return report_on(summaries_, root(), options, scope);
}

const Report& EditedProject::report(const EditedTexts& edited, const BeforeStep& step, const ReadCount& count,
                                    bool exact) {
  set_up();
  list_files();
  take_texts(edited);
  read_all(step, count);
  const bool begins = exact || !linked_;
  flow::RootMemo before;
  if (begins) {
    before = std::exchange(memo_, {});
  } else if (!unreported_.empty()) {
    forget_roots_of_changed();
  }
  if (!linked_ || !unreported_.empty()) {
    link();
    if (!begins) forget_roots_of_changed();
  }
  memo_.changed = unreported_;
  memo_.begin();
  is_exact_ = is_exact_ && unreported_.empty();
  try {
    report_ = evaluate(step);
  } catch (...) {
    if (exact) memo_ = std::move(before);  // for the next answer, which may come before the next last word
    throw;
  }
  is_exact_ = is_exact_ || !memo_.was_used();
  unreported_.clear();
  return report_;
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
