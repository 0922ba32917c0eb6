#include "sanitizer/elf/elf_file.h"

#include <fcntl.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace dtype_guard::san {

ElfFile::ElfFile(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  char first = 0;
  elf_version(EV_CURRENT);
  if (descriptor_ < 0) return;
  has_content_ = pread(descriptor_, &first, 1, 0) == 1;
  elf_ = elf_begin(descriptor_, ELF_C_READ_MMAP, nullptr);
}

ElfFile::~ElfFile() {
  elf_end(elf_);
  if (descriptor_ >= 0) close(descriptor_);
}

std::vector<GElf_Phdr> ElfFile::segments() const {
  std::vector<GElf_Phdr> list;
  std::size_t count = 0;
  if (!is_elf() || elf_getphdrnum(elf_, &count) != 0) return list;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf_, static_cast<int>(i), &segment) != nullptr) list.push_back(segment);
  }
  return list;
}

std::string ElfFile::text_at(std::uint64_t offset, std::uint64_t most) const {
  std::size_t size = 0;
  const char* bytes = is_elf() ? elf_rawfile(elf_, &size) : nullptr;
  if (bytes == nullptr || offset >= size) return "";
  return {bytes + offset, strnlen(bytes + offset, std::min<std::uint64_t>(most, size - offset))};
}

std::optional<std::uint64_t> offset_of(const std::vector<GElf_Phdr>& segments, std::uint64_t address) {
  for (const GElf_Phdr& one : segments)
    if (one.p_type == PT_LOAD && address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz)
      return one.p_offset + (address - one.p_vaddr);
  return std::nullopt;
}

}  // namespace dtype_guard::san
