#include "analyzer/python/modules.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "analyzer/python/broken_cells.h"
#include "analyzer/python/imports_by_text.h"
#include "analyzer/python/library_models.h"
#include "analyzer/python/parse_watch.h"
#include "analyzer/python/source_text.h"

namespace dtype_guard::python {
namespace fs = std::filesystem;
namespace {
constexpr int kMaxImports = 12;  // one leading to the next
constexpr int kMaxBases = 12;
constexpr int kMaxParts = 40;  // of a dotted name
// Packages import all of all their parts, which would be read for any name: so many stars, one leading to the
// next.
constexpr int kMaxStars = 8;
constexpr int kMaxStarDepth = 3;

bool imports_star(std::string_view text) {
  constexpr std::string_view kImport = "import";
  for (std::size_t at = text.find(kImport); at != std::string_view::npos; at = text.find(kImport, at + 1)) {
    const std::size_t next = text.find_first_not_of(" \t\\\r\n", at + kImport.size());
    if (next != std::string_view::npos && text[next] == '*') return true;
  }
  return false;
}

// Whether `from FILE import *` may bring that name: one with an underscore in front where `__all__` lists it.
bool may_bring(std::string_view text, std::string_view name) {
  const auto has = [&](std::string_view what) { return text.find(what) != std::string_view::npos; };
  if (!name.starts_with('_')) return has(name) || imports_star(text);
  const std::string bare(name);
  return has("__all__") && (has('"' + bare + '"') || has('\'' + bare + '\'') || imports_star(text));
}
}  // namespace

thread_local Modules::Notes* Modules::noted_ = nullptr;

void Modules::note(const std::vector<const FileInUse*>& files) {
  if (!noted_) return;
  for (const FileInUse* each : files) noted_->add(each);
}

std::vector<const SourceFile*> Modules::noted_files() {
  std::vector<const SourceFile*> out;
  if (!noted_) return out;
  for (const FileInUse* each : noted_->files()) {
    const std::shared_lock lock(each->mutex);
    if (each->file) out.push_back(each->file.get());
  }
  std::sort(out.begin(), out.end(),
            [](const SourceFile* a, const SourceFile* b) { return a->path() < b->path(); });
  return out;
}

FileInUse& Modules::in_use(const std::string& path) const {
  const std::scoped_lock lock(mutex_);
  std::unique_ptr<FileInUse>& out = files_[path];
  if (!out) {
    out = std::make_unique<FileInUse>();
    out->path = path;
  }
  return *out;
}

void Modules::read(FileInUse& used) const {
  std::call_once(used.read, [&] { used.text = read_source(options_, used.path); });
}

// Most files behind the stars of a package have nothing to do with a name: they are not parsed for it.
bool Modules::may_bind(const std::string& path, std::string_view name) const {
  FileInUse& used = in_use(path);
  if (noted_) noted_->add(&used);
  read(used);
  {
    const std::shared_lock lock(used.mutex);
    if (!used.is_parsed) return !used.text.wrong.empty() || may_bring(used.text.text, name);
  }
  const SourceFile* parsed = file(path);
  return parsed && may_bring(parsed->tree().text(), name);
}

std::unique_ptr<SourceFile> Modules::parsed(const std::string& path, SourceText text) const {
  const std::string name = is_library_model(path) ? name_of_library_model(path) : report_name(options_, path);
  const auto indexed = [&](std::string source) {
    return std::make_unique<SourceFile>(path, name, module_name(path),
                                        fs::path(path).filename() == "__init__.py", std::move(source),
                                        options_.seconds);
  };
  std::unique_ptr<SourceFile> out = indexed(std::move(text.text));
  if (text.notebook) {
    BrokenCells broken = broken_cells(*text.notebook, out->tree(), options_.seconds);
    if (!broken.errors.empty()) out = indexed(std::move(broken.rest));
    if (!out->tree().errors().empty()) out = indexed("");  // what is left is told no line of
    out->cell_errors = std::move(broken.errors);
    out->other_language = text.notebook->other_language();
  }
  out->is_installed = is_installed(path);
  return out;
}

const SourceFile* Modules::file(const std::string& path, std::string* why) const {
  FileInUse& used = in_use(path);
  if (noted_) noted_->add(&used);
  std::call_once(used.once, [&] {
    const ParsedNow now(path);
    read(used);
    SourceText text;
    {
      const std::unique_lock lock(used.mutex);
      text = std::move(used.text);
      used.is_parsed = true;
    }
    if (!text.wrong.empty()) {
      used.wrong = std::move(text.wrong);
      return;
    }
    std::unique_ptr<SourceFile> file = parsed(path, std::move(text));
    file->in_use = &used;
    const std::unique_lock lock(used.mutex);
    used.file = std::move(file);
  });
  if (!used.file && why) *why = used.wrong;
  return used.file.get();
}

Entity Modules::global(const SourceFile& file, std::string_view name, int depth) const {
  if (depth > 0) return find_global(file, name, depth);
  FileInUse& used = *file.in_use;
  {
    const std::shared_lock lock(used.mutex);
    if (const auto known = used.known.find(name); known != used.known.end()) {
      note(known->second.files);
      return known->second.entity;
    }
  }
  FileInUse::Known made;
  {
    const Notes notes;
    made.entity = find_global(file, name, 0);
    made.files = notes.files();
  }
  note(made.files);
  const std::unique_lock lock(used.mutex);
  return used.known.try_emplace(std::string(name), std::move(made)).first->second.entity;
}

Entity Modules::find_global(const SourceFile& file, std::string_view name, int depth) const {
  if (depth > kMaxImports) return {};
  const Global* known = file.global(name);
  if (!known) {
    int stars = 0;
    for (const std::string& star : file.star_imports()) {
      if (file.is_installed && (depth > kMaxStarDepth || ++stars > kMaxStars)) break;
      const std::string path = find_module(file, star);
      const bool is_other = !path.empty() && path != file.path() && may_bind(path, name);
      const SourceFile* other = is_other ? this->file(path) : nullptr;
      if (!other) continue;
      if (Entity found = global(*other, name, depth + 1)) return found;
    }
    return {};
  }
  if (known->rebound) return choice(file, name, *known, depth);
  Entity out =
      meaning(file, name, {known->imported, known->function, known->class_definition, known->value}, depth);
  const std::string package = known->imported.substr(0, known->imported.find('.'));
  // PyTorch itself is there.
  if (known->optional && !package.empty() && package != "torch") out.optional = package;
  return out;
}

Entity Modules::named(const SourceFile& file, const std::string& text) const {
  const std::size_t dot = text.find('.');
  Entity out = global(file, text.substr(0, dot));
  if (dot == std::string::npos) return out;
  return out.kind == Entity::Kind::kLibrary ? dotted(file, out.name + text.substr(dot)) : Entity();
}

Entity Modules::alias(const SourceFile& file, const Node& value, int depth) const {
  if (value.is("identifier")) return global(file, value.text(), depth);
  if (const std::string module = imported_by_call(file, value); !module.empty())
    return dotted(file, module, depth);
  if (!value.is("attribute")) return {};
  const Entity object = alias(file, value.field("object"), depth + 1);
  if (object.kind != Entity::Kind::kLibrary) return {};
  return dotted(file, object.name + "." + std::string(value.field("attribute").text()), depth);
}

Entity Modules::dotted(const SourceFile& from, const std::string& name, int depth) const {
  if (depth > kMaxImports) return {};
  const ContractSet& contracts = options_.contracts ? *options_.contracts : builtin_contracts();
  const bool readable = std::count(name.begin(), name.end(), '.') <= kMaxParts;
  // The longest part that is a file of the project, and a name in it.
  for (std::size_t split = readable ? name.size() : 0; split != std::string::npos && split > 0;
       split = name.rfind('.', split - 1)) {
    const std::string module = name.substr(0, split);
    if (module.starts_with("torch.") || module == "torch") break;
    const std::string path = find_module(from, module);
    if (path.empty() || (path == from.path() && split == name.size())) continue;
    if (split == name.size()) break;  // the module itself
    // What a contract tells of an installed package needs no reading.
    if (is_installed(path) && contracts.find(name)) break;
    const SourceFile* file = this->file(path);
    if (!file) break;
    const std::string rest = name.substr(split + 1);
    if (rest.find('.') != std::string::npos) break;
    if (Entity found = global(*file, rest, depth + 1)) return found;
    break;
  }
  Entity out;
  out.kind = Entity::Kind::kLibrary;
  out.name = name;
  return out;
}

// A layer of PyTorch as a base: its model, so that what the class inherits is known like a project's own.
const ClassDefinition* Modules::layer(const std::string& library) const {
  if (!library.starts_with("torch.nn.")) return nullptr;
  const SourceFile* file = this->file(layers_as_bases());
  const Global* found =
      file ? file->global(std::string_view(library).substr(library.rfind('.') + 1)) : nullptr;
  return found ? found->class_definition : nullptr;
}

BaseClass Modules::base(const ClassDefinition& of, const Node& base) const {
  std::string name;
  for (const char c : base.text()) {
    if (c != ' ' && c != '\n') name += c;
  }
  if (base.is("subscript")) name = name.substr(0, name.find('['));
  const std::size_t dot = name.find('.');
  Entity found = global(*of.file, name.substr(0, dot));
  if (dot != std::string::npos && found.kind == Entity::Kind::kLibrary)
    found = dotted(*of.file, found.name + name.substr(dot));
  if (found.kind == Entity::Kind::kClass && found.class_definition != &of)
    return {found.class_definition, ""};
  if (const ClassDefinition* known = found.kind == Entity::Kind::kLibrary ? layer(found.name) : nullptr)
    return {known, ""};
  return {nullptr, found.kind == Entity::Kind::kLibrary ? found.name : found ? "" : name};
}

const std::vector<BaseClass>& Modules::bases(const ClassDefinition& of) const {
  std::call_once(of.resolved.once, [&] {
    const Notes notes;
    for (const Node& each : of.bases) of.resolved.all.push_back(base(of, each));
    of.resolved.files = notes.files();
  });
  note(of.resolved.files);
  return of.resolved.all;
}

const FunctionDefinition* Modules::method(const ClassDefinition& of, std::string_view name, bool* complete,
                                          int depth) const {
  if (const FunctionDefinition* own = of.method(name)) return own;
  if (depth > kMaxBases) return nullptr;
  for (const auto& [above, library] : bases(of)) {
    if (above) {
      if (const FunctionDefinition* found = method(*above, name, complete, depth + 1)) return found;
    } else if (complete && library != "torch.nn.Module" && library != "object" &&
               library != "torch.nn.modules.Module" && !library.starts_with("abc.") &&
               library != "typing.Generic") {
      *complete = false;
    }
  }
  return nullptr;
}

void Modules::library_bases(const ClassDefinition& of, std::set<std::string>& out, int depth) const {
  if (depth > kMaxBases) return;
  for (const auto& [above, library] : bases(of)) {
    if (above) {
      library_bases(*above, out, depth + 1);
    } else {
      out.insert(library);
    }
  }
}

// By a base of PyTorch's or of a library's models; with a base that is not in sight, by a forward of objects.
bool Modules::is_module(const ClassDefinition& of) const {
  std::set<std::string> all;
  library_bases(of, all);
  const FunctionDefinition* forward = method(of, "forward", nullptr);
  const bool runs_forward = forward && !forward->is_static && !forward->is_class_method;
  return std::any_of(all.begin(), all.end(), [&](const std::string& each) {
    const bool is_known_library = each.starts_with("torch.") || each.starts_with("typing.") ||
                                  each.starts_with("abc.") || each == "object";
    return each.starts_with("torch.nn.") || each.ends_with("PreTrainedModel") ||
           each.ends_with("ModelMixin") || each.ends_with("LightningModule") || each.ends_with(".Module") ||
           (runs_forward && !is_known_library);
  });
}

}  // namespace dtype_guard::python
