#include "sanitizer/symbolize/address.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace dtype_guard::san {
namespace {

// Where separate debug information is looked for, and binaries by their build-id: gdb's places.
constexpr const char* kDebugFolders = ":.debug:/usr/lib/debug";

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

// The declaration that a concrete or inlined function stands for.
Dwarf_Die declaration(const Dwarf_Die& function) {
  Dwarf_Die die = function;
  constexpr int kLongestChain = 8;
  for (int i = 0; i < kLongestChain; ++i) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
        dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr)
      break;
    if (dwarf_formref_die(&attribute, &next) == nullptr) break;
    die = next;
  }
  return die;
}

// The name with its namespaces and classes.
std::string scoped_name(Dwarf_Die die) {
  std::string text = text_or_empty(dwarf_diename(&die));
  Dwarf_Die* scopes = nullptr;
  int count = dwarf_getscopes_die(&die, &scopes);
  for (int i = 1; i < count; ++i) {
    int tag = dwarf_tag(&scopes[i]);
    std::string scope = text_or_empty(dwarf_diename(&scopes[i]));
    if (tag == DW_TAG_namespace && scope.empty()) scope = "(anonymous namespace)";
    bool counts = tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
    if (counts && !scope.empty()) text = scope + "::" + text;
  }
  std::free(scopes);
  return text;
}

// By linkage name, which has the parameters too; functions of internal linkage have none.
std::string function_name(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (unsigned which : {unsigned{DW_AT_linkage_name}, unsigned{DW_AT_MIPS_linkage_name}})
    if (dwarf_attr_integrate(die, which, &attribute) != nullptr)
      return demangle(text_or_empty(dwarf_formstring(&attribute)));
  return scoped_name(declaration(*die));
}

std::string language(Dwarf_Die* unit) {
  switch (dwarf_srclang(unit)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
      return "c";
    default:
      return "c++";
  }
}

// Compilers write file names relative to the directory of compilation.
std::string absolute(Dwarf_Die* unit, const std::string& file) {
  if (file.empty() || file[0] == '/') return file;
  Dwarf_Attribute attribute;
  const char* folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  return folder != nullptr ? fmt::format("{}/{}", folder, file) : file;
}

struct Place {
  std::string file;
  int line = 0;
};

Place call_place(Dwarf_Die* unit, Dwarf_Die* inlined) {
  Place place;
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0, line = 0;
  Dwarf_Files* files = nullptr;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) == 0 &&
      dwarf_getsrcfiles(unit, &files, nullptr) == 0)
    place.file = absolute(unit, text_or_empty(dwarf_filesrc(files, file, nullptr, nullptr)));
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0)
    place.line = static_cast<int>(line);
  return place;
}

}  // namespace

class Symbolizer::Module {
 public:
  explicit Module(const Dwfl_Callbacks& callbacks) : dwfl_(dwfl_begin(&callbacks)) {}
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module() {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }

  // The first of these files that is the one which ran, else one that is found by its build-id. Empty on
  // success, else why the first file cannot be used.
  std::string open(const JournalModule& recorded, const std::vector<std::string>& files) {
    if (recorded.path.empty() || recorded.path[0] != '/') return "it is not a file";
    if (dwfl_ == nullptr) return dwfl_errmsg(-1);
    std::string problem;
    for (const std::string& file : files) {
      std::string error = open_file(recorded, file);
      if (error.empty()) return "";
      if (problem.empty() || is_absent(problem)) problem = error;
    }
    if (open_by_build_id(recorded)) return "";
    module_ = nullptr;
    return is_absent(problem) ? problem + "; report --sysroot names a folder that has a copy of it" : problem;
  }

  bool usable() const { return module_ != nullptr; }

  // `offset` is an address as the file counts them, inside the calling instruction.
  std::vector<StackFrame> frames(const StackFrame& bare, std::uint64_t offset) {
    GElf_Addr elf_bias = 0;
    if (dwfl_module_getelf(module_, &elf_bias) == nullptr) return {bare};
    Dwarf_Addr address = offset + elf_bias;
    std::vector<StackFrame> result = debug_frames(bare, address);
    if (result.empty()) result.push_back(bare);
    if (result.back().function.empty()) {
      GElf_Off distance = 0;
      GElf_Sym symbol;
      result.back().function = demangle(text_or_empty(
          dwfl_module_addrinfo(module_, address, &distance, &symbol, nullptr, nullptr, nullptr)));
    }
    return result;
  }

 private:
  static bool is_absent(const std::string& problem) { return problem == std::strerror(ENOENT); }

  std::string open_file(const JournalModule& recorded, const std::string& file) {
    dwfl_report_begin(dwfl_);
    module_ = dwfl_report_offline(dwfl_, file.c_str(), file.c_str(), -1);
    std::string error = module_ == nullptr ? dwfl_errmsg(-1) : "";
    dwfl_report_end(dwfl_, nullptr, nullptr);
    return error.empty() ? difference(recorded, file) : error;
  }

  // In a folder for debug information, or from the servers of DEBUGINFOD_URLS.
  bool open_by_build_id(const JournalModule& recorded) {
    if (recorded.build_id.empty()) return false;
    dwfl_report_begin(dwfl_);
    module_ = dwfl_report_module(dwfl_, recorded.path.c_str(), recorded.low, recorded.high);
    bool known =
        module_ != nullptr &&
        dwfl_module_report_build_id(module_, reinterpret_cast<const unsigned char*>(recorded.build_id.data()),
                                    recorded.build_id.size(), 0) == 0;
    dwfl_report_end(dwfl_, nullptr, nullptr);
    GElf_Addr bias = 0;
    return known && dwfl_module_getelf(module_, &bias) != nullptr;
  }

  std::string difference(const JournalModule& recorded, const std::string& file) {
    GElf_Addr bias = 0;
    if (dwfl_module_getelf(module_, &bias) == nullptr) return dwfl_errmsg(-1);
    const unsigned char* bytes = nullptr;
    GElf_Addr where = 0;
    int length = dwfl_module_build_id(module_, &bytes, &where);
    std::string found(reinterpret_cast<const char*>(bytes),
                      length > 0 ? static_cast<std::size_t>(length) : 0);
    if (found != recorded.build_id) return "its build-id is another one than when the program ran";
    struct stat status = {};
    if (found.empty() &&
        (stat(file.c_str(), &status) != 0 || static_cast<std::uint64_t>(status.st_size) != recorded.size ||
         static_cast<std::uint64_t>(status.st_mtime) != recorded.modified))
      return "it has changed since the program ran (it has no build-id; size and time differ)";
    return "";
  }

  std::vector<StackFrame> debug_frames(const StackFrame& bare, Dwarf_Addr address) {
    std::vector<StackFrame> result;
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module_, address, &bias);
    if (unit == nullptr) return result;
    StackFrame frame = bare;
    frame.language = language(unit);
    if (Dwfl_Line* line = dwfl_module_getsrc(module_, address))
      frame.file =
          absolute(unit, text_or_empty(dwfl_lineinfo(line, nullptr, &frame.line, nullptr, nullptr, nullptr)));
    Dwarf_Die* scopes = nullptr;
    int count = dwarf_getscopes(unit, address - bias, &scopes);
    Dwarf_Die innermost;
    if (count > 0) {
      // getscopes follows an inlined function into its definition; the physical parents are what is wanted
      // here.
      innermost = scopes[0];
      std::free(scopes);
      scopes = nullptr;
      count = dwarf_getscopes_die(&innermost, &scopes);
    }
    for (int i = 0; i < count; ++i) {
      int tag = dwarf_tag(&scopes[i]);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      frame.function = function_name(&scopes[i]);
      result.push_back(frame);
      if (tag == DW_TAG_subprogram) break;
      Place place = call_place(unit, &scopes[i]);
      frame.file = place.file;
      frame.line = place.line;
    }
    std::free(scopes);
    if (result.empty()) result.push_back(frame);
    return result;
  }

  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
};

class Symbolizer::Places {
 public:
  explicit Places(std::string sysroot) : sysroot_(std::move(sysroot)) {
    if (!sysroot_.empty()) folders_ = sysroot_ + "/usr/lib/debug:" + kDebugFolders;
    callbacks_ = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo, dwfl_offline_section_address, &path_};
    path_ = folders_.data();
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  const Dwfl_Callbacks& callbacks() const { return callbacks_; }
  std::vector<std::string> files(const JournalModule& module) const {
    if (sysroot_.empty()) return {module.path};
    return {sysroot_ + module.path, module.path};
  }

 private:
  std::string sysroot_;
  std::string folders_ = kDebugFolders;
  char* path_ = nullptr;  // libdw wants the address of one
  Dwfl_Callbacks callbacks_ = {};
};

Symbolizer::Symbolizer(const std::string& sysroot) : places_(std::make_unique<Places>(sysroot)) {}
Symbolizer::~Symbolizer() = default;

Symbolizer::Module& Symbolizer::open(const JournalModule& module) {
  std::string key = fmt::format("{}\n{}\n{}\n{}", module.path, module.build_id, module.size, module.modified);
  for (auto& [known, opened] : modules_)
    if (known == key) return *opened;
  auto& opened = modules_.emplace_back(key, std::make_unique<Module>(places_->callbacks())).second;
  std::string problem = opened->open(module, places_->files(module));
  if (!problem.empty() && !module.path.empty() && module.path[0] == '/')
    refused_.push_back(fmt::format("{}: no functions or lines, {}", module.path, problem));
  return *opened;
}

std::vector<StackFrame> Symbolizer::resolve(const JournalModule& module, std::uint64_t return_address) {
  StackFrame bare = bare_frame(module, return_address);
  Module& opened = open(module);
  if (!opened.usable()) return {bare};
  // Ranks run the same program: each address is looked up once for all of them.
  auto [known, is_new] = resolved_.try_emplace({&opened, bare.offset});
  if (is_new) known->second = opened.frames(bare, bare.offset);
  return known->second;
}

StackFrame bare_frame(const JournalModule& module, std::uint64_t return_address) {
  StackFrame frame;
  frame.language = "c++";
  frame.module = module.path;
  frame.offset = return_address - 1 - module.bias;
  return frame;
}

std::string qualified_name(const std::string& function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)", kOperator = "operator";
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i < function.size(); ++i) {
    char c = function[i];
    if (depth == 0 && function.compare(i, kAnonymous.size(), kAnonymous) == 0) {
      i += kAnonymous.size() - 1;
      continue;
    }
    bool starts_word = i == 0 || function[i - 1] == ':' || function[i - 1] == ' ';
    if (depth == 0 && starts_word && function.compare(i, kOperator.size(), kOperator) == 0) {
      std::size_t symbol = i + kOperator.size();
      std::size_t parameters =
          function.find('(', function.compare(symbol, 2, "()") == 0 ? symbol + 2 : symbol);
      return function.substr(start, parameters == std::string::npos ? parameters : parameters - start);
    }
    if (depth == 0 && c == '(') return i == start ? function : function.substr(start, i - start);
    if (depth == 0 && c == ' ') start = i + 1;
    if (c == '(' || c == '<' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == '}' || c == ']') --depth;
  }
  return function;
}

std::string demangle(const std::string& symbol) {
  constexpr std::size_t kLongest = 8192;
  if (symbol.size() > kLongest || symbol.compare(0, 2, "_Z") != 0) return symbol;
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : symbol;
  std::free(text);
  return result;
}

}  // namespace dtype_guard::san
