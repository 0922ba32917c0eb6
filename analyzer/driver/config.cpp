#include "analyzer/driver/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "analyzer/driver/options.h"
#include "analyzer/driver/pyproject.h"
#include "analyzer/driver/sources.h"
#include "analyzer/driver/usage_error.h"
#include "rules/files/input_file.h"
#include "rules/text/nearest_name.h"
#include "rules/text/printable.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int kDeepest = 64;
constexpr double kLongest = std::numeric_limits<unsigned>::max();  // seconds

// One file being read: every complaint names it and the member.
class Reader {
 public:
  explicit Reader(fs::path file) : file_(std::move(file)) {}

  Config read(bool& inherit) {
    InputFile input = read_input(file_);
    if (input.found.empty() && file_.extension() == ".toml") {
      const std::optional<std::string> own = pyproject_settings(file_);
      if (!own)
        throw UsageError(fmt::format("{}: has no table [tool.dtype-lint]; write one", file_.string()));
      input.text = *own;
    }
    if (!input.found.empty()) {
      throw UsageError(
          fmt::format("cannot read the configuration '{}', which is {}; expected a JSON object, such as {{}}",
                      file_.string(), input.found));
    }
    json all;
    try {
      const auto not_too_deep = [&](int depth, json::parse_event_t, json&) {
        if (depth <= kDeepest) return true;
        throw UsageError(fmt::format("{}: nested deeper than {}, as no member is", file_.string(), kDeepest));
      };
      all = json::parse(input.text, not_too_deep, true, true);
    } catch (const json::exception& error) {
      throw UsageError(fmt::format("{}: not JSON: {}", file_.string(), error.what()));
    }
    if (!all.is_object()) wrong("the file", all, "an object");
    const std::map<std::string, std::function<void(const json&)>> members = known_members(inherit);
    for (const auto& [name, value] : all.items()) {
      const auto found = members.find(name);
      if (found == members.end()) unknown(name, members);
      member_ = "'" + name + "'";
      found->second(value);
    }
    return std::move(config_);
  }

 private:
  std::map<std::string, std::function<void(const json&)>> known_members(bool& inherit) {
    const auto folder = file_.parent_path();
    return {
        {"inherit", [&inherit, this](const json& value) { inherit = boolean(value); }},
        {"precision", [this](const json& value) { config_.precision = words(value); }},
        {"precision-settings", [this](const json& value) { settings(value); }},
        {"torch", [this](const json& value) { config_.torch = word(value); }},
        {"device", [this](const json& value) { config_.device = word(value); }},
        {"fail-on", [this](const json& value) { config_.fail_on = word(value); }},
        {"strict", [this](const json& value) { config_.strict = boolean(value); }},
        {"rules", [this](const json& value) { config_.rules = words(value); }},
        {"per-file-rules", [this, folder](const json& value) { per_file_rules(value, folder); }},
        {"extra-args", [this](const json& value) { config_.extra_args = words(value); }},
        {"contracts",
         [this, folder](const json& value) {
           for (const std::string& each : words(value)) {
             config_.contracts.push_back((folder / each).lexically_normal().string());
           }
         }},
        {"exclude", [this, folder](const json& value) { globs(value, folder, config_.exclude); }},
        {"external", [this, folder](const json& value) { globs(value, folder, config_.external); }},
        {"time-limit",
         [this](const json& value) {
           const double seconds = value.is_number() ? value.get<double>() : 0;
           const bool whole = std::trunc(seconds) == seconds && seconds <= kLongest;
           if (seconds < 1 || !whole) wrong(member_, value, "whole seconds, 1 or more");
           config_.time_limit = static_cast<unsigned>(seconds);
         }},
    };
  }

  [[noreturn]] void wrong(const std::string& what, const json& found, const std::string& expected) const {
    const std::string text = found.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 60);
    throw UsageError(fmt::format("{}: {} is {}, expected {}", file_.string(), what, text, expected));
  }
  template <class Members>
  [[noreturn]] void unknown(const std::string& name, const Members& members) const {
    std::vector<std::string> names;
    for (const auto& each : members) names.push_back(each.first);
    throw UsageError(fmt::format("{}: unknown member '{}'{}; known are {}", file_.string(),
                                 printable(name.substr(0, 60)), did_you_mean(name, names),
                                 fmt::join(names, ", ")));
  }

  bool boolean(const json& value) const {
    if (!value.is_boolean()) wrong(member_, value, "true or false");
    return value.get<bool>();
  }
  std::string word(const json& value) const {
    if (!value.is_string()) wrong(member_, value, "a string");
    return value.get<std::string>();
  }
  std::vector<std::string> words(const json& value) const {
    const auto is_string = [](const json& each) { return each.is_string(); };
    if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_string)) {
      wrong(member_, value, "a list of strings");
    }
    return value.get<std::vector<std::string>>();
  }
  void globs(const json& value, const fs::path& folder, std::vector<std::string>& into) const {
    for (const std::string& each : words(value)) {
      if (each.empty()) wrong(member_, value, "globs; an empty one would leave out everything");
      for (std::string& one : path_patterns(each, folder.string())) into.push_back(std::move(one));
    }
  }

  void per_file_rules(const json& value, const fs::path& folder) {
    if (!value.is_object()) wrong(member_, value, "an object of globs, each with a list of rules");
    const std::string all = member_;
    for (const auto& [glob, rules] : value.items()) {
      member_ = all + ": '" + printable(glob) + "'";
      FileRules one;
      one.rules = words(rules);
      globs(json::array({glob}), folder, one.patterns);
      config_.per_file_rules.push_back(std::move(one));
    }
  }

  // A second meaning of a known name would go unnoticed.
  std::string setting_name(const json& cell) const {
    const std::string name = word(cell);
    const auto is_called_so = [&](const flow::PrecisionSetting& each) { return each.name == name; };
    const auto& built_in = flow::precision_settings();
    const bool shipped = std::any_of(built_in.begin(), built_in.end(), is_called_so);
    if (shipped || std::any_of(config_.settings.begin(), config_.settings.end(), is_called_so)) {
      throw UsageError(
          fmt::format("{}: a row of {} is called '{}', as {} is; give it a name of its own, such as 'my-{}'",
                      file_.string(), member_, printable(name),
                      shipped ? "a built-in setting" : "a row before it", printable(name)));
    }
    return name;
  }

  void settings(const json& value) {
    if (!value.is_array()) wrong(member_, value, "a list of objects");
    for (const json& row : value) {
      if (!row.is_object() || !row.contains("name"))
        wrong("a row of " + member_, row, "an object with a name");
      flow::PrecisionSetting setting;
      const std::map<std::string, Dtype*> dtypes = {{"parameters", &setting.parameters},
                                                    {"buffers", &setting.buffers},
                                                    {"norms", &setting.norms},
                                                    {"inputs", &setting.inputs},
                                                    {"autocast", &setting.autocast}};
      for (const auto& [name, cell] : row.items()) {
        if (name == "name") {
          setting.name = setting_name(cell);
          continue;
        }
        const auto found = dtypes.find(name);
        if (found == dtypes.end()) unknown(name, dtypes);
        const auto dtype = parse_dtype(word(cell));
        if (!dtype) wrong("'" + name + "'", cell, "a dtype such as bfloat16");
        *found->second = *dtype;
      }
      config_.settings.push_back(std::move(setting));
    }
  }

  fs::path file_;
  std::string member_;
  Config config_;
};

template <typename T>
void prepend(std::vector<T>& to, const std::vector<T>& first) {
  to.insert(to.begin(), first.begin(), first.end());
}

template <typename T>
void fill(std::optional<T>& to, const std::optional<T>& from) {
  if (!to) to = from;
}

void inherit_from(Config& config, const Config& outer) {
  if (config.precision.empty()) config.precision = outer.precision;
  prepend(config.rules, outer.rules);
  prepend(config.per_file_rules, outer.per_file_rules);
  prepend(config.contracts, outer.contracts);
  prepend(config.extra_args, outer.extra_args);
  prepend(config.exclude, outer.exclude);
  prepend(config.external, outer.external);
  // A row takes the place of one of its name further up.
  std::vector<flow::PrecisionSetting> settings = outer.settings;
  std::erase_if(settings, [&](const flow::PrecisionSetting& theirs) {
    return std::any_of(config.settings.begin(), config.settings.end(),
                       [&](const flow::PrecisionSetting& own) { return own.name == theirs.name; });
  });
  prepend(config.settings, settings);
  fill(config.torch, outer.torch);
  fill(config.device, outer.device);
  fill(config.fail_on, outer.fail_on);
  fill(config.strict, outer.strict);
  fill(config.time_limit, outer.time_limit);
}

// The folder whose configuration holds.
std::string start_folder(const Options& options) {
  std::error_code error;
  if (!options.stdin_file.empty()) return fs::path(options.stdin_file).parent_path().string();
  if (!options.sources.empty() && !options.sources.front().empty()) {
    const fs::path first = fs::absolute(options.sources.front());
    return fs::is_directory(first, error) ? first.string() : first.parent_path().string();
  }
  const fs::path named = options.database.empty() ? fs::current_path() : fs::absolute(options.database);
  return fs::is_directory(named, error) ? named.string() : named.parent_path().string();
}

}  // namespace

Config read_config(const std::string& file) {
  const fs::path path = fs::absolute(file).lexically_normal();
  bool inherit = false;
  Config config = Reader(path).read(inherit);
  config.file = path.string();
  config.folder = config.root = path.parent_path().string();
  if (inherit && path.parent_path() != path.root_path()) {
    const Config outer = find_config(path.parent_path().parent_path().string());
    inherit_from(config, outer);
    if (!outer.root.empty()) config.root = outer.root;
  }
  return config;
}

Config find_config(const std::string& folder) {
  std::error_code error;
  for (fs::path at = fs::absolute(folder).lexically_normal(); !at.empty(); at = at.parent_path()) {
    // A broken link or a folder of that name is an error too, not skipped: it was meant to apply.
    if (fs::exists(fs::symlink_status(at / kConfigName, error))) {
      return read_config((at / kConfigName).string());
    }
    if (fs::is_regular_file(at / kPyprojectName, error) && pyproject_settings(at / kPyprojectName)) {
      return read_config((at / kPyprojectName).string());
    }
    if (at == at.root_path()) break;
  }
  return {};
}

Config nearest_config(const Options& options) {
  const std::string start = start_folder(options);
  Config config = find_config(start);
  const bool whole_project = options.sources.empty() && options.stdin_file.empty();
  if (!config.folder.empty() || !whole_project) return config;
  const std::string project = cmake_source_folder(start);
  return project.empty() ? config : find_config(project);
}

std::vector<std::string> path_patterns(const std::string& glob, const std::string& folder) {
  if (glob.empty()) throw UsageError("a glob is empty, which would leave out everything");
  std::string base = glob;
  while (base.starts_with("./")) base.erase(0, 2);
  while (base.size() > 1 && base.ends_with('/')) base.pop_back();
  std::vector<std::string> out;
  const auto add = [&](const std::string& pattern) {
    out.push_back(pattern);
    out.push_back(pattern + "/*");
  };
  if (base.starts_with('/')) {
    add(base);
  } else {
    add(folder + "/" + base);
    if (base.find('/') == std::string::npos) add(folder + "/*/" + base);
  }
  return out;
}

}  // namespace dtype_guard::driver
