#include "sanitizer/attach/process_symbols.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "sanitizer/attach/process_facts.h"

namespace dtype_guard::san {
namespace {

// No separate debug information: searching for it takes time that a stopped thread does not have.
int find_no_debuginfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                      char**) {
  return -1;
}

pid_t looked_at = 0;  // libdw tells its callbacks of modules only

// The process's own file of that name: in its root, and where the name holds a line's end.
int find_elf(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, char** file, Elf** elf) {
  if (name[0] == '/') {
    const std::string path = reachable(looked_at, name);
    if (const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC); opened >= 0) {
      *file = strdup(path.c_str());
      return opened;
    }
  }
  return dwfl_linux_proc_find_elf(module, data, name, base, file, elf);
}

const Dwfl_Callbacks kCallbacks = {find_elf, find_no_debuginfo, nullptr, nullptr};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view module_name(Dwfl_Module* module) {
  const char* name = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  return name == nullptr ? std::string_view() : base_name(name);
}

bool is_libc(std::string_view name) {
  for (const std::string_view prefix : {"libc.so", "libc-2.", "libpthread", "libdl.so", "libdl-2."}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

struct Search {
  std::string_view wanted;
  std::uint64_t found = 0;
};

int search_module(Dwfl_Module* module, void**, const char* path, Dwarf_Addr, void* argument) {
  Search& search = *static_cast<Search*>(argument);
  if (!is_libc(base_name(path))) return DWARF_CB_OK;
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    const char* name = dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
    if (name == nullptr || search.wanted != name || section == SHN_UNDEF) continue;
    if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    search.found = address;
    return DWARF_CB_ABORT;
  }
  return DWARF_CB_OK;
}

struct Walk {
  Dwfl* dwfl;
  std::string hazard;
  int depth = 0;
};

int look_at_frame(Dwfl_Frame* frame, void* argument) {
  constexpr int kDeepest = 1000;
  Walk& walk = *static_cast<Walk*>(argument);
  Dwarf_Addr pc = 0;
  bool is_activation = false;
  if (!dwfl_frame_pc(frame, &pc, &is_activation)) return DWARF_CB_ABORT;
  if (is_activation && walk.depth > 0) {
    walk.hazard = "it is inside a signal handler";
    return DWARF_CB_ABORT;
  }
  if (++walk.depth > kDeepest) {
    walk.hazard = "its stack is too deep to be looked through";
    return DWARF_CB_ABORT;
  }
  Dwfl_Module* module = dwfl_addrmodule(walk.dwfl, is_activation ? pc : pc - 1);
  if (module == nullptr) return DWARF_CB_OK;  // generated code
  if (module_name(module).starts_with("ld-")) {
    walk.hazard = "it is inside the dynamic loader";
    return DWARF_CB_ABORT;
  }
  const char* name = dwfl_module_addrname(module, is_activation ? pc : pc - 1);
  if (name != nullptr && is_hazardous(name)) {
    walk.hazard = fmt::format("it is inside {}", name);
    return DWARF_CB_ABORT;
  }
  return DWARF_CB_OK;
}

}  // namespace

bool is_hazardous(const std::string& function) {
  std::string_view name = function;
  for (const std::string_view prefix : {"__GI_", "__libc_", "__", "_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  // Whole names without their underscores, and beginnings of names.
  constexpr std::string_view kNames[] = {"malloc",
                                         "calloc",
                                         "realloc",
                                         "reallocarray",
                                         "free",
                                         "memalign",
                                         "posix_memalign",
                                         "aligned_alloc",
                                         "valloc",
                                         "pvalloc",
                                         "malloc_trim",
                                         "mallopt",
                                         "malloc_info",
                                         "sysmalloc",
                                         "fork",
                                         "vfork",
                                         "Fork",
                                         "clone",
                                         "clone3",
                                         "posix_spawn",
                                         "posix_spawnp",
                                         "spawni",
                                         "dlopen",
                                         "dlsym",
                                         "dlvsym",
                                         "dlclose",
                                         "dlmopen",
                                         "dlerror",
                                         "dladdr",
                                         "dladdr1",
                                         "dl_iterate_phdr",
                                         "exit",
                                         "quick_exit",
                                         "cxa_finalize",
                                         "run_exit_handlers",
                                         "system",
                                         "popen",
                                         "pthread_exit",
                                         "nptl_deallocate_stack",
                                         "sigreturn"};
  constexpr std::string_view kBeginnings[] = {
      "int_malloc", "int_free", "int_realloc", "int_memalign",   "malloc_",      "tcache",
      "arena_get",  "dl_",      "rtld_",       "pthread_create", "pthread_join", "allocate_stack",
      "je_",        "mi_",      "tc_",         "restore_rt"};
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [name](std::string_view beginning) { return name.starts_with(beginning); });
}

ProcessSymbols::ProcessSymbols(pid_t process) : process_(process), dwfl_(dwfl_begin(&kCallbacks)) {
  // libdw would ask debuginfod servers for what it misses, and the target would wait.
  unsetenv("DEBUGINFOD_URLS");
  looked_at = process;
  if (dwfl_ == nullptr || dwfl_linux_proc_report(dwfl_, process) != 0 ||
      dwfl_report_end(dwfl_, nullptr, nullptr) != 0 || dwfl_linux_proc_attach(dwfl_, process, true) != 0) {
    const std::string reason = dwfl_errmsg(-1) != nullptr ? dwfl_errmsg(-1) : "unknown";
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
    throw AttachError{fmt::format("the mappings of process {} cannot be read: {}", process, reason)};
  }
}

ProcessSymbols::~ProcessSymbols() { dwfl_end(dwfl_); }

std::optional<std::uint64_t> ProcessSymbols::libc_function(const std::string& name) const {
  Search search{name};
  dwfl_getmodules(dwfl_, search_module, &search, 0);
  if (search.found == 0) return std::nullopt;
  return search.found;
}

void ProcessSymbols::warm_up(pid_t thread) {
  // The kernel says where a thread in a system call is: "NUMBER ARGUMENTS... SP PC". One that runs is
  // "running".
  std::ifstream in(fmt::format("/proc/{}/task/{}/syscall", process_, thread));
  std::vector<std::uint64_t> numbers;
  for (std::string word; in >> word;)
    if (word.starts_with("0x")) numbers.push_back(std::stoull(word, nullptr, 16));
  std::set<Dwfl_Module*> modules = {dwfl_addrmodule(dwfl_, libc_function("pthread_create").value_or(0))};
  if (numbers.size() >= 2) {
    modules.insert(dwfl_addrmodule(dwfl_, numbers.back()));
    add_modules_on_stack(numbers[numbers.size() - 2], modules);
  }
  for (Dwfl_Module* module : modules) {
    Dwarf_Addr bias = 0, start = 0;
    if (module == nullptr || !warm_.insert(module).second) continue;
    (void)dwfl_module_info(module, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr);
    (void)dwfl_module_eh_cfi(module, &bias);
    (void)dwfl_module_addrname(module, start);
  }
}

// Each word that could be a return address names a module that the walk may come through.
void ProcessSymbols::add_modules_on_stack(std::uint64_t stack_pointer,
                                          std::set<Dwfl_Module*>& modules) const {
  constexpr std::size_t kPiece = 512;  // of words
  std::uint64_t words[kPiece];
  for (int piece = 0; piece < 16; ++piece) {
    iovec local = {words, sizeof words};
    iovec remote = {reinterpret_cast<void*>(stack_pointer + static_cast<std::uint64_t>(piece) * sizeof words),
                    sizeof words};
    const ssize_t count = process_vm_readv(process_, &local, 1, &remote, 1, 0);
    for (ssize_t i = 0; i < count / static_cast<ssize_t>(sizeof words[0]); ++i)
      modules.insert(dwfl_addrmodule(dwfl_, words[i]));
    if (count < static_cast<ssize_t>(sizeof words)) return;
  }
}

std::string ProcessSymbols::hazard(pid_t stopped_thread) const {
  Walk walk{dwfl_, "", 0};
  const int result = dwfl_getthread_frames(dwfl_, stopped_thread, look_at_frame, &walk);
  if (!walk.hazard.empty()) return walk.hazard;
  // The end of a stack that stops without an error is the thread's start.
  if (result == -1) return fmt::format("its stack cannot be walked ({})", dwfl_errmsg(-1));
  return "";
}

}  // namespace dtype_guard::san
