// What groups of roots gave (roots_in_order.h), kept from one run to the next: a group that rests on
// functions which are what they were gives that again, in a program of the same outline. Groups with findings
// are not kept: their words may hang on how values flow anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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

struct KeptGroup {
  struct Root {
    bool is_settled = false, is_left_out = false, is_given_up = false;
    std::string problem;
    std::uint64_t work = 0, allowed = 0;  // in steps
  };
  // A call that has a contract: by operand, whether it is known.
  struct Call {
    std::string name;
    SourceRange range;
    std::uint32_t root = 0;
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
  std::vector<std::uint32_t> functions;  // that it rests on
  struct CallsOf {
    std::uint32_t forward = 0;
    std::uint64_t hash = 0;
  };
  std::vector<CallsOf> modules;
};

class KeptGroups {
 public:
  // What lasts from one run to the next.
  struct Lasting {
    Outline outline;
    std::vector<std::uint64_t> contents;  // by function
    std::unordered_map<std::string, KeptGroup> groups;
    std::map<std::string, ClassesMadeHalf> halves;  // by setting and version
  };
  KeptGroups() = default;
  explicit KeptGroups(Lasting kept) : kept_(std::move(kept)) {}
  const Lasting& lasting() const { return kept_; }

  // Forgets what is of another program. Before threads begin, as is the next.
  void begin(const Program& program);
  // Instructions may stand elsewhere in memory by now.
  void note_places(const Module& module);
  // Nothing where something that it rests on is another now.
  const KeptGroup* find(const std::string& key, const Program& program) const;
  // Of what was seen, found nowhere and asked for.
  static bool can_be_kept(const std::vector<KeptRoot>& roots, const Consulted& consulted);
  KeptGroup group(const std::vector<KeptRoot>& roots, const SeenByRoots& seen, const Consulted& consulted,
                  const std::set<std::uint32_t>& ran, const Program& program) const;
  // What was seen then.
  void give_back(const KeptGroup& group, const Program& program, SeenByRoots& seen) const;
  void keep(const std::string& key, KeptGroup group);
  const ClassesMadeHalf* halves(const std::string& key) const;  // null: not known
  void keep_halves(const std::string& key, const ClassesMadeHalf& halves) { kept_.halves[key] = halves; }
  // What is of no use by now is gone.
  void end();

 private:
  struct Span {
    const Instruction* begin = nullptr;
    const Instruction* end = nullptr;
    KeptGroup::Position first;
  };
  std::uint64_t hash_of_calls(std::uint32_t forward, const Program& program) const;
  std::vector<KeptGroup::Position> positions(const std::unordered_set<const Instruction*>& of) const;
  const Instruction* at(const KeptGroup::Position& position, const Program& program) const;

  Lasting kept_;
  std::vector<bool> is_changed_;  // by function
  std::vector<Span> spans_;       // by address
  std::unordered_map<std::string, KeptGroup> now_;
};

}  // namespace dtype_guard::flow
