#include "analyzer/clang/commands/nvcc.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "analyzer/source/response_file.h"
#include "rules/data/embedded.h"

namespace dtype_guard {
// Written at build time from nvcc_flags.json and cuda_headers/.
std::span<const EmbeddedFile> embedded_cuda();
}  // namespace dtype_guard

namespace dtype_guard::clang_front_end {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEmbedded = "/dtype-lint/";
constexpr const char* kHeaderFolder = "/dtype-lint/cuda_headers";
constexpr int kNewestKnown = 121;  // of those that every supported Clang knows, or knows how to ignore

struct Flag {
  bool takes_value = false;
  std::string attached;  // what a value may be that is joined by nothing: any, digits
  bool word = false;     // what begins with '-' is not its value
  bool list = false;     // of several values
  std::string action;
  std::string to;
  std::string when;  // only with this value
};

const std::map<std::string, Flag, std::less<>>& flags() {
  static const auto table = [] {
    std::map<std::string, Flag, std::less<>> rows;
    for (const EmbeddedFile& file : embedded_cuda()) {
      if (file.name != "nvcc_flags.json") continue;
      const nlohmann::json table_file = nlohmann::json::parse(file.text);
      for (const nlohmann::json& row : table_file.at("options")) {
        const Flag flag{
            row.at("value").get<bool>(), row.value("attached", ""),       row.value("word", false),
            row.value("list", false),    row.at("do").get<std::string>(), row.value("to", ""),
            row.value("when", "")};
        for (const nlohmann::json& name : row.at("names")) rows[name.get<std::string>()] = flag;
      }
    }
    return rows;
  }();
  return table;
}

struct Architecture {
  int number = 0;
  char suffix = 0;
  // The newest; at equal number "a" (all features of the chip) comes behind plain.
  friend bool operator<(const Architecture& a, const Architecture& b) {
    return std::pair(a.number, a.suffix) < std::pair(b.number, b.suffix);
  }
};

// Every sm_NN and compute_NN in "arch=compute_80,code=[sm_80,compute_80]".
void add_architectures(std::string_view text, std::vector<Architecture>& out) {
  for (const std::string_view prefix : {std::string_view("sm_"), std::string_view("compute_")}) {
    for (std::size_t at = text.find(prefix); at != std::string_view::npos; at = text.find(prefix, at + 1)) {
      std::size_t end = at + prefix.size();
      Architecture found;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9' && found.number < 10'000) {
        found.number = found.number * 10 + (text[end++] - '0');
      }
      // Clang knows no families ("100f"); what they add is for the device alone.
      if (end < text.size() && text[end] == 'a') found.suffix = text[end];
      if (found.number > 0 && found.number <= kNewestKnown) out.push_back(found);
    }
  }
}

// As nvcc splits a list: not in quotes, which stay, and not where a backslash says so, which goes.
std::vector<std::string> at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && (next == ',' || next == '"')) {
      part += text[++i];
    } else if (text[i] == ',' && !quoted) {
      parts.push_back(std::exchange(part, {}));
    } else {
      quoted = quoted != (text[i] == '"');
      part += text[i];
    }
  }
  parts.push_back(std::move(part));
  return parts;
}

// -DX=1, -t4: an option of one letter and its value.
const Flag* attached_flag(const std::string& argument) {
  if (argument.size() < 3 || argument[1] == '-') return nullptr;
  const auto found = flags().find(argument.substr(0, 2));
  if (found == flags().end()) return nullptr;
  const std::string& how = found->second.attached;
  const bool number = argument.find_first_not_of("0123456789", 2) == std::string::npos;
  return how == "any" || (how == "digits" && number) ? &found->second : nullptr;
}

class Translation {
 public:
  explicit Translation(fs::path folder) : folder_(std::move(folder)) {}

  void add(const std::vector<std::string>& arguments, int depth = 0) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& argument = arguments[i];
      const std::size_t equals = argument.find('=');
      const auto found = flags().find(argument.substr(0, equals));
      const bool joined = equals != std::string::npos;
      if (const bool named = found != flags().end() && (!joined || found->second.takes_value); !named) {
        if (const Flag* flag = attached_flag(argument)) {
          apply(*flag, argument.substr(2), true, depth);
        } else {
          out_.push_back(argument);
        }
        continue;
      }
      const Flag& flag = found->second;
      std::string value = joined ? argument.substr(equals + 1) : "";
      const bool follows = flag.takes_value && !joined && i + 1 < arguments.size() &&
                           !(flag.word && arguments[i + 1].starts_with("-"));
      if (follows) value = arguments[++i];
      apply(flag, value, false, depth);
    }
  }

  std::vector<std::string> take() {
    if (!architectures_.empty()) {
      const Architecture newest = *std::max_element(architectures_.begin(), architectures_.end());
      std::string name = "--cuda-gpu-arch=sm_" + std::to_string(newest.number);
      if (newest.suffix != 0) name += newest.suffix;
      out_.push_back(std::move(name));
    }
    return std::move(out_);
  }

 private:
  void apply(const Flag& flag, const std::string& text, bool attached, int depth) {
    for (const std::string& value : flag.list ? at_commas(text) : std::vector{text})
      apply_one(flag, value, attached, depth);
  }

  void apply_one(const Flag& flag, const std::string& value, bool attached, int depth) {
    if (flag.action == "rename") {
      if (!flag.takes_value) {
        out_.push_back(flag.to);
      } else if (attached || flag.to.ends_with('=') || flag.attached == "digits") {
        out_.push_back(flag.to + value);
      } else {
        out_.insert(out_.end(), {flag.to, value});
      }
    } else if (flag.action == "define") {
      if ((flag.when.empty() || flag.when == value) && value != "false") out_.push_back("-D" + flag.to);
    } else if (flag.action == "unwrap") {  // nvcc hands them to a shell
      for (std::string& each : source::split_words(value)) out_.push_back(std::move(each));
    } else if (flag.action == "architecture") {
      add_architectures(value, architectures_);
    } else if (flag.action == "language") {
      out_.insert(out_.end(), {"-x", value == "cu" ? "cuda" : value});
    } else if (flag.action == "file" && depth < 8) {
      std::ostringstream text;
      text << std::ifstream(folder_ / value).rdbuf();
      add(source::split_words(text.str()), depth + 1);
    }
  }

  fs::path folder_;
  std::vector<std::string> out_;
  std::vector<Architecture> architectures_;
};

bool is_toolkit(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "include" / "cuda_runtime.h", error);
}

std::optional<std::string> toolkit_of(const std::string& compiler) {
  std::vector<fs::path> candidates;
  const fs::path program(compiler);
  if (is_nvcc(compiler) && program.has_parent_path())
    candidates.push_back(program.parent_path().parent_path());
  for (const char* name : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const char* value = std::getenv(name)) candidates.emplace_back(value);
  }
  candidates.emplace_back("/usr/local/cuda");
  for (const fs::path& each : candidates) {
    if (is_toolkit(each)) return each.string();
  }
  return std::nullopt;
}

// nvcc finds Thrust, CUB and libcudacxx by itself, which stand in a folder of their own since CUDA 13.
void add_libraries(const fs::path& toolkit, std::vector<std::string>& arguments) {
  const fs::path folder = toolkit / "include" / "cccl";
  std::error_code error;
  if (fs::is_directory(folder, error)) arguments.insert(arguments.end(), {"-isystem", folder.string()});
}

}  // namespace

bool is_nvcc(const std::string& compiler) {
  const std::string name = fs::path(compiler).filename().string();
  return name == "nvcc" || name == "nvcc.exe" || name == "nvcc_wrapper";
}

bool is_cuda(const std::string& file, const std::vector<std::string>& arguments) {
  const auto language = std::find(arguments.begin(), arguments.end(), "-x");
  if (language != arguments.end() && language + 1 != arguments.end()) {
    return *(language + 1) == "cuda" || *(language + 1) == "cu";
  }
  return file.ends_with(".cu") || file.ends_with(".cuh");
}

std::vector<std::string> translate_nvcc(const std::vector<std::string>& arguments,
                                        const std::string& folder) {
  Translation translation(folder);
  translation.add(arguments);
  return translation.take();
}

std::vector<std::string> nvcc_host_arguments(const std::string& compiler) {
  std::vector<std::string> out;
  if (const auto toolkit = toolkit_of(compiler)) {
    add_libraries(*toolkit, out);
    out.insert(out.end(), {"-isystem", (fs::path(*toolkit) / "include").string()});
  }
  return out;
}

std::vector<std::string> cuda_arguments(const std::string& compiler,
                                        const std::vector<std::string>& arguments) {
  const auto given = [&](std::string_view prefix) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const std::string& each) { return each.starts_with(prefix); });
  };
  // One pass over the host side has the bodies of the kernels as well.
  std::vector<std::string> out = {"--cuda-host-only", "-nocudalib", "-Wno-unknown-cuda-version", "-idirafter",
                                  kHeaderFolder};
  if (!given("-x")) out.insert(out.end(), {"-x", "cuda"});
  const auto named = std::find_if(arguments.begin(), arguments.end(),
                                  [](const std::string& each) { return each.starts_with("--cuda-path="); });
  const bool is_named = named != arguments.end();
  if (is_named && is_toolkit(named->substr(named->find('=') + 1))) {
    add_libraries(named->substr(named->find('=') + 1), out);
  } else if (const auto toolkit = is_named ? std::nullopt : toolkit_of(compiler)) {
    out.push_back("--cuda-path=" + *toolkit);
    add_libraries(*toolkit, out);
  } else {
    out.insert(out.end(), {"-nocudainc", "-include", std::string(kHeaderFolder) + "/without_toolkit.h"});
  }
  return out;
}

const std::map<std::string, std::string>& cuda_headers() {
  static const auto headers = [] {
    std::map<std::string, std::string> files;
    for (const EmbeddedFile& each : embedded_cuda()) {
      if (each.name.ends_with(".json")) continue;
      files[kEmbedded + std::string(each.name)] = each.text;
    }
    return files;
  }();
  return headers;
}

}  // namespace dtype_guard::clang_front_end
