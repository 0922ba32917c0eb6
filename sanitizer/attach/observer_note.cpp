#include "sanitizer/attach/observer_note.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include <string_view>

namespace dtype_guard::san {
namespace {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    if (descriptor_ >= 0) elf_ = elf_begin(descriptor_, ELF_C_READ_MMAP, nullptr);
  }
  ~ElfFile() {
    elf_end(elf_);
    if (descriptor_ >= 0) close(descriptor_);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  Elf* get() const { return elf_; }

 private:
  int descriptor_;
  Elf* elf_ = nullptr;
};

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

bool has_observer_note(const std::string& file) {
  const ElfFile elf(file);
  std::size_t count = 0;
  if (elf.get() == nullptr || elf_getphdrnum(elf.get(), &count) != 0) return false;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_NOTE)
      continue;
    const Elf_Type type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
    if (has_note_of(
            elf_getdata_rawchunk(elf.get(), static_cast<int64_t>(segment.p_offset), segment.p_filesz, type),
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

bool exports_switch(const std::string& file) {
  return exports(file, [](std::string_view name) { return name == "dtype_san_switch"; });
}

}  // namespace dtype_guard::san
