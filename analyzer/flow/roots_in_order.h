// One pass over many roots by several threads, which gives what one thread gives: each root is looked at
// apart, and what it gave is taken in the order of the roots. What roots share is what they may cost
// together, and which classes are always made half: a thread takes for granted what is known of these when it
// begins, and where that was not so when the root's turn comes, it is looked at once more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/flow/kept_groups.h"
#include "analyzer/flow/pass.h"
#include "analyzer/flow/root_memo.h"

namespace dtype_guard::flow {

class Workers;

struct AskedRoot {
  std::uint32_t root = 0;
  const AnalysisOptions* options = nullptr;
  const std::string* only_in = nullptr;  // see FindingCollector
};

class RootsInOrder {
 public:
  // Who takes what a root gave, and what was seen by it and those before it.
  struct Taker {
    std::function<void(std::uint32_t root, const KeptRoot& gave)> root;
    std::function<void(const SeenByRoots& seen)> seen;
  };
  RootsInOrder(const Program& program, const PrecisionSetting& setting, const std::string& torch_version,
               const AnalysisOptions& options, Work& work, std::size_t allowed);
  void look_at(const std::vector<AskedRoot>& roots, Workers& workers, const Taker& taker);

 private:
  // Roots of one class, which share their engine.
  struct Group {
    std::size_t begin = 0, end = 0;
  };
  struct Outcome {
    std::vector<KeptRoot> roots;
    std::vector<std::size_t> work, allowed;  // in steps, by root
    SeenByRoots seen;
    std::optional<std::size_t> begun_at;  // in steps of all; in an earlier run it was elsewhere
    bool knew_halves = false;
    std::optional<ClassesMadeHalf> halves;  // that are known behind it, as it went by them
    std::optional<KeptGroup> to_keep;
  };
  void divide();
  void serve(const Program& program, bool is_callers, const Taker& taker);
  void take_finished(FindingCollector& collector, const Taker& taker);
  std::optional<ClassesMadeHalf>& halves_of(const Program& program) const;
  Outcome evaluate(const Group& group, const Program& program, const Work& from, FindingCollector& collector);
  bool holds(const Outcome& outcome, const Group& group) const;
  // What the root at this place may take that begins when so much of all is done.
  std::size_t allowance(std::size_t done, std::size_t at) const;
  std::string key_of(const Group& group) const;
  std::string key_of_halves() const;
  std::optional<Outcome> kept_of(const Group& group, const Program& program) const;
  void keep(const Group& group, Outcome& outcome);

  const Program& program_;  // the caller's
  const PrecisionSetting& setting_;
  const std::string& torch_version_;
  const AnalysisOptions& options_;
  const std::vector<AskedRoot>* roots_ = nullptr;
  const std::size_t end_;  // of the work of all, in steps
  KeptGroups* kept_ = nullptr;
  std::vector<Group> groups_;

  // The caller's thread alone changes these, and the others look at them, behind the mutex.
  std::mutex mutex_;
  Work& work_;
  std::optional<ClassesMadeHalf> halves_;
  std::vector<std::optional<Outcome>> outcomes_;  // by group; finished and not taken
  std::size_t next_ = 0, taken_ = 0;
  bool failed_ = false;
};

}  // namespace dtype_guard::flow
