#include "sanitizer/platform/loaded_object.h"

#include <elf.h>
#include <sys/auxv.h>

#include <atomic>
#include <cstring>

#include "sanitizer/platform/forks.h"
#include "sanitizer/platform/own_code.h"
#include "sanitizer/platform/system.h"

namespace dtype_guard::san {
namespace {

struct DynamicTable {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const ElfW(Word) * sysv_hash = nullptr;
  const ElfW(Half) * versions = nullptr;
};

const ElfW(Dyn) * dynamic_section(const LoadedObject& object) {
  for (std::size_t i = 0; i < object.header_count; ++i)
    if (object.headers[i].p_type == PT_DYNAMIC)
      return reinterpret_cast<const ElfW(Dyn)*>(object.bias + object.headers[i].p_vaddr);
  return nullptr;
}

// glibc relocates these pointers in place, but not for the vdso.
std::uintptr_t pointer(std::uintptr_t bias, const ElfW(Dyn) * entry) {
  std::uintptr_t value = entry->d_un.d_ptr;
  return value < bias ? value + bias : value;
}

DynamicTable dynamic_table(std::uintptr_t bias, const ElfW(Dyn) * entry) {
  DynamicTable table;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) table.symbols = reinterpret_cast<const ElfW(Sym)*>(pointer(bias, entry));
    if (entry->d_tag == DT_STRTAB) table.strings = reinterpret_cast<const char*>(pointer(bias, entry));
    if (entry->d_tag == DT_GNU_HASH)
      table.gnu_hash = reinterpret_cast<const std::uint32_t*>(pointer(bias, entry));
    if (entry->d_tag == DT_VERSYM) table.versions = reinterpret_cast<const ElfW(Half)*>(pointer(bias, entry));
    if (entry->d_tag == DT_HASH) table.sysv_hash = reinterpret_cast<const ElfW(Word)*>(pointer(bias, entry));
  }
  return table;
}
DynamicTable dynamic_table(const LoadedObject& object) {
  return dynamic_table(object.bias, dynamic_section(object));
}

// Without strcmp, which another preloaded library may define and not have ready yet.
bool is_name(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

bool defines(const DynamicTable& table, std::uint32_t index, const char* name) {
  const ElfW(Sym)& symbol = table.symbols[index];
  unsigned type = symbol.st_info & 15U;
  unsigned binding = symbol.st_info >> 4U;
  return symbol.st_shndx != SHN_UNDEF && (binding == STB_GLOBAL || binding == STB_WEAK) &&
         (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE || type == STT_OBJECT) &&
         is_name(table.strings + symbol.st_name, name);
}

// What a program that is linked today gets, where a name has several versions.
bool is_default(const DynamicTable& table, std::uint32_t index) {
  constexpr unsigned kHidden = 0x8000;
  return table.versions == nullptr || (table.versions[index] & kHidden) == 0;
}

const ElfW(Sym) * find_by_gnu_hash(const DynamicTable& table, const char* name) {
  std::uint32_t hash = 5381;
  for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  std::uint32_t bucket_count = table.gnu_hash[0];
  std::uint32_t first = table.gnu_hash[1];
  std::uint32_t bloom_words = table.gnu_hash[2];
  const std::uint32_t* buckets = table.gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
  if (bucket_count == 0) return nullptr;
  std::uint32_t index = buckets[hash % bucket_count];
  if (index < first) return nullptr;
  const std::uint32_t* chain = buckets + bucket_count;
  const ElfW(Sym)* old = nullptr;
  for (;; ++index) {
    std::uint32_t link = chain[index - first];
    if ((link | 1U) == (hash | 1U) && defines(table, index, name)) {
      if (is_default(table, index)) return &table.symbols[index];
      if (old == nullptr) old = &table.symbols[index];
    }
    if ((link & 1U) != 0) return old;
  }
}

const ElfW(Sym) * find_by_sysv_hash(const DynamicTable& table, const char* name) {
  ElfW(Word) count = table.sysv_hash[1];
  const ElfW(Sym)* old = nullptr;
  for (ElfW(Word) index = 0; index < count; ++index) {
    if (!defines(table, index, name)) continue;
    if (is_default(table, index)) return &table.symbols[index];
    if (old == nullptr) old = &table.symbols[index];
  }
  return old;
}

// What every copy of this library exports and nothing else does.
constexpr char kOwnMark[] = "dtype_san_switch";

const ElfW(Sym) * find_symbol(const DynamicTable& table, const char* name) {
  if (table.symbols == nullptr || table.strings == nullptr) return nullptr;
  if (table.gnu_hash != nullptr) return find_by_gnu_hash(table, name);
  return table.sysv_hash != nullptr ? find_by_sysv_hash(table, name) : nullptr;
}

const char* dynamic_text(const LoadedObject& object, std::int64_t tag) {
  DynamicTable table = dynamic_table(object);
  const ElfW(Dyn)* entry = dynamic_section(object);
  for (; table.strings != nullptr && entry != nullptr && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag) return table.strings + entry->d_un.d_val;
  return "";
}

}  // namespace

bool LoadedObject::is_sanitizer() const { return find_symbol(dynamic_table(*this), kOwnMark) != nullptr; }

bool LoadedObject::contains(std::uintptr_t address) const {
  for (std::size_t i = 0; i < header_count; ++i) {
    if (headers[i].p_type != PT_LOAD) continue;
    std::uintptr_t start = bias + headers[i].p_vaddr;
    if (address >= start && address - start < headers[i].p_memsz) return true;
  }
  return false;
}

void LoadedObject::range(std::uintptr_t& low, std::uintptr_t& high) const {
  low = UINTPTR_MAX;
  high = 0;
  for (std::size_t i = 0; i < header_count; ++i) {
    if (headers[i].p_type != PT_LOAD) continue;
    std::uintptr_t start = bias + headers[i].p_vaddr;
    if (start < low) low = start;
    if (start + headers[i].p_memsz > high) high = start + headers[i].p_memsz;
  }
}

std::string_view LoadedObject::note(std::string_view owner, std::uint32_t type) const {
  for (std::size_t i = 0; i < header_count; ++i) {
    if (headers[i].p_type != PT_NOTE) continue;
    std::uintptr_t step = headers[i].p_align == 8 ? 8 : 4;
    const char* at = reinterpret_cast<const char*>(bias + headers[i].p_vaddr);
    const char* end = at + headers[i].p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* content = name + ((note.n_namesz + step - 1) & ~(step - 1));
      if (content > end || note.n_descsz > static_cast<std::size_t>(end - content)) break;
      if (note.n_type == type && note.n_namesz == owner.size() + 1 &&
          std::memcmp(name, owner.data(), owner.size()) == 0)
        return {content, note.n_descsz};
      at = content + ((note.n_descsz + step - 1) & ~(step - 1));
    }
  }
  return {};
}

std::string_view LoadedObject::build_id() const { return note("GNU", NT_GNU_BUILD_ID); }

void* LoadedObject::find_object(const char* name) const {
  const ElfW(Sym)* symbol = find_symbol(dynamic_table(*this), name);
  return symbol != nullptr ? reinterpret_cast<void*>(bias + symbol->st_value) : nullptr;
}

void* LoadedObject::find_function(const char* name) const {
  const ElfW(Sym)* symbol = find_symbol(dynamic_table(*this), name);
  if (symbol == nullptr || (symbol->st_info & 15U) == STT_OBJECT) return nullptr;
  auto* address = reinterpret_cast<void*>(bias + symbol->st_value);
  if ((symbol->st_info & 15U) == STT_GNU_IFUNC) return reinterpret_cast<void* (*)()>(address)();
  return address;
}

void LoadedObject::each_needed(void (*visit)(void* context, const char* name), void* context) const {
  DynamicTable table = dynamic_table(*this);
  const ElfW(Dyn)* entry = dynamic_section(*this);
  for (; table.strings != nullptr && entry != nullptr && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED) visit(context, table.strings + entry->d_un.d_val);
}

void LoadedObject::relocated_read_only(std::uintptr_t& low, std::uintptr_t& high) const {
  low = high = 0;
  for (std::size_t i = 0; i < header_count; ++i) {
    if (headers[i].p_type != PT_GNU_RELRO) continue;
    low = bias + headers[i].p_vaddr;
    high = low + headers[i].p_memsz;
  }
}

void LoadedObject::each_binding(void (*visit)(void* context, const Binding& binding), void* context) const {
#if defined(__x86_64__)
  constexpr std::uint32_t kTable = R_X86_64_GLOB_DAT, kCall = R_X86_64_JUMP_SLOT, kData = R_X86_64_64;
#else
  constexpr std::uint32_t kTable = R_AARCH64_GLOB_DAT, kCall = R_AARCH64_JUMP_SLOT, kData = R_AARCH64_ABS64;
#endif
  DynamicTable names = dynamic_table(*this);
  if (names.symbols == nullptr || names.strings == nullptr) return;
  struct Table {
    std::uintptr_t start = 0;
    std::size_t bytes = 0;
  } tables[2];
  std::size_t relative = 0;  // relocations without a symbol come first and are many
  for (const ElfW(Dyn)* entry = dynamic_section(*this); entry != nullptr && entry->d_tag != DT_NULL;
       ++entry) {
    if (entry->d_tag == DT_RELA) tables[0].start = pointer(bias, entry);
    if (entry->d_tag == DT_RELASZ) tables[0].bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) tables[1].start = pointer(bias, entry);
    if (entry->d_tag == DT_PLTRELSZ) tables[1].bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELACOUNT) relative = entry->d_un.d_val;
  }
  for (const Table& table : tables) {
    const auto* relocations = reinterpret_cast<const ElfW(Rela)*>(table.start);
    std::size_t count = table.start != 0 ? table.bytes / sizeof *relocations : 0;
    for (std::size_t i = &table == tables ? relative : 0; i < count; ++i) {
      std::uint32_t type = ELF64_R_TYPE(relocations[i].r_info);
      if (type != kTable && type != kCall && type != kData) continue;
      const ElfW(Sym)& symbol = names.symbols[ELF64_R_SYM(relocations[i].r_info)];
      visit(context, {reinterpret_cast<std::uintptr_t*>(bias + relocations[i].r_offset),
                      names.strings + symbol.st_name, type == kCall, type == kTable});
    }
  }
}

const char* LoadedObject::soname() const { return dynamic_text(*this, DT_SONAME); }

namespace {

// The loader's lists as debuggers find them: through the program's own dynamic section.
const r_debug* loader_lists() {
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
  std::size_t count = getauxval(AT_PHNUM);
  LoadedObject program{"", 0, headers, count, 0};
  for (std::size_t i = 0; headers != nullptr && i < count; ++i)
    if (headers[i].p_type == PT_PHDR)
      program.bias = reinterpret_cast<std::uintptr_t>(headers) - headers[i].p_vaddr;
  const ElfW(Dyn)* entry = headers != nullptr ? dynamic_section(program) : nullptr;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_DEBUG && entry->d_un.d_ptr != 0)
      return reinterpret_cast<const r_debug*>(entry->d_un.d_ptr);
  return nullptr;
}

const link_map* first_link_map() {
  const r_debug* lists = loader_lists();
  return lists != nullptr ? lists->r_map : nullptr;
}

// Of glibc 2.35 on (r_version 2): one for each namespace.
struct NamespaceLists {
  r_debug own;
  const NamespaceLists* next;
};

const NamespaceLists* foreign_lists() {
  static std::atomic<const NamespaceLists*> base{nullptr};
  const NamespaceLists* lists = base.load(std::memory_order_relaxed);
  if (lists == nullptr) {
    lists = reinterpret_cast<const NamespaceLists*>(loader_lists());
    base.store(lists, std::memory_order_relaxed);
  }
  return lists != nullptr && lists->own.r_version >= 2 ? lists->next : nullptr;
}

// Its headers lie behind the ELF header at its start.
bool describe(const link_map& map, std::size_t index, LoadedObject& object) {
  ElfW(Ehdr) header;
  if (map.l_addr == 0 || !read_memory(reinterpret_cast<const void*>(map.l_addr), &header, sizeof header))
    return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)))
    return false;
  object = {map.l_name != nullptr ? map.l_name : "", map.l_addr,
            reinterpret_cast<const ElfW(Phdr)*>(map.l_addr + header.e_phoff), header.e_phnum, index};
  return true;
}

}  // namespace

void* find_behind_own(const char* name) {
  bool past_own = false;
  for (const link_map* map = first_link_map(); map != nullptr; map = map->l_next) {
    if (is_own_code(map->l_addr)) {
      past_own = true;
    } else if (past_own) {
      const ElfW(Sym)* symbol = find_symbol(dynamic_table(map->l_addr, map->l_ld), name);
      if (symbol != nullptr) return reinterpret_cast<void*>(map->l_addr + symbol->st_value);
    }
  }
  return nullptr;
}

void* find_original(const char* name) {
  if (void* behind = find_behind_own(name)) return behind;
  for (const link_map* map = first_link_map(); map != nullptr; map = map->l_next) {
    if (is_own_code(map->l_addr)) continue;
    const ElfW(Sym)* symbol = find_symbol(dynamic_table(map->l_addr, map->l_ld), name);
    if (symbol != nullptr) return reinterpret_cast<void*>(map->l_addr + symbol->st_value);
  }
  return nullptr;
}

const char* earlier_copy() {
  const char* first = nullptr;
  for (const link_map* map = first_link_map(); map != nullptr; map = map->l_next) {
    if (is_own_code(map->l_addr)) return first;
    if (first == nullptr && find_symbol(dynamic_table(map->l_addr, map->l_ld), kOwnMark) != nullptr)
      first = map->l_name;
  }
  return nullptr;  // of a namespace of its own
}

void each_foreign_object(bool (*visit)(void* context, const LoadedObject& object), void* context) {
  if (foreign_lists() == nullptr) return;
  struct State {
    bool (*visit)(void*, const LoadedObject&);
    void* context;
  } state{visit, context};
  const ForksHeld held;
  dl_iterate_phdr(  // for its lock
      [](dl_phdr_info*, std::size_t, void* data) {
        const auto* inner = static_cast<const State*>(data);
        std::size_t index = 0;
        LoadedObject object;
        for (const NamespaceLists* lists = foreign_lists(); lists != nullptr; lists = lists->next)
          for (const link_map* map = lists->own.r_map; map != nullptr; map = map->l_next)
            if (describe(*map, index++, object) && !inner->visit(inner->context, object)) return 1;
        return 1;
      },
      &state);
}

std::uint64_t foreign_state() {
  std::uint64_t state = 0;
  for (const NamespaceLists* lists = foreign_lists(); lists != nullptr; lists = lists->next)
    for (const link_map* map = lists->own.r_map; map != nullptr; map = map->l_next)
      state = (state ^ map->l_addr) * 0x9e3779b97f4a7c15U;
  return state;
}

void each_loaded_object(bool (*visit)(void* context, const LoadedObject& object), void* context) {
  struct State {
    bool (*visit)(void*, const LoadedObject&);
    void* context;
    std::size_t index;
  } state{visit, context, 0};
  const ForksHeld held;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto* inner = static_cast<State*>(data);
        LoadedObject object{info->dlpi_name != nullptr ? info->dlpi_name : "", info->dlpi_addr,
                            info->dlpi_phdr, info->dlpi_phnum, inner->index++};
        return inner->visit(inner->context, object) ? 0 : 1;
      },
      &state);
}

void each_object_inside_dlopen(bool (*visit)(void* context, const LoadedObject& object), void* context) {
  constexpr std::size_t kBatch = 64;
  LoadedObject batch[kBatch];
  std::size_t count = 0;
  for (std::size_t first = 0; first == 0 || count == kBatch; first += kBatch) {
    count = 0;
    each_loaded_object([&](const LoadedObject& object) {
      if (object.index >= first) batch[count++] = object;
      return count < kBatch;
    });
    for (std::size_t i = 0; i < count; ++i)
      if (!visit(context, batch[i])) return;
  }
}

}  // namespace dtype_guard::san
