#include "sanitizer/elf/identity.h"

#include <fmt/format.h>

#include <algorithm>

#include "sanitizer/elf/elf_file.h"

namespace dtype_guard::san {

std::string ElfIdentity::describe() const {
  std::string name;
  switch (machine) {
    case EM_X86_64:
      name = "x86-64";
      break;
    case EM_AARCH64:
      name = "aarch64";
      break;
    case EM_386:
      name = "i386";
      break;
    case EM_ARM:
      name = "arm";
      break;
    case EM_RISCV:
      name = "riscv";
      break;
    case EM_PPC64:
      name = "ppc64";
      break;
    default:
      name = fmt::format("machine {}", machine);
  }
  return fmt::format("{}-bit {}", is_64_bit ? 64 : 32, name);
}

std::optional<ElfIdentity> read_elf(const std::string& path, std::string& problem) {
  constexpr std::uint64_t kLongest = 4096;
  const ElfFile file(path);
  GElf_Ehdr header;
  if (!file.is_elf() || gelf_getehdr(file.get(), &header) == nullptr) {
    problem = file.has_content() ? "it is no ELF file" : "it is empty or cannot be read";
    return std::nullopt;
  }
  ElfIdentity identity;
  identity.is_64_bit = header.e_ident[EI_CLASS] == ELFCLASS64;
  identity.is_little_endian = header.e_ident[EI_DATA] == ELFDATA2LSB;
  identity.machine = header.e_machine;
  identity.is_shared_object = header.e_type == ET_DYN;
  for (const GElf_Phdr& segment : file.segments())
    if (segment.p_type == PT_INTERP && identity.interpreter.empty())
      identity.interpreter =
          file.text_at(segment.p_offset, std::min<std::uint64_t>(segment.p_filesz, kLongest));
  return identity;
}

}  // namespace dtype_guard::san
