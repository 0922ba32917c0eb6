// The files that a run knows, parsed and indexed once each, and what a dotted name means among them. Imports
// end where no file is found: then the name is a library's.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/python/names.h"

namespace dtype_guard::python {

// What a name or a dotted expression stands for.
struct Entity {
  enum class Kind : std::uint8_t { kNone, kLibrary, kFunction, kClass, kValue };
  Kind kind = Kind::kNone;
  std::string name;      // kLibrary: "torch.nn.functional.normalize"; kValue: where it is assigned
  std::string optional;  // the package, where the import may fail and the name be None
  const FunctionDefinition* function = nullptr;
  const ClassDefinition* class_definition = nullptr;
  Node value;  // kValue: the global's one value, in `file`
  const SourceFile* file = nullptr;
  explicit operator bool() const { return kind != Kind::kNone; }
};

class Modules {
 public:
  explicit Modules(ProjectOptions options) : options_(std::move(options)) {}
  const ProjectOptions& options() const { return options_; }

  // While it lives, the files that this thread asks for are noted.
  class Notes {
   public:
    explicit Notes(std::set<std::string>& read) { noted_ = &read; }
    ~Notes() { noted_ = nullptr; }
    Notes(const Notes&) = delete;
    Notes& operator=(const Notes&) = delete;
  };

  // The parsed file; null where it cannot be read. `why` gets the reason.
  const SourceFile* file(const std::string& path, std::string* why = nullptr) const;
  // What a global name of a file means, through imports and re-exports.
  Entity global(const SourceFile& file, std::string_view name, int depth = 0) const;
  // What an absolute dotted name means for code in `from`.
  Entity dotted(const SourceFile& from, const std::string& name, int depth = 0) const;
  // What a dotted expression of a file's top level means.
  Entity named(const SourceFile& file, const std::string& text) const;
  // The class that a base names, null for a library's; `library` gets its name then.
  const ClassDefinition* base(const ClassDefinition& of, const Node& base, std::string* library) const;
  // The method that an object of that class runs: its own or that of the first base that has one.
  // `complete` is cleared where a base is not known.
  const FunctionDefinition* method(const ClassDefinition& of, std::string_view name, bool* complete,
                                   int depth = 0) const;
  // Whether a class derives from torch.nn.Module.
  bool is_module(const ClassDefinition& of, int depth = 0) const;
  // Names of library classes among all bases.
  void library_bases(const ClassDefinition& of, std::set<std::string>& out, int depth = 0) const;

 private:
  // The file that an import in `from` means; empty where there is none.
  std::string find_module(const SourceFile& from, const std::string& module) const;
  std::string search(const SourceFile& from, const std::string& module) const;
  std::string module_name(const std::string& path) const;
  bool exists(const std::string& path) const;
  // `attention = flash_attn_func`: what another name of a thing means.
  Entity alias(const SourceFile& file, const Node& value, int depth) const;

  static thread_local std::set<std::string>* noted_;

  ProjectOptions options_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<SourceFile>> files_;
  mutable std::map<std::string, std::string> failures_;
  mutable std::map<std::string, std::string, std::less<>> found_;  // by folder and module
};

}  // namespace dtype_guard::python
