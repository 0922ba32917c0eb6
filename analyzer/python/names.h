// What the names of a file mean without running it: imports, functions, classes, and globals that are
// assigned once. A file is indexed once, when it is first asked for, and does not change afterwards.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/python/syntax.h"

namespace dtype_guard::python {

class SourceFile;
struct ClassDefinition;

// What the setter of a property is called behind the property's name, among its class's methods.
inline constexpr std::string_view kSetter = ".setter", kDeleter = ".deleter";

struct FunctionDefinition {
  Node node;  // function_definition or lambda
  std::string name;
  std::string key;  // unique in a program
  std::vector<Node> decorators;
  const SourceFile* file = nullptr;
  const ClassDefinition* owner = nullptr;
  bool is_static = false;
  bool is_class_method = false;
  bool is_property = false;
  bool is_nested = false;
  bool makes_context = false;  // by contextlib.contextmanager
  bool is_opaque = false;      // a decorator may give something else back
  // Functions of its file that make something else of it, as decorators, where no others do.
  std::vector<Node> wrappers;
  // These make a method of what is written: what stands in the class by its key is what they give.
  bool decorates_method() const { return owner && !wrappers.empty(); }
};

// A class in sight, or else what a library calls it.
struct BaseClass {
  const ClassDefinition* definition = nullptr;
  std::string library;
};

struct FileInUse;  // of modules.h

// What the names of a class's bases mean, found when that is first asked (modules.cpp).
struct ResolvedBases {
  std::once_flag once;
  std::vector<BaseClass> all;
  std::vector<const FileInUse*> files;  // that were asked for it
};

struct ClassDefinition {
  Node node;
  std::string name;
  std::string qualified;  // with its module
  const SourceFile* file = nullptr;
  std::vector<Node> bases;
  std::map<std::string, std::unique_ptr<FunctionDefinition>, std::less<>> methods;
  std::map<std::string, Node, std::less<>> attributes;  // values of class-level assignments
  std::vector<Node> fields;                             // assignments with an annotation, in order
  bool is_dataclass = false;
  bool is_named_tuple = false;  // a dataclass whose fields have places too
  bool is_opaque = false;       // another base than classes by name: a metaclass
  mutable ResolvedBases resolved;
  const FunctionDefinition* method(std::string_view method_name) const;
};

// `@contextmanager def f(): ...`, with the decorator.
bool makes_context(const Node& definition);

// The name of what a function takes first; empty where it takes nothing (decorators.cpp).
std::string_view first_parameter(const Node& function);

// One of several things that branches of a module, or its functions, bind a name to.
struct Binding {
  std::string imported;
  const FunctionDefinition* function = nullptr;
  const ClassDefinition* class_definition = nullptr;
  Node value;
  int element = -1;  // of the tuple that the value is; -1: all of it
};

// What a global name is bound to; of several bindings, which of them counts is decided in names.cpp.
struct Global {
  std::string imported;  // "torch.nn.functional.normalize", absolute
  const FunctionDefinition* function = nullptr;
  const ClassDefinition* class_definition = nullptr;
  Node value;             // of its one assignment
  bool optional = false;  // imported in a try block, or None where that fails
  bool rebound = false;   // by something else than these
  // Then what it may be, None left out; nothing where it is bound in a way that says less.
  std::vector<Binding> bindings;
  bool is_open = false;
};

class SourceFile {
 public:
  // `module` is the file's dotted name below its import root, by which relative imports are resolved.
  SourceFile(std::string path, std::string report_name, std::string module, bool is_package, std::string text,
             int seconds);
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& module() const { return module_; }
  // The file's name in keys: unique in a project, whatever its import root.
  const std::string& scope() const { return scope_; }
  const Tree& tree() const { return tree_; }
  const std::map<std::string, Global, std::less<>>& globals() const { return globals_; }
  const Global* global(std::string_view name) const;
  const std::vector<std::unique_ptr<ClassDefinition>>& classes() const { return classes_; }
  const std::vector<std::unique_ptr<FunctionDefinition>>& functions() const { return functions_; }
  const std::vector<std::string>& star_imports() const { return star_imports_; }

  // "..attend" of a relative import as an absolute module name.
  std::string absolute(std::string_view module) const;
  std::unique_ptr<FunctionDefinition> define(const Node& node, const std::string& prefix,
                                             const ClassDefinition* owner) const;
  // Whether a decorator gives the function back, or what behaves like it (decorators.cpp).
  bool is_transparent(std::string_view decorator) const;
  // Whether that call runs a function of the file which gives back what it imports, there in the tuple that
  // it returns or, with -1, as all of it (global_bindings.cpp).
  bool gives_import(const Node& call, int element) const;
  // The imports of one statement: name in this file, and what it stands for.
  std::vector<std::pair<std::string, std::string>> imports(const Node& statement) const;

  FileInUse* in_use = nullptr;  // whose this is
  bool is_installed = false;    // of an installed package, not of the project
  std::string other_language;   // of a notebook that is not in Python
  // Of a notebook, in its cells; what is wrong there is blank in the text.
  std::vector<SourceError> cell_errors;

 private:
  enum class Where : std::uint8_t { kTop, kTry, kOther };
  void index(const Node& block, Where where);
  void bind(const Node& target, const Node& value, Where where);
  bool is_wrapped(const Node& target, const Node& value) const;
  // What the statements of a module bind, in their order (global_bindings.cpp).
  static void note(Global& global, Binding binding, Where where);
  // What functions bind by `global name`.
  void bind_in_functions(const Node& block, int depth);
  void bind_in_function(const Node& function);
  void add_class(const Node& node, const std::vector<Node>& decorators, Where where);

  std::string path_, module_, scope_;
  bool is_package_;
  Tree tree_;
  std::map<std::string, Global, std::less<>> globals_;
  std::vector<std::unique_ptr<ClassDefinition>> classes_;
  std::vector<std::unique_ptr<FunctionDefinition>> functions_;
  std::vector<std::string> star_imports_;
};

}  // namespace dtype_guard::python
