#include "sanitizer/symbolize/refused_sources.h"

#include <fmt/format.h>

#include <set>
#include <string>

namespace dtype_guard::san {

std::vector<NotAnalysed> refused_sources(const std::vector<Journal>& journals) {
  std::set<std::string> on;
  for (const Journal& journal : journals)
    for (const JournalSource& source : journal.sources)
      if (source.on) on.insert(source.name);
  std::vector<NotAnalysed> entries;
  for (const Journal& journal : journals)
    for (const JournalSource& source : journal.sources)
      if (source.is_refused && on.contains(source.name))
        entries.push_back({journal.file, "", std::string(kSourceOff),
                           fmt::format("{}, which was on elsewhere, was off in process {}: {}", source.name,
                                       journal.process ? std::to_string(journal.process->pid) : "(unknown)",
                                       source.reason)});
  return entries;
}

}  // namespace dtype_guard::san
