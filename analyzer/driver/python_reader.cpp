#include "analyzer/driver/python_reader.h"

#define XXH_INLINE_ALL
#include <sys/stat.h>
#include <xxhash.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "analyzer/python/front_end.h"
#include "rules/files/input_file.h"

namespace dtype_guard::driver {

namespace {

// A file changed later than this before it was read may be changed again within the same time stamp.
constexpr std::chrono::nanoseconds kTrustedAfter = std::chrono::seconds(2);

source::ReadFile noted(const std::string& path) {
  source::ReadFile note;
  note.path = path;
  struct stat now {};
  if (::stat(path.c_str(), &now) != 0) return note;
  note.size = static_cast<std::uint64_t>(now.st_size);
  const std::int64_t modified = std::int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
  const auto clock = std::chrono::system_clock::now().time_since_epoch();
  if (clock - std::chrono::nanoseconds(modified) > kTrustedAfter) note.modified = modified;
  const InputFile input = read_input(path);
  note.hash = XXH3_64bits(input.text.data(), input.text.size());
  return note;
}

std::string hash_of(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return std::to_string(hash.high64) + " " + std::to_string(hash.low64);
}

// What is installed there, by its names: an import that led nowhere may lead to what came since.
std::string names_in(const std::string& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.insert(at->path().filename().string());
  std::string out;
  for (const std::string& each : names) out += each + '\n';
  return out;
}

}  // namespace

struct PythonReader::Parts {
  explicit Parts(const python::ProjectOptions& options) : project(options) {
    for (const auto& [path, text] : options.texts) given.insert(path);
  }

  source::ReadFile note_of(const std::string& path) {
    {
      const std::lock_guard lock(mutex);
      if (const auto known = notes.find(path); known != notes.end()) return known->second;
    }
    source::ReadFile note;
    note.path = path;
    if (!given.contains(path)) note = noted(path);  // what is on disk was not read
    const std::lock_guard lock(mutex);
    return notes.emplace(path, std::move(note)).first->second;
  }

  python::Project project;
  std::mutex mutex;
  std::map<std::string, source::ReadFile> notes;
  std::set<std::string> given;  // as texts
};

PythonReader::PythonReader(const Options& options, const SourceList& sources) {
  python::ProjectOptions project;
  project.root = sources.user_code.root();
  project.contracts = &options.contracts;
  project.texts = sources.texts;
  project.packages = options.packages;
  project.seconds = static_cast<int>(options.time_limit);
  key_ = {"python", project.root, "packages"};
  for (const std::string& each : project.packages) {
    key_.push_back(each);
    key_.push_back(hash_of(names_in(each)));
  }
  // What an import means may change with every file that comes or goes.
  std::string files;
  project.looked_at.emplace();
  for (const source::CompileCommand& each : sources.commands) {
    if (!source::is_python(each.file)) continue;
    files += each.file + '\n';
    project.looked_at->insert(each.file);
  }
  // A summary is linked to those of the other files, which bring their code themselves.
  if (!options.emit_summary.empty()) {
    project.looked_at.reset();
    key_.emplace_back("alone");
  }
  key_.push_back("files " + hash_of(files));
  parts_ = std::make_shared<Parts>(project);
}

PythonReader::~PythonReader() = default;

source::LoweredSource PythonReader::lower(const std::string& file) const {
  python::LoweredFile lowered = parts_->project.lower(file);
  source::LoweredSource out;
  out.module = std::move(lowered.module);
  for (python::SourceError& each : lowered.errors)
    out.errors.push_back({std::move(each.file), each.line, each.column, std::move(each.message)});
  for (const std::string& each : lowered.read) out.dependencies.files.push_back(parts_->note_of(each));
  return out;
}

}  // namespace dtype_guard::driver
