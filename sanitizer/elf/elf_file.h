// An ELF file on disk, read by libelf: of either word size and byte order, and without trust in its numbers,
// which libelf holds against the file's size.
#pragma once

#include <gelf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dtype_guard::san {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  // Null where the file cannot be opened; not null for files of other kinds.
  Elf* get() const { return elf_; }
  bool is_elf() const { return elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF; }
  bool has_content() const { return has_content_; }

  std::vector<GElf_Phdr> segments() const;
  // The bytes at that place of the file up to the first zero, `most` at most.
  std::string text_at(std::uint64_t offset, std::uint64_t most) const;

 private:
  int descriptor_;
  Elf* elf_ = nullptr;
  bool has_content_ = false;
};

// Where the file holds what is loaded to that address.
std::optional<std::uint64_t> offset_of(const std::vector<GElf_Phdr>& segments, std::uint64_t address);

}  // namespace dtype_guard::san
