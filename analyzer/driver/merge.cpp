#include "analyzer/driver/merge.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace dtype_guard::driver {

namespace {

auto place_of(const SourceLocation& location) {
  return std::make_tuple(location.file, location.line, location.column, location.end_line,
                         location.end_column);
}

bool same_sink(const Sink& a, const Sink& b) {
  return a.api == b.api && a.role == b.role && place_of(a.location) == place_of(b.location);
}

void add_new(std::vector<std::string>& into, const std::vector<std::string>& more) {
  for (const std::string& each : more) {
    if (std::find(into.begin(), into.end(), each) == into.end()) into.push_back(each);
  }
}

}  // namespace

void merge_equal(std::vector<Finding>& findings) {
  std::map<std::tuple<std::string, std::string, decltype(place_of({}))>, std::size_t> first;
  std::vector<Finding> merged;
  for (Finding& finding : findings) {
    const auto [at, fresh] =
        first.try_emplace({finding.rule, finding.fingerprint, place_of(finding.location)}, merged.size());
    if (fresh) {
      merged.push_back(std::move(finding));
      continue;
    }
    Finding& kept = merged[at->second];
    for (const Sink& sink : finding.sinks) {
      const bool known = std::any_of(kept.sinks.begin(), kept.sinks.end(),
                                     [&](const Sink& other) { return same_sink(sink, other); });
      if (!known) kept.sinks.push_back(sink);
    }
    add_new(kept.precision, finding.precision);
    add_new(kept.torch, finding.torch);
    if (finding.level < kept.level) kept.level = finding.level;
    if (finding.certainty < kept.certainty) kept.certainty = finding.certainty;
  }
  findings = std::move(merged);
}

}  // namespace dtype_guard::driver
