// For which machine an ELF file is made, and what loads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dtype_guard::san {

// The parts of an ELF header that matter here.
struct ElfIdentity {
  bool is_64_bit = false;
  bool is_little_endian = false;
  std::uint16_t machine = 0;
  bool is_shared_object = false;  // ET_DYN
  std::string interpreter;        // PT_INTERP; empty: static, or a library
  std::string describe() const;   // "64-bit x86-64"
  bool same_architecture(const ElfIdentity& other) const {
    return is_64_bit == other.is_64_bit && is_little_endian == other.is_little_endian &&
           machine == other.machine;
  }
};

// Nothing when the file is no ELF file; `problem` then says what it is.
std::optional<ElfIdentity> read_elf(const std::string& path, std::string& problem);

}  // namespace dtype_guard::san
