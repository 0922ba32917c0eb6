// The files that a run knows, parsed and indexed once each, and what a dotted name means among them. Imports
// end where no file is found: then the name is a library's.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/python/names.h"
#include "analyzer/python/source_text.h"

namespace dtype_guard::python {

// So that names are looked up as they stand in the text.
struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
};

// What a name or a dotted expression stands for.
struct Entity {
  enum class Kind : std::uint8_t { kNone, kLibrary, kFunction, kClass, kValue, kChoice };
  Kind kind = Kind::kNone;
  std::string name;      // kLibrary: "torch.nn.functional.normalize"; kValue, kChoice: where it is assigned
  std::string optional;  // the package, where the import may fail and the name be None
  const FunctionDefinition* function = nullptr;
  const ClassDefinition* class_definition = nullptr;
  Node value;        // kValue: the global's one value, in `file`
  int element = -1;  // of the tuple that it is
  const SourceFile* file = nullptr;
  std::vector<Entity> choices;  // kChoice: what branches of the module, or its functions, make of it
  explicit operator bool() const { return kind != Kind::kNone; }
};

// A file that some code asked for: read once, and parsed once, by the first.
struct FileInUse {
  std::string path;
  std::once_flag once, read;
  SourceText text;         // until it is parsed
  bool is_parsed = false;  // or being so
  std::unique_ptr<SourceFile> file;
  std::string wrong;  // why there is none
  // What names of it mean, found once.
  struct Known {
    Entity entity;
    std::vector<const FileInUse*> files;  // that were asked for it
  };
  mutable std::shared_mutex mutex;  // of what is below, of `file` and of `text`
  std::unordered_map<std::string, Known, NameHash, std::equal_to<>> known;
};

class Modules {
 public:
  explicit Modules(ProjectOptions options) : options_(std::move(options)) {}
  const ProjectOptions& options() const { return options_; }

  // While it lives, the files that this thread asks for are noted.
  class Notes {
   public:
    Notes() : before_(std::exchange(noted_, this)) {}
    ~Notes() { noted_ = before_; }
    Notes(const Notes&) = delete;
    Notes& operator=(const Notes&) = delete;
    void add(const FileInUse* file) { files_.insert(file); }
    std::vector<const FileInUse*> files() const { return {files_.begin(), files_.end()}; }

   private:
    Notes* before_;
    std::unordered_set<const FileInUse*> files_;
  };

  // Those that were noted so far, as far as they could be read.
  static std::vector<const SourceFile*> noted_files();
  // Whether the file may bind that name, as far as its text shows.
  bool may_bind(const std::string& path, std::string_view name) const;
  // The parsed file; null where it cannot be read. `why` gets the reason.
  const SourceFile* file(const std::string& path, std::string* why = nullptr) const;
  // What a global name of a file means, through imports and re-exports.
  Entity global(const SourceFile& file, std::string_view name, int depth = 0) const;
  // What an absolute dotted name means for code in `from`.
  Entity dotted(const SourceFile& from, const std::string& name, int depth = 0) const;
  // What a dotted expression of a file's top level means.
  Entity named(const SourceFile& file, const std::string& text) const;
  // What the bases of a class name, in their order.
  const std::vector<BaseClass>& bases(const ClassDefinition& of) const;
  // The method that an object of that class runs: its own or that of the first base that has one.
  // `complete` is cleared where a base is not known.
  const FunctionDefinition* method(const ClassDefinition& of, std::string_view name, bool* complete,
                                   int depth = 0) const;
  // Whether a class derives from torch.nn.Module.
  bool is_module(const ClassDefinition& of) const;
  // Names of library classes among all bases.
  void library_bases(const ClassDefinition& of, std::set<std::string>& out, int depth = 0) const;

 private:
  // The file that an import in `from` means; empty where there is none.
  std::string find_module(const SourceFile& from, const std::string& module) const;
  std::string search(const SourceFile& from, const std::string& module) const;
  std::string search_packages(const std::string& module) const;
  bool is_installed(const std::string& path) const;
  std::string module_name(const std::string& path) const;
  bool exists(const std::string& path) const;
  // The names of what a folder holds, without their endings.
  const std::unordered_set<std::string>& entries(const std::string& folder) const;
  // `attention = flash_attn_func`: what another name of a thing means.
  Entity alias(const SourceFile& file, const Node& value, int depth) const;

  Entity find_global(const SourceFile& file, std::string_view name, int depth) const;
  // What one binding of a name means, or several of one name (global_bindings.cpp).
  Entity meaning(const SourceFile& file, std::string_view name, const Binding& bound, int depth) const;
  Entity choice(const SourceFile& file, std::string_view name, const Global& global, int depth) const;
  BaseClass base(const ClassDefinition& of, const Node& base) const;
  const ClassDefinition* layer(const std::string& library) const;
  FileInUse& in_use(const std::string& path) const;
  void read(FileInUse& used) const;
  std::unique_ptr<SourceFile> parsed(const std::string& path, SourceText text) const;
  static void note(const std::vector<const FileInUse*>& files);

  static thread_local Notes* noted_;

  ProjectOptions options_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::unique_ptr<FileInUse>> files_;
  mutable std::unordered_map<std::string, std::string> found_;  // by folder and module
  mutable std::unordered_map<std::string, bool> existing_;
  mutable std::unordered_map<std::string, std::unordered_set<std::string>> folders_;
};

}  // namespace dtype_guard::python
