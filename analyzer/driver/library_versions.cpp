#include "analyzer/driver/library_versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "rules/files/input_file.h"
#include "rules/operators/version.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;

namespace {

constexpr TorchVersion kNewest{9999, 0};

// Package names differ in case and in "-", "_" and "." only by habit.
std::string normal_name(std::string_view name) {
  std::string out;
  for (const char c : name)
    out += c == '-' || c == '.' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string package_of(const ContractSet& contracts, const std::string& library) {
  const auto known = contracts.packages.find(library);
  return normal_name(known == contracts.packages.end() ? library : known->second);
}

// NAME-VERSION.dist-info, as installers write them.
std::optional<std::string> installed(const std::string& package, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::error_code error;
    for (const fs::directory_entry& each : fs::directory_iterator(folder, error)) {
      const std::string name = each.path().filename().string();
      const std::size_t dash = name.find('-');
      if (!name.ends_with(".dist-info") || dash == std::string::npos) continue;
      if (normal_name(name.substr(0, dash)) != package) continue;
      return name.substr(dash + 1, name.size() - dash - 1 - std::string_view(".dist-info").size());
    }
  }
  return std::nullopt;
}

// From `first`, before `end`.
struct Span {
  TorchVersion first{0, 0};
  TorchVersion end = kNewest;
};

// ">=2.6,<2.8" and its kin; what is not understood allows everything.
Span allowed_by(std::string_view specifier) {
  Span span;
  std::istringstream parts{std::string(specifier)};
  for (std::string each; std::getline(parts, each, ',');) {
    std::erase(each, ' ');
    const std::size_t digits = each.find_first_of("0123456789");
    if (digits == std::string::npos) continue;
    const std::string sign = each.substr(0, digits);
    const TorchVersion version = parse_torch_version(std::string_view(each).substr(digits));
    const TorchVersion next{version.first, version.second + 1};
    if (sign == "==" || sign == "===" || sign == "~=" || sign == ">=" || sign == ">" || sign == "^")
      span.first = std::max(span.first, version);
    if (sign == "==" || sign == "===" || sign == "<=") span.end = std::min(span.end, next);
    // "<2.8" leaves 2.8 out, "<2.8.3" does not.
    const bool within = std::count(each.begin(), each.end(), '.') > 1 && !each.ends_with(".0");
    if (sign == "<") span.end = std::min(span.end, within ? next : version);
    if (sign == "~=" || sign == "^") span.end = std::min(span.end, TorchVersion{version.first + 1, 0});
  }
  return span;
}

bool belongs_to_name(char c) {
  return c == '_' || c == '-' || c == '.' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// The specifier behind a package's name in a line of requirements, or in quotes in a project file.
std::optional<std::string> pin_in(std::string_view line, const std::string& package) {
  const std::string name = normal_name(line);
  for (std::size_t at = name.find(package); at != std::string::npos; at = name.find(package, at + 1)) {
    const std::size_t behind = at + package.size();
    const bool begins = at == 0 || !belongs_to_name(line[at - 1]);
    const bool ends = behind >= line.size() || !belongs_to_name(line[behind]);
    const std::string_view before = line.substr(0, at);
    if (!begins || !ends || before.find('#') != std::string_view::npos) continue;
    std::string_view rest = line.substr(behind);
    if (rest.starts_with("[")) rest.remove_prefix(std::min(rest.find(']'), rest.size() - 1) + 1);
    const std::size_t end = rest.find_first_of("\"';#");
    const std::string specifier(rest.substr(0, end));
    if (specifier.find_first_of("=<>~^") != std::string::npos) return specifier;
  }
  return std::nullopt;
}

std::vector<std::string> lines_of_pins(const std::string& root) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& each : fs::directory_iterator(root, error)) {
    const std::string name = each.path().filename().string();
    const bool requirements = name.starts_with("requirements") && name.ends_with(".txt");
    if (requirements || name == "pyproject.toml" || name == "setup.py" || name == "setup.cfg")
      files.push_back(each.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> lines;
  for (const fs::path& each : files) {
    std::istringstream text(read_input(each).text);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
  }
  return lines;
}

std::string text_of(const TorchVersion& version) {
  return fmt::format("{}.{}", version.first, version.second);
}

// One version out of each span between two changes that some allowed version is in.
std::vector<std::string> possible(const std::vector<std::string>& changes, const Span& allowed) {
  std::vector<std::string> out;
  TorchVersion first{0, 0};
  for (std::size_t i = 0; i <= changes.size(); ++i) {
    const TorchVersion end = i < changes.size() ? parse_torch_version(changes[i]) : kNewest;
    const TorchVersion from = std::max(first, allowed.first);
    if (from < std::min(end, allowed.end)) out.push_back(text_of(from));
    first = end;
  }
  return out;
}

}  // namespace

LibraryVersions library_versions(const ContractSet& contracts, const VersionSources& sources) {
  std::set<std::string> libraries = {"torch"};
  for (const Api& each : contracts.apis) libraries.insert(each.library);
  const std::vector<std::string> pins = lines_of_pins(sources.root);
  LibraryVersions out;
  for (const std::string& library : libraries) {
    const std::vector<std::string> changes = version_changes(contracts, library);
    if (changes.empty() && library != "torch") continue;
    const std::string package = package_of(contracts, library);
    if (const auto named = sources.named.find(library); named != sources.named.end()) {
      out[library] = {named->second};
    } else if (const std::optional<std::string> found = installed(package, sources.packages)) {
      out[library] = {*found};
    } else {
      Span allowed;
      for (const std::string& line : pins) {
        if (const std::optional<std::string> pin = pin_in(line, package)) {
          const Span span = allowed_by(*pin);
          allowed = {std::max(allowed.first, span.first), std::min(allowed.end, span.end)};
        }
      }
      if (library == "torch") {
        const bool one = allowed.end == TorchVersion{allowed.first.first, allowed.first.second + 1};
        if (one) out[library] = {text_of(allowed.first)};
      } else {
        out[library] = possible(changes, allowed);
      }
    }
  }
  return out;
}

std::string span_of_version(const ContractSet& contracts, const std::string& library,
                            const std::string& version) {
  std::string from, before;
  for (const std::string& each : version_changes(contracts, library)) {
    if (parse_torch_version(each) <= parse_torch_version(version)) {
      from = each;
    } else if (before.empty()) {
      before = each;
    }
  }
  const auto short_text = [](const std::string& text) { return text_of(parse_torch_version(text)); };
  if (from.empty()) return fmt::format("before {}", short_text(before));
  if (before.empty()) return fmt::format("{} and newer", short_text(from));
  return fmt::format("from {} to before {}", short_text(from), short_text(before));
}

std::vector<std::string> package_folders(const std::string& python, const std::string& root) {
  std::error_code error;
  fs::path prefix(python);
  if (python.empty()) {
    for (const char* name : {".venv", "venv"}) {
      if (fs::is_directory(fs::path(root) / name, error)) prefix = fs::path(root) / name;
      if (!prefix.empty()) break;
    }
    if (prefix.empty()) return {};
  } else if (!fs::is_directory(prefix, error)) {
    prefix = fs::absolute(prefix).lexically_normal().parent_path().parent_path();  // of bin/python
  }
  std::vector<std::string> folders;
  if (prefix.filename() == "site-packages") return {prefix.string()};
  for (const fs::directory_entry& each : fs::directory_iterator(prefix / "lib", error)) {
    if (!each.path().filename().string().starts_with("python")) continue;
    for (const char* name : {"site-packages", "dist-packages"}) {
      if (fs::is_directory(each.path() / name, error)) folders.push_back((each.path() / name).string());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace dtype_guard::driver
