// The data files that are compiled in, as text under their names. The definitions are written at build time
// by embed.cmake from the folders' own files.
#pragma once

#include <span>
#include <string_view>

namespace dtype_guard {

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_contracts();  // rules/contracts/*.json
std::span<const EmbeddedFile> embedded_operators();  // rules/operators/*.json
std::span<const EmbeddedFile> embedded_catalog();    // rules/catalog/*.md but its README
std::span<const EmbeddedFile> embedded_html();       // rules/report/html/
std::span<const EmbeddedFile> embedded_schemas();    // JSON Schema files for reports, baselines and contracts

}  // namespace dtype_guard
