// The tally of a run (runtime/tally_page.h): what the watched processes could not write is told here, in
// memory that they share with this command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sanitizer/protocol/tally_page.h"

namespace dtype_guard::san {

struct Losses {
  std::vector<std::string> sentences;  // empty: nothing is known to be missing
  bool findings = false;               // there were findings among it
};

class RunTally {
 public:
  // Without memory for it nothing is counted, and nothing is known to be lost.
  RunTally();
  ~RunTally();
  RunTally(const RunTally&) = delete;
  RunTally& operator=(const RunTally&) = delete;

  // The value of kTallyVariable; empty when there is no tally.
  std::string path() const;
  // Asked before the journals are looked for: one that is begun meanwhile is not missing.
  std::uint64_t begun() const { return page_ != nullptr ? page_->journals.load() : 0; }
  // `journals`: how many of those the run has left.
  Losses losses(std::uint64_t begun, std::size_t journals) const;

 private:
  int file_ = -1;
  TallyPage* page_ = nullptr;
};

}  // namespace dtype_guard::san
