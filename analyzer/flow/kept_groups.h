// What groups of roots gave (roots_in_order.h), kept from one run to the next: a group that rests on
// functions which are what they were gives that again, in a program of the same outline. Those that asked how
// values flow in any function are not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/flow/pass.h"
#include "analyzer/flow/program/consulted.h"
#include "analyzer/flow/program/outline.h"
#include "analyzer/flow/program/program.h"
#include "analyzer/flow/root_memo.h"

namespace dtype_guard::flow {

// Besides the outline.
struct RestsOn {
  std::vector<std::uint32_t> functions;
  struct CallsOf {
    std::uint32_t forward = 0;
    std::uint64_t hash = 0;
  };
  std::vector<CallsOf> modules;
};

struct KeptGroup {
  struct Root {
    bool is_settled = false, is_left_out = false, is_given_up = false;
    std::string problem;
    std::uint64_t work = 0, allowed = 0;  // in steps
    std::vector<CollectedFinding> findings;
  };
  // A call that has a contract: by operand, whether it is known.
  struct Call {
    std::string name;
    SourceRange range;
    std::uint32_t function = 0;
    SinkPlace place = SinkPlace::kCall;
    struct Operand {
      std::string role;
      bool is_known = false;
    };
    std::vector<Operand> operands;
  };
  struct Position {
    std::uint32_t function = 0, instruction = 0;  // counted over all blocks
  };
  std::vector<Root> roots;
  std::vector<Call> calls;
  std::vector<Position> followed, lost;
  std::uint64_t steps = 0;
  bool knew_halves = false;
  RestsOn rests_on;
};

// What a root left half, which the classes that are always made half are found by.
struct KeptHalves {
  KnownHalves halves;
  RestsOn rests_on;
};

class KeptGroups final : public HalvesStore {
 public:
  // Forgets what is of another program. Before threads begin, as is the next.
  void begin(const Program& program);
  // Instructions may stand elsewhere in memory by now.
  void note_places(const Module& module);
  // Nothing where something that it rests on is another now.
  const KeptGroup* find(const std::string& key, const Program& program) const;
  // Of what was seen, found nowhere and asked for.
  KeptGroup group(const std::vector<KeptRoot>& roots, const SeenByRoots& seen, const ReadOfProgram& read,
                  const std::set<std::uint32_t>& ran, const Program& program) const;
  // What was seen then.
  void give_back(const KeptGroup& group, const Program& program, SeenByRoots& seen) const;
  void keep(const std::string& key, KeptGroup group);
  const KnownHalves* find_halves(const std::string& key, const Program& program) const override;
  void keep_halves(const std::string& key, const KnownHalves& halves, const ReadOfProgram& read,
                   const Program& program) override;
  // What is of no use by now is gone.
  void end();

  Outline outline;
  std::vector<std::uint64_t> contents;
  std::unordered_map<std::string, KeptGroup> groups;
  std::unordered_map<std::string, KeptHalves> halves_of_roots;
  std::map<std::string, std::shared_ptr<const ClassesMadeHalf>> halves;  // by setting and version

 private:
  struct Span {
    const Instruction* begin = nullptr;
    const Instruction* end = nullptr;
    KeptGroup::Position first;
  };
  // Of threads that find something; a copy has its own.
  struct Guard {
    Guard() = default;
    Guard(const Guard& /*other*/) {}
    Guard& operator=(const Guard& /*other*/) { return *this; }
    ~Guard() = default;
    std::mutex mutex;
  };
  RestsOn rests_on(const ReadOfProgram& read, const std::set<std::uint32_t>& ran,
                   const Program& program) const;
  bool is_changed(const RestsOn& what) const;
  bool holds(const RestsOn& what, const Program& program) const;
  static std::uint64_t hash_of_calls(std::uint32_t forward, const Program& program);
  std::vector<KeptGroup::Position> positions(const std::unordered_set<const Instruction*>& of) const;
  const Instruction* at(const KeptGroup::Position& position, const Program& program) const;

  std::vector<bool> is_changed_;  // by function
  std::vector<Span> spans_;       // by address
  std::unordered_map<std::string, KeptGroup> now_;
  std::unordered_map<std::string, KeptHalves> halves_now_;
  Guard guard_;
};

}  // namespace dtype_guard::flow
