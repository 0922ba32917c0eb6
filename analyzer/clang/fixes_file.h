// What --export-fixes writes: findings and fixes in the YAML of clang::tooling, by Clang's own writer, for
// clang-apply-replacements and the tools that read clang-tidy's files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dtype_guard::clang_front_end {

// Files are absolute, offsets and lengths are in bytes, texts are valid UTF-8.
struct FixesFile {
  struct Place {
    std::string file;
    std::size_t offset = 0;
  };
  struct Replacement {
    Place at;
    std::size_t length = 0;
    std::string text;
  };
  struct Note {
    std::string message;
    Place at;
  };
  struct Diagnostic {
    std::string name;
    Note said;
    bool is_error = false;
    std::vector<Note> notes;
    std::vector<Replacement> replacements;
  };
  std::string main_file;
  std::string build_directory;
  std::vector<Diagnostic> diagnostics;
};

// Only where is_built_in() (front_end.h); throws std::logic_error in a build without Clang.
std::string yaml_of(const FixesFile& file);

}  // namespace dtype_guard::clang_front_end
