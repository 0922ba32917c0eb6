// One entry of the cache as text: a checksum, the dependencies, and the summary.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/source/dependencies.h"

namespace dtype_guard::driver {

struct CacheEntry {
  source::Dependencies dependencies;
  std::string_view summary;  // into the text that was parsed
};

// Empty when a path cannot be written down (one that holds a line break).
std::string cache_entry_text(const std::string& key, const source::Dependencies& dependencies,
                             std::string_view summary);
// Nothing when the text is damaged, or another key's.
std::optional<CacheEntry> parse_cache_entry(const std::string& key, std::string_view text);

}  // namespace dtype_guard::driver
