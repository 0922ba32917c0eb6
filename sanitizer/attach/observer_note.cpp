#include "sanitizer/attach/observer_note.h"

#include <libelf.h>

#include <string_view>

#include "sanitizer/elf/elf_file.h"

namespace dtype_guard::san {
namespace {

bool has_note_of(Elf_Data* data, std::string_view owner) {
  GElf_Nhdr note;
  std::size_t name = 0, descriptor = 0;
  for (std::size_t at = 0;
       data != nullptr && (at = gelf_getnote(data, at, &note, &name, &descriptor)) != 0;) {
    const char* text = static_cast<const char*>(data->d_buf) + name;
    if (note.n_namesz == owner.size() + 1 && std::string_view(text, owner.size()) == owner) return true;
  }
  return false;
}

}  // namespace

bool has_observer_note(const std::string& path) {
  const ElfFile file(path);
  for (const GElf_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_NOTE) continue;
    const Elf_Type type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
    if (has_note_of(elf_getdata_rawchunk(file.get(), static_cast<std::int64_t>(segment.p_offset),
                                         segment.p_filesz, type),
                    "flash_ref"))
      return true;
  }
  return false;
}

namespace {

// A function among the dynamic symbols whose name `wanted` takes.
template <typename Wanted>
bool exports(const std::string& file, const Wanted& wanted) {
  const ElfFile elf(file);
  for (Elf_Scn* section = nullptr;
       elf.get() != nullptr && (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM || header.sh_entsize == 0)
      continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    for (int i = 1; data != nullptr && static_cast<GElf_Xword>(i) < header.sh_size / header.sh_entsize; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
      const char* name = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
      if (name != nullptr && wanted(std::string_view(name)) && GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
        return true;
    }
  }
  return false;
}

}  // namespace

bool exports_flash_ref(const std::string& file) {
  return exports(file, [](std::string_view name) { return name.starts_with("flash_ref_"); });
}

bool exports_function(const std::string& file, const std::string& symbol) {
  return exports(file, [&](std::string_view name) { return name == symbol; });
}

bool exports_switch(const std::string& file) { return exports_function(file, "dtype_san_switch"); }

}  // namespace dtype_guard::san
