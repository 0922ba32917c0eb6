// What is recorded of the oracle (recorded.json): how many instructions of each kind some run went through,
// the share of what is known and found by kind of
// instruction and how many programs a property is asked of, which may not fall, and the seeds whose programs
// break a property, each with its cause, which may only become fewer.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/oracle/properties.h"

namespace dtype_guard::oracle {

class Record {
 public:
  struct Beyond {
    std::uint64_t seed;
    bool open;  // of tier B: any number of things is
  };
  explicit Record(const std::string& file);
  // Whether a violation is recorded, with its cause.
  bool is_known(std::uint64_t seed, const std::string& property);
  // Seeds beyond the programs that shares are recorded of; none where others are run.
  std::vector<Beyond> beyond(std::uint64_t first, std::uint64_t programs) const;
  // What holds no longer, or no better than recorded; one line each. Shares are compared where these are the
  // programs that they were recorded of.
  std::vector<std::string> compare(const Tally& tally, std::uint64_t first, std::uint64_t programs) const;
  // The same record with the shares of these programs, which are rounded down.
  void write(const std::string& file, const Tally& tally, std::uint64_t programs) const;
  std::size_t count() const { return failures_.size(); }

 private:
  using Failure = std::pair<std::uint64_t, std::string>;
  std::uint64_t programs_ = 0;  // from seed 1 on
  struct Known {
    std::string cause;
    bool open = false;
  };
  std::map<Failure, Known> failures_;
  std::set<Failure> met_;
  std::map<std::string, std::size_t> asked_;  // of at least so many programs
  InstructionCounts instructions_;            // runs went through at least so many
  std::map<std::string, double> known_, definite_, sometimes_;
};

}  // namespace dtype_guard::oracle
