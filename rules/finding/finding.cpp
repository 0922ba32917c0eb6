#include "rules/finding/finding.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

namespace dtype_guard {
namespace {

std::string hash_text(std::string_view text) {
  return fmt::format("v1:{:016x}", static_cast<std::uint64_t>(XXH3_64bits(text.data(), text.size())));
}

std::string without_white_space(std::string_view text) {
  std::string kept;
  for (char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') kept += c;
  }
  return kept;
}

}  // namespace

std::string_view name(Level level) {
  switch (level) {
    case Level::kError:
      return "error";
    case Level::kWarning:
      return "warning";
    case Level::kNote:
      return "note";
  }
  return "note";
}

std::string_view name(Certainty certainty) {
  return certainty == Certainty::kDefinite ? "definite" : "possible";
}

std::optional<Level> parse_level(std::string_view word) {
  for (Level level : {Level::kError, Level::kWarning, Level::kNote}) {
    if (name(level) == word) return level;
  }
  return std::nullopt;
}

std::optional<Certainty> parse_certainty(std::string_view word) {
  for (Certainty certainty : {Certainty::kDefinite, Certainty::kPossible}) {
    if (name(certainty) == word) return certainty;
  }
  return std::nullopt;
}

std::string fingerprint(const FingerprintKey& key) {
  // A zero byte occurs in none of the parts, so no two keys give one text.
  std::string text = key.rule + '\0' + key.function + '\0';
  text += without_white_space(key.expression) + '\0' + key.api;
  return fingerprint_with_ordinal(hash_text(text), key.ordinal);
}

std::string fingerprint_with_ordinal(const std::string& first, int ordinal) {
  return ordinal == 0 ? first : hash_text(fmt::format("{}#{}", first, ordinal));
}

}  // namespace dtype_guard
