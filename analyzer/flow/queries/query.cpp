#include "analyzer/flow/queries/query.h"

#include <algorithm>
#include <set>

#include "analyzer/flow/operators/contractions.h"
#include "analyzer/flow/queries/answering_callers.h"
#include "analyzer/flow/queries/autocast_of_callers.h"
#include "analyzer/flow/queries/checked_operands.h"
#include "analyzer/flow/queries/stated_dtypes.h"
#include "rules/contracts/roles.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

bool is_wider(const Alternative& a, const Alternative& b) { return bits(a.dtype) > bits(b.dtype); }

// How much speaks for `mine` being the operand to change when two must be equal and are not.
int blame(const Alternative& mine, const Alternative& other, const Origins& origins) {
  if (!is_wider(mine, other)) return 0;
  const Origin* origin = origins.find(mine.origin);
  if (!origin) return 1;
  return origin->kind == Origin::Kind::kPromotion ? 4 : origin->kind == Origin::Kind::kCast ? 3 : 2;
}

class Search {
 public:
  Search(const SinkRecord& record, Engine& engine, const DefectOptions& options)
      : record_(record),
        origins_(engine.origins()),
        symbols_(engine.symbols()),
        program_(engine.program()),
        index_(program_.functions),
        options_(options) {}

  std::vector<Defect> breaches() {
    const bool recasts =
        record_.api->autocast_at(options_.device, options_.torch_version) == AutocastBehaviour::kRecasts;
    if (recasts && record_.autocast.may_be_on) {
      if (!record_.autocast.may_be_off) return {};  // the call casts its operands itself
      only_possible_ = true;
    }
    only_possible_ =
        only_possible_ || std::any_of(record_.guards.begin(), record_.guards.end(), [&](const Guard& each) {
          return symbols_.demands(each.symbols, Nature::kKeyword);
        });
    for (const SinkOperand& arrived : record_.operands) check(arrived);
    for (const SinkOperand& arrived : record_.operands) compare_siblings(arrived);
    const bool is_recast = recasts || record_.place == SinkPlace::kLayer;
    if (is_recast && !defects_.empty() && is_called_under_autocast(options_.root, program_)) {
      only_possible_ = true;
      for (Defect& each : defects_) each.definite = false;
    }
    for (const std::size_t each : certainly_slow_) prefer_certain(defects_[each]);
    if (record_.others_are_guessed)
      std::erase_if(defects_, [&](const Defect& each) { return rests_on_guess(each); });
    return std::move(defects_);
  }

  std::vector<Defect> run() {
    std::vector<Defect> out;
    for (Defect& each : breaches()) {
      if (!is_own_matter(each)) {
        if (may_be_refused(each)) out.push_back(std::move(each));
        continue;
      }
      if (has_evidence(each)) {
        out.push_back(std::move(each));
      } else if (options_.closed && each.unsupported && each.definite) {
        // A whole program, in which nothing was assumed, hands the call what it never takes. Nothing on the
        // way widened it, so it is the call that does not fit the model.
        each.origin = nullptr;
        each.alternative.trail = 0;
        out.push_back(std::move(each));
      }
    }
    for (const SinkOperand& arrived : record_.operands) settle(arrived, out);
    for (Defect& each : out) {
      if (is_own_matter(each)) {
        each.definite = each.definite || (!only_possible_ && differs_on_every_way(each, symbols_));
      } else {  // only the setting's half speaks against it
        each.definite = each.definite && options_.named_by_user && is_never_half(each);
      }
    }
    return out;
  }

 private:
  // That a check fails without a promotion may be a setting that the code was not written for; who casts
  // before rotating asks for what is given back.
  bool is_own_matter(const Defect& defect) const {
    const bool check = record_.place == SinkPlace::kCheck;
    const bool handed_on = record_.place == SinkPlace::kHandedOn;
    if (record_.place == SinkPlace::kLayer) return is_refused_unasked(defect);
    // Under autocast inputs may be of either dtype, and what is made like them too.
    if (record_.place == SinkPlace::kOtherStore)
      return is_stated(defect) || (!record_.autocast.may_be_on && is_refused_unasked(defect));
    if (!check && !handed_on && record_.place != SinkPlace::kLeaving) return true;
    const bool promoted = defect.origin && defect.origin->kind == Origin::Kind::kPromotion;
    if (!promoted || !defect.origin->widens_half()) return false;
    if (handed_on) return true;
    if (check) return concerns_attention(record_, program_);
    return !callers_answer(record_.function, program_);
  }

  // Which of several alternatives arrives may hang on what also decides whether the call is reached. Where
  // the call takes none of them, it is broken however that is decided.
  void settle(const SinkOperand& arrived, std::vector<Defect>& found) const {
    const auto breaks = [&](const Alternative& each) {
      return std::any_of(found.begin(), found.end(), [&](const Defect& defect) {
        return defect.arrived == &arrived && defect.unsupported && !defect.definite && !each.uncertain &&
               !widens_unknown(defect.origin) && same_place_in_order(defect.alternative, each);
      });
    };
    const std::vector<Alternative>& all = arrived.alternatives;
    const auto counts = [&](const Alternative& each) { return is_displaced(each, all) || breaks(each); };
    if (only_possible_ || all.empty() || !std::all_of(all.begin(), all.end(), counts)) return;
    Defect& one = *std::find_if(found.begin(), found.end(),
                                [&](const Defect& each) { return each.arrived == &arrived; });
    if (all.size() == 1) {
      one.definite = true;
      return;
    }
    Defect either = one;
    either.definite = true;
    either.origin = nullptr;
    either.alternative.trail = 0;
    for (const Alternative& each : all) {
      const auto known = std::find(either.either.begin(), either.either.end(), each.dtype);
      if (known == either.either.end()) either.either.push_back(each.dtype);
    }
    found.push_back(std::move(either));
  }

  // What differs is stated on both sides.
  static bool is_stated(const Defect& defect) {
    const auto is_stated = [](const Alternative& each) { return is_known(each) && !each.assumed; };
    return !defect.differs_from.empty() && is_stated(defect.alternative) &&
           std::all_of(defect.differs_from.begin(), defect.differs_from.end(), [&](const auto* other) {
             return std::all_of(other->alternatives.begin(), other->alternatives.end(), is_stated);
           });
  }

  // One input is float32 by what the code says, so that the others may be. The call breaks all the same where
  // it takes no float32, and where what differs is stated on both sides.
  bool rests_on_guess(const Defect& defect) const {
    if (defect.unsupported && !record_.api->accepted(defect.arrived->role).contains(Dtype::kFloat32))
      return false;
    return !is_stated(defect);
  }

  // A buffer that was written to speaks through what was written, not through its allocation, nor as what a
  // caller handed in.
  bool is_spoken_for(const SinkOperand& arrived, const Alternative& each) const {
    if (is_displaced(each, arrived.alternatives)) return true;
    const Origin* origin = origins_.find(each.origin);
    if (origin && origin->instruction->op != Op::kAlloc) return false;
    return std::any_of(
        arrived.alternatives.begin(), arrived.alternatives.end(), [&](const Alternative& other) {
          const Origin* written = other.dtype == each.dtype ? origins_.find(other.origin) : nullptr;
          return written && (written->kind == Origin::Kind::kPromotion || written->widens_half());
        });
  }

  void check(const SinkOperand& arrived) {
    const Operand& operand = *record_.api->find(arrived.role);
    const DtypeSet accepts = record_.api->accepted(arrived.role);
    for (const Alternative& each : arrived.alternatives) {
      if (!is_known(each) || is_spoken_for(arrived, each)) continue;
      if (!accepts.empty() && !accepts.contains(each.dtype)) {
        Defect& found = defect(arrived, operand, each);
        found.unsupported = true;
        found.stated = found.stated || options_.named_by_user || !each.assumed || !is_half(each.dtype);
        found.definite = found.definite || is_certain(each);
      }
      if (leaves_fast_kernels(arrived, each)) {
        Defect& found = defect(arrived, operand, each);
        found.slow = true;
        if (is_certain(each)) certainly_slow_.insert(static_cast<std::size_t>(&found - defects_.data()));
      }
      if (origins_.find(each.trail, Step::Kind::kDescribed)) misdescribed(arrived, operand, each);
    }
    if (operand.same_as.empty()) return;
    const auto other = std::find_if(record_.operands.begin(), record_.operands.end(),
                                    [&](const SinkOperand& each) { return each.role == operand.same_as; });
    if (other != record_.operands.end()) compare(arrived, *other);
  }

  // A half input whose widening was not asked for: a float32 model, or a cast, is a choice.
  bool leaves_fast_kernels(const SinkOperand& arrived, const Alternative& each) const {
    const auto fast = record_.api->fast.find(std::string(options_.device));
    if (fast == record_.api->fast.end() || fast->second.contains(each.dtype)) return false;
    const Origin* origin = origins_.find(each.origin);
    const bool product = is_product(*record_.api);
    if (product && is_asked_beside(arrived, each)) return false;
    const bool is_input = product || role_kind(arrived.role) == RoleKind::kInput;
    return is_input && origin && origin->kind == Origin::Kind::kPromotion && is_half(origin->before) &&
           fast->second.contains(origin->before);
  }

  // A product takes one dtype alone: a cast of the other operand to this one asks for it on that path.
  bool is_asked_beside(const SinkOperand& arrived, const Alternative& mine) const {
    const auto is_cast_alike = [&](const Alternative& each) {
      const Origin* origin = origins_.find(each.origin);
      return is_known(each) && each.dtype == mine.dtype && origin && origin->kind == Origin::Kind::kCast &&
             !are_never_together(each, mine);
    };
    return std::any_of(record_.operands.begin(), record_.operands.end(), [&](const SinkOperand& other) {
      return &other != &arrived &&
             std::any_of(other.alternatives.begin(), other.alternatives.end(), is_cast_alike);
    });
  }

  // That the call is slow is certain, that it breaks is not: it is reported as what it is for certain.
  static void prefer_certain(Defect& slow) {
    if (slow.definite) return;
    slow.definite = true;
    slow.unsupported = false;
    slow.differs_from.clear();
  }

  // What the call sees may suit it, and still be said of other data.
  void misdescribed(const SinkOperand& arrived, const Operand& operand, const Alternative& each) {
    Defect probe;
    probe.alternative = each;
    probe.origins = &origins_;
    if (!wrong_description(probe)) return;
    Defect& found = defect(arrived, operand, each);
    found.definite = found.definite || is_certain(each);
  }

  void compare(const SinkOperand& mine, const SinkOperand& other) {
    for (const Alternative& a : mine.alternatives) {
      for (const Alternative& b : other.alternatives) {
        if (!is_known(a) || !is_known(b) || a.dtype == b.dtype || are_never_together(a, b)) continue;
        if (is_spoken_for(mine, a) || is_spoken_for(other, b)) continue;
        if (is_handed_mask(mine, a) && is_settings_cast(b)) continue;
        if (record_.api->find(mine.role)->accepts.contains(a.dtype)) continue;  // not only like the other
        const bool blame_other = blame(b, a, origins_) > blame(a, b, origins_);
        const SinkOperand& guilty = blame_other ? other : mine;
        const SinkOperand& witness = blame_other ? mine : other;
        Defect& found = defect(guilty, *record_.api->find(guilty.role), blame_other ? b : a);
        if (std::find(found.differs_from.begin(), found.differs_from.end(), &witness) ==
            found.differs_from.end()) {
          found.differs_from.push_back(&witness);
        }
        // Two operands that may each be several things may agree on every path that the program takes.
        const auto differs = [&](const Alternative& one) {
          return one.kind == Kind::kNone ||
                 (is_known(one) && !one.uncertain && one.dtype != found.alternative.dtype) ||
                 are_never_together(one, found.alternative);
        };
        const bool all = std::all_of(witness.alternatives.begin(), witness.alternatives.end(), differs);
        const bool guessed =
            is_half(a.dtype) && is_half(b.dtype) && (a.assumed || b.assumed) && !options_.named_by_user;
        // A mask that a caller hands in may be of the dtype that the code casts the others to.
        const bool is_cast = found.origin && found.origin->kind == Origin::Kind::kCast;
        if (is_cast && is_handed_mask(witness)) continue;
        found.stated = found.stated || !guessed;
        found.definite = found.definite || (all && !guessed && is_certain(found.alternative));
      }
    }
  }

  // The dtype of a mask as a caller hands it in is a guess, and so is that of the parameters that another
  // operand was cast to: that they differ is the setting's doing.
  bool is_handed_mask(const SinkOperand& arrived, const Alternative& each) const {
    return role_kind(arrived.role) == RoleKind::kMask && each.assumed && !origins_.find(each.origin);
  }
  bool is_handed_mask(const SinkOperand& arrived) const {
    return std::all_of(arrived.alternatives.begin(), arrived.alternatives.end(),
                       [&](const Alternative& each) {
                         return each.kind == Kind::kNone || (is_known(each) && is_handed_mask(arrived, each));
                       });
  }
  bool is_settings_cast(const Alternative& each) const {
    const Origin* origin = origins_.find(each.origin);
    return each.assumed && origin && origin->kind == Origin::Kind::kCast;
  }

  bool are_never_together(const Alternative& a, const Alternative& b) const {
    return !a.elsewhere && !b.elsewhere &&
           symbols_.relation(a.symbols, b.symbols) == SymbolSets::Relation::kContradict;
  }

  // k and v that must both equal q must equal each other. Where q and k were widened alike, only q differs
  // from what it is compared with, and mending q alone would leave the call broken. Where q may be either,
  // one of them differs from it whatever it is.
  void compare_siblings(const SinkOperand& mine) {
    const std::string& model = record_.api->find(mine.role)->same_as;
    if (model.empty() || role_kind(mine.role) != RoleKind::kInput) return;
    for (const SinkOperand& other : record_.operands) {
      if (&other == &mine || record_.api->find(other.role)->same_as != model) continue;
      if (role_kind(other.role) != RoleKind::kInput) continue;
      if (certainly_breaks(mine) || certainly_breaks(other)) continue;
      const std::vector<Defect> before = defects_;
      compare(mine, other);
      const bool were_possible = std::any_of(before.begin(), before.end(), [&](const Defect& each) {
        return (each.arrived == &mine || each.arrived == &other) && each.breaks_contract();
      });
      if (were_possible && !certainly_breaks(mine) && !certainly_breaks(other)) defects_ = before;
    }
  }
  bool certainly_breaks(const SinkOperand& arrived) const {
    return std::any_of(defects_.begin(), defects_.end(), [&](const Defect& each) {
      return each.arrived == &arrived && each.breaks_contract() && each.definite;
    });
  }

  Defect& defect(const SinkOperand& arrived, const Operand& operand, const Alternative& alternative) {
    for (Defect& each : defects_) {
      if (each.arrived == &arrived && same_place_in_order(each.alternative, alternative)) return each;
    }
    Defect out;
    out.record = &record_;
    out.operand = &operand;
    out.arrived = &arrived;
    out.alternative = alternative;
    out.origin = origins_.find(alternative.origin);
    out.origins = &origins_;
    out.index = &index_;
    out.module_is_half = options_.module_is_half;
    return defects_.emplace_back(std::move(out));
  }

  bool is_certain(const Alternative& each) {
    return !only_possible_ && !each.uncertain && !symbols_.demands(each.symbols, Nature::kKeyword) &&
           !widens_unknown(origins_.find(each.origin)) &&
           relation(each.symbols, record_.guards, symbols_) < SymbolSets::Relation::kCorrelated;
  }

  bool has_evidence(const Defect& defect) const {
    if (wrong_description(defect) || is_told_by_code(defect.alternative, record_)) return true;
    const Step* cast = origins_.find(defect.alternative.trail, Step::Kind::kDiscardedCast);
    if (cast && is_half(cast->other)) return true;
    const auto kind = role_kind(defect.arrived->role);
    if (!defect.origin && options_.named_by_user && kind == RoleKind::kInput) return true;
    // No model is in a dtype that indices have.
    if (kind == RoleKind::kIndex && defect.unsupported && !defect.alternative.assumed) return true;
    // A guess in half says nothing against the call, nor does what was made `zeros({1}, lengths.options())`.
    const bool is_guess = !defect.origin || (defect.alternative.assumed && !options_.named_by_user);
    if (is_guess && is_half(defect.alternative.dtype)) return is_contradicted_by_code(defect);
    if (options_.named_by_user) return true;
    if (defect.origin && is_half(defect.origin->before) && !is_choice(defect)) return true;
    if (widens_unknown(defect.origin) && defect.unsupported) return true;
    return std::any_of(record_.operands.begin(), record_.operands.end(), [&](const SinkOperand& other) {
      return &other != defect.arrived && is_half_beside(other, defect.alternative);
    });
  }

  // A cast to a dtype that something decides, which may decide for half: that it was half before says
  // nothing.
  bool is_choice(const Defect& defect) const {
    const Alternative& mine = defect.alternative;
    if (defect.origin->kind != Origin::Kind::kCast) return false;
    return std::any_of(defect.arrived->alternatives.begin(), defect.arrived->alternatives.end(),
                       [&](const Alternative& each) {
                         return is_known(each) && is_half(each.dtype) &&
                                symbols_.relation(symbols_.without_rounds(each.symbols), mine.symbols) !=
                                    SymbolSets::Relation::kIndependent;
                       });
  }

  // Where both hang on the same condition, and may be of one dtype, what is half is so on another path.
  bool is_half_beside(const SinkOperand& other, const Alternative& mine) const {
    const bool may_agree =
        std::any_of(other.alternatives.begin(), other.alternatives.end(),
                    [&](const Alternative& each) { return is_known(each) && each.dtype == mine.dtype; });
    return std::any_of(other.alternatives.begin(), other.alternatives.end(), [&](const Alternative& each) {
      const bool elsewhere = may_agree && symbols_.conflict(each.symbols, mine.symbols);
      return is_known(each) && is_half(each.dtype) && !elsewhere;
    });
  }

  const SinkRecord& record_;
  const Origins& origins_;
  SymbolSets& symbols_;
  const Program& program_;
  const FunctionIndex& index_;
  const DefectOptions& options_;
  bool only_possible_ = false;
  std::vector<Defect> defects_;
  std::set<std::size_t> certainly_slow_;  // of these
};

}  // namespace

std::vector<Defect> find_defects(const SinkRecord& record, Engine& engine, const DefectOptions& options) {
  return Search(record, engine, options).run();
}

std::vector<Defect> find_breaches(const SinkRecord& record, Engine& engine, const DefectOptions& options) {
  std::vector<Defect> out = Search(record, engine, options).breaches();
  std::erase_if(out, [](const Defect& each) { return !each.breaks_contract(); });
  return out;
}

}  // namespace dtype_guard::flow
