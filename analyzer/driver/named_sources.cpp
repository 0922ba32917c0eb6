#include "analyzer/driver/named_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "analyzer/driver/borrowed_flags.h"
#include "analyzer/driver/header_user.h"
#include "analyzer/driver/usage_error.h"
#include "rules/text/nearest_name.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;
using source::CompileCommand;
using source::matches_pattern;
using source::UserCode;

namespace {

constexpr std::string_view kAllBelow = "/*";

// What build systems write commands for as well: assembler and the like.
bool is_of_another_language(const std::string& file) {
  static constexpr std::array<std::string_view, 10> kEndings = {".s",   ".S", ".asm", ".f",     ".f90",
                                                                ".F90", ".F", ".rs",  ".swift", ".ispc"};
  const std::string ending = fs::path(file).extension().string();
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

std::string nothing_found(const std::string& source, const std::vector<CompileCommand>& all,
                          const std::string& database, bool excluding) {
  if (is_pattern(source)) {
    const bool folder = source.ends_with(kAllBelow);
    return fmt::format(
        "{} '{}'{} is in {}/compile_commands.json or included by one that is; build it with the project, "
        "or name a file and give the compiler flags after --",
        folder ? "no file below" : "no file that matches",
        folder ? source.substr(0, source.size() - kAllBelow.size()) : source,
        excluding ? " that is not excluded" : "", database);
  }
  if (is_header(source)) {
    return fmt::format(
        "'{}' is a header, and no file of {}/compile_commands.json includes it; give "
        "the compiler flags after --",
        source, database);
  }
  std::vector<std::string> known;
  for (const CompileCommand& each : all) known.push_back(each.file);
  return fmt::format(
      "'{}' is not in {}/compile_commands.json{}; build it with the project, or give the "
      "compiler flags after --",
      source, database, did_you_mean(source, known));
}

void expect_one_file(const std::string& source, const Options& options) {
  if (options.emit_summary.empty()) return;
  throw UsageError(
      fmt::format("--emit-summary: writes the summary of one source file, and '{}' may be many; name files "
                  "in runs of their own",
                  source));
}

class NamedSources {
 public:
  NamedSources(const std::vector<CompileCommand>& all, const std::string& database, const Options& options,
               SourceList& list)
      : all_(all), database_(database), options_(options), list_(list) {}

  void add(const std::vector<std::string>& sources) {
    for (const std::string& each : sources) {
      if (!add_direct(each) || is_pattern(each)) through_others_.insert(each);
    }
    if (through_others_.empty()) return;
    std::vector<CompileCommand> readable;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(readable),
                 [](const CompileCommand& each) { return !is_of_another_language(each.file); });
    HeaderUsers users = commands_that_include([&](const std::string& file) { return wanted(file); }, readable,
                                              list_.user_code);
    // What is excluded is read for a file that was named, not for all that a folder holds.
    for (auto& [file, commands] : users) {
      if (through_others_.count(file)) continue;
      std::erase_if(commands, [&](const CompileCommand* each) { return excluded(each->file); });
    }
    std::erase_if(users, [](const auto& each) { return each.second.empty(); });
    add_users(users);
    for (const std::string& each : sources) {
      if (!stands_for_something(each, users) && !borrow(each)) missing(each, sources.size() == 1);
    }
    if (!list_.missing.empty() && list_.commands.empty()) throw UsageError(list_.missing.front().detail);
  }

 private:
  bool excluded(const std::string& file) const {
    return std::any_of(options_.exclude.begin(), options_.exclude.end(),
                       [&](const std::string& each) { return matches_pattern(file, each); });
  }

  // Below the root the same files as in a run over everything; a folder beside it was named on purpose.
  bool stands_for(const std::string& pattern, const CompileCommand& command) const {
    if (!matches_pattern(command.file, pattern) || is_of_another_language(command.file)) return false;
    const bool inside = matches_pattern(command.file, list_.user_code.root() + std::string(kAllBelow));
    return !excluded(command.file) && (!inside || is_users_source(command, database_, list_.user_code));
  }

  bool add_direct(const std::string& source) {
    const std::size_t before = list_.commands.size();
    const bool pattern = is_pattern(source);
    for (const CompileCommand& each : all_) {
      if (pattern ? !stands_for(source, each) : each.file != source) continue;
      list_.commands.push_back(each);
      chosen_.insert(each.file);
      direct_[source].insert(each.file);
    }
    return list_.commands.size() > before;
  }

  bool wanted(const std::string& file) const {
    return std::any_of(through_others_.begin(), through_others_.end(), [&](const std::string& each) {
      if (!is_pattern(each)) return file == each;
      return matches_pattern(file, each) && list_.user_code.contains(file) && !excluded(file) &&
             !chosen_.count(file);
    });
  }

  // As few as will do: a file that is looked at anyway, else the nearest one.
  void add_users(const HeaderUsers& users) {
    for (const auto& [file, commands] : users) {
      list_.headers.push_back(list_.user_code.report_name(file));
      CarriedHeader& carried = list_.carried.emplace_back();
      carried.file = file;
      carried.named = through_others_.count(file) != 0;
      for (const CompileCommand* each : commands) carried.users.push_back(*each);
      if (std::any_of(commands.begin(), commands.end(),
                      [&](const CompileCommand* each) { return chosen_.count(each->file) != 0; })) {
        continue;
      }
      list_.commands.push_back(*commands.front());
      chosen_.insert(commands.front()->file);
      list_.carriers.insert(list_.user_code.report_name(commands.front()->file));
    }
  }

  bool stands_for_something(const std::string& source, const HeaderUsers& users) const {
    if (direct_.count(source) || list_.python_patterns.count(source)) return true;
    if (!is_pattern(source)) return users.count(source) != 0;
    return std::any_of(users.begin(), users.end(),
                       [&](const auto& each) { return matches_pattern(each.first, source); });
  }

  bool borrow(const std::string& source) {
    const auto borrowed = is_pattern(source) ? std::nullopt : borrowed_flags(source, all_);
    if (!borrowed) return false;
    list_.commands.push_back(borrowed->command);
    list_.notes.push_back(fmt::format(
        "'{}' is not in {}/compile_commands.json; it is read as '{}' is compiled",
        list_.user_code.report_name(source), database_, list_.user_code.report_name(borrowed->from)));
    return true;
  }

  void missing(const std::string& source, bool alone) {
    const std::string why = nothing_found(source, all_, database_, !options_.exclude.empty());
    const bool folder = is_pattern(source) && source.ends_with(kAllBelow);
    if (alone || (is_pattern(source) && !folder)) throw UsageError(why);
    const std::string name = folder ? source.substr(0, source.size() - kAllBelow.size()) : source;
    list_.missing.push_back({list_.user_code.report_name(name), "", "no-command", why});
  }

  const std::vector<CompileCommand>& all_;
  const std::string& database_;
  const Options& options_;
  SourceList& list_;
  std::set<std::string> chosen_;          // files that are looked at
  std::set<std::string> through_others_;  // SOURCEs that have files without a command
  std::map<std::string, std::set<std::string>> direct_;
};

// For each folder that sources of the database are in, and those above it: its real name, and the name there.
std::map<std::string, std::string> folder_names(const std::vector<CompileCommand>& all) {
  std::set<std::string> folders;
  for (const CompileCommand& each : all) {
    for (fs::path at = fs::path(each.file).parent_path(); folders.insert(at.string()).second;) {
      at = at.parent_path();
    }
  }
  std::map<std::string, std::string> names;
  for (const std::string& each : folders) {
    std::error_code error;
    const std::string real = fs::canonical(each, error).string();
    if (!error) names.emplace(real, each);
  }
  return names;
}

// As deep as names lead, so that a path and its real form can be told apart by what the database knows.
template <class Known>
fs::path nearest_known(fs::path at, const Known& is_known) {
  while (at != at.root_path() && !is_known(at.string())) at = at.parent_path();
  return at;
}

// By the name that the nearest folder above has in the database, where the path is not one of its own.
fs::path by_folder(const fs::path& folder, const fs::path& real, const std::vector<CompileCommand>& all) {
  const std::map<std::string, std::string> names = folder_names(all);
  const fs::path known = nearest_known(real, [&](const std::string& each) { return names.count(each) != 0; });
  const fs::path own = nearest_known(folder, [&](const std::string& each) {
    std::error_code error;
    const auto name = names.find(fs::canonical(each, error).string());
    return name != names.end() && name->second == each;
  });
  std::error_code error;
  if (known == known.root_path() || fs::canonical(own, error) == known) return folder;
  return absolute_name((fs::path(names.at(known.string())) / real.lexically_relative(known)).string());
}

}  // namespace

bool is_pattern(const std::string& source) {
  std::error_code error;
  return source.find('*') != std::string::npos && !fs::exists(source, error);
}

std::string absolute_name(const std::string& path) {
  const fs::path normal = fs::absolute(path).lexically_normal();
  return (normal.has_filename() || normal == normal.root_path() ? normal : normal.parent_path()).string();
}

std::vector<std::string> checked_sources(const Options& options) {
  std::vector<std::string> files;
  if (!options.stdin_file.empty()) {
    if (!options.sources.empty() && options.sources != std::vector<std::string>{"-"}) {
      throw UsageError("--stdin-filename: the source comes from standard input; name no other");
    }
    return {options.stdin_file};
  }
  for (const std::string& source : options.sources) {
    std::error_code error;
    if (source.empty()) throw UsageError("a SOURCE is empty; is a variable of the script not set?");
    if (fs::is_directory(source, error)) {
      if (options.flags) {
        throw UsageError(
            fmt::format("'{}' is a folder; name source files, or a compile database with -p", source));
      }
      expect_one_file(source, options);
      files.push_back(absolute_name(source) + std::string(kAllBelow));
    } else if (fs::exists(source, error) && !fs::is_regular_file(source, error)) {
      throw UsageError(
          fmt::format("'{}' is no regular file; name one, or give the text on standard input with "
                      "--stdin-filename",
                      source));
    } else if (fs::exists(source, error)) {
      files.push_back(absolute_name(source));
    } else if (source.find('*') != std::string::npos && !options.flags) {
      expect_one_file(source, options);
      files.push_back(absolute_name(source));
    } else {
      throw UsageError(fmt::format("no such source file: '{}'", source));
    }
  }
  return files;
}

std::string name_in_database(const std::string& source, const std::vector<CompileCommand>& all) {
  const bool folder = is_pattern(source);
  if (folder && !source.ends_with(kAllBelow)) return source;
  const auto named = [&](const CompileCommand& each) {
    return folder ? matches_pattern(each.file, source) : each.file == source;
  };
  std::error_code error;
  const fs::path parent = fs::path(source).parent_path();
  const fs::path real = fs::canonical(folder ? parent : fs::path(source), error);
  if (error || std::any_of(all.begin(), all.end(), named)) return source;
  const auto same = [&](const CompileCommand& each) {
    std::error_code none;
    return fs::path(each.file).filename() == real.filename() && fs::canonical(each.file, none) == real;
  };
  const auto found = folder ? all.end() : std::find_if(all.begin(), all.end(), same);
  if (found != all.end()) return found->file;
  const fs::path name = fs::path(source).filename();
  return (by_folder(parent, fs::canonical(parent, error), all) / name).string();
}

bool is_users_source(const CompileCommand& command, const std::string& database, const UserCode& user_code) {
  if (is_of_another_language(command.file)) return false;
  return user_code.contains(command.file) ||
         (matches_pattern(command.file, database + std::string(kAllBelow)) &&
          includes_source(command, user_code));
}

void add_named(const std::vector<std::string>& sources, const std::vector<CompileCommand>& all,
               const std::string& database, const Options& options, SourceList& list) {
  NamedSources(all, database, options, list).add(sources);
}

}  // namespace dtype_guard::driver
