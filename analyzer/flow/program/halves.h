// Modules that roots leave half, by class: what is found once for each root, and what that comes to for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace dtype_guard::flow {

class Program;
struct ReadOfProgram;

// Classes of which every object that the program makes is given half parameters, and half buffers.
struct ClassesMadeHalf {
  std::set<std::string> parameters, buffers;
};

// Of modules that a root leaves behind, by class.
struct Halves {
  std::set<std::string> half, other;
  std::set<std::pair<std::string, std::string>> owned;  // by an object of the first, not half
};
// What a root left half, and what it ran on the way.
struct HalvesOfRoot {
  Halves parameters, buffers;
  std::set<std::uint32_t> has_run;
};

// What came of evaluating a root for that.
struct KnownHalves {
  HalvesOfRoot halves;
  std::set<std::uint32_t> ran;  // for others as well
  std::string problem;          // why it was given up; empty: it was not
  std::size_t work = 0;         // that it took
};

// What an earlier run found.
class HalvesStore {
 public:
  virtual ~HalvesStore() = default;
  // Null where something that it rests on is another now. By several threads.
  virtual const KnownHalves* find_halves(const std::string& key, const Program& program) const = 0;
  virtual void keep_halves(const std::string& key, const KnownHalves& halves, const ReadOfProgram& read,
                           const Program& program) = 0;

 protected:
  HalvesStore() = default;
  HalvesStore(const HalvesStore&) = default;
  HalvesStore& operator=(const HalvesStore&) = default;
};

// Those of this run, and that store.
struct HalvesByRoot {
  std::map<std::string, KnownHalves> known;
  HalvesStore* store = nullptr;
};

}  // namespace dtype_guard::flow
