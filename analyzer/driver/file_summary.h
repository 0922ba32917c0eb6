// What one source file says, ready to be linked with others: its IR and what went wrong with it. As text it
// is what --emit-summary writes, --link reads and the cache keeps; it depends on source, flags and rules
// only, so any build system can produce, keep and distribute it. A first line tells the format, a second
// (JSON) the tool, the rules and the file, the last holds a checksum; the IR stands between.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/clang/front_end.h"
#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::driver {

struct FileSummary {
  enum class Outcome : std::uint8_t { kRead, kCrashed, kTimedOut };

  std::string root;
  std::string source;  // as the report names it
  std::string torch_version;
  Outcome outcome = Outcome::kRead;
  std::vector<source::SourceError> errors;
  flow::Module module;
  std::map<std::string, std::string> hashes;  // of the project's files, when it is for --link
  std::vector<std::string> files_read;        // where dependencies were recorded; not part of the text

  // Nothing can be said of the file, or only of a part: exit status 3.
  bool failed() const { return outcome != Outcome::kRead || !errors.empty(); }
};

// A file that cannot be linked; what() names it, what was found and what to do.
class SummaryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// `rules`: what the lowering knew, rules_hash().
std::string summary_text(const FileSummary& summary, const std::string& rules);
// Throws SummaryError.
FileSummary parse_summary(std::string_view text, const std::string& file, const std::string& rules);

// What FileSummary::hashes is for the files as they are now; those that cannot be read are left out.
std::map<std::string, std::string> hashes_now(const FileSummary& summary);

// Of operators, contracts (those of files given by the user too) and module types.
std::string rules_hash(const std::vector<std::string>& contract_texts);

}  // namespace dtype_guard::driver
