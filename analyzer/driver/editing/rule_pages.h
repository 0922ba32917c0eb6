// A page for each rule that an editor can open from a diagnostic: the rule's text, written into the cache's
// folder, so that the link leads somewhere wherever the tool is installed.
#pragma once

#include <map>
#include <string>

namespace dtype_guard::driver {

class RulePages {
 public:
  // `cache` empty: there are no pages.
  explicit RulePages(const std::string& cache) : folder_(cache.empty() ? "" : cache + "/rules") {}
  // A link to its page; empty where it cannot be written.
  const std::string& link(const std::string& rule);

 private:
  std::string folder_;
  std::map<std::string, std::string> links_;
};

}  // namespace dtype_guard::driver
