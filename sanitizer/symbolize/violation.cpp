#include "sanitizer/symbolize/violation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "rules/catalog/catalog.h"
#include "rules/contracts/roles.h"
#include "rules/dtype/promotion.h"
#include "rules/text/lists.h"
#include "sanitizer/protocol/journal.h"

namespace dtype_guard::san {

std::optional<Dtype> dtype_of(std::uint32_t packed) {
  return from_dlpack({static_cast<std::uint8_t>(packed >> 16), static_cast<std::uint8_t>(packed >> 8),
                      static_cast<std::uint16_t>(packed & 0xffU)});
}

namespace {

class Judge {
 public:
  Judge(const std::string& api, ApiKind kind, const std::vector<JournalOperand>& operands)
      : api_(api), kind_(kind), operands_(operands) {}

  Violation run() {
    bool mixed = false, unsupported = false;
    for (const JournalOperand& operand : operands_) {
      if (!present(operand)) continue;
      mixed = mixed || differs(operand);
      unsupported = unsupported || !accepted(operand);
    }
    Violation violation;
    std::vector<std::string> rules;
    blame();
    const bool tables = blames_table(), only_tables = blames_only_tables();
    if (blames_only_others() && !is_torch_operator(api_)) return beside_the_group();
    if (kind_ == ApiKind::kKvCache && !only_tables) rules.push_back("kv-cache-dtype-mismatch");
    if (kind_ == ApiKind::kKvCache && tables) rules.push_back("rotary-dtype-mismatch");
    if (kind_ == ApiKind::kRotary) rules.push_back("rotary-dtype-mismatch");
    if (kind_ == ApiKind::kAttention && mixed) rules.push_back("attention-mixed-dtypes");
    if (unsupported || rules.empty()) rules.push_back("attention-unsupported-dtype");
    order_by_precedence(rules);
    if (is_torch_operator(api_)) rules = {"operator-mixed-dtypes"};
    violation.rule = rules.front();
    violation.also_rules.assign(rules.begin() + 1, rules.end());
    violation.roles = blamed_;
    violation.message = message();
    return violation;
  }

 private:
  static bool present(const JournalOperand& operand) { return (operand.flags & kOperandPresent) != 0; }
  bool accepted(const JournalOperand& operand) const {
    auto dtype = dtype_of(operand.packed);
    return operand.accepts.empty() || (dtype && operand.accepts.contains(*dtype));
  }
  const JournalOperand* reference(const JournalOperand& operand) const {
    if (operand.same_as < 0) return nullptr;
    const JournalOperand& other = operands_[static_cast<std::size_t>(operand.same_as)];
    return present(other) ? &other : nullptr;
  }
  bool differs(const JournalOperand& operand) const {
    const JournalOperand* other = reference(operand);
    return other != nullptr && other->packed != operand.packed;
  }
  // Bound to equal others: it follows one, or one follows it.
  bool in_group(const JournalOperand& operand) const {
    return reference(operand) != nullptr ||
           std::any_of(operands_.begin(), operands_.end(), [&](const JournalOperand& other) {
             return present(other) && reference(other) == &operand;
           });
  }

  // What operands that must be equal were meant to be. Of attention, which is fast in half precision alone,
  // the one half dtype among them; beside float32 alone float64 is what strayed. Else, where each dtype alone
  // would do, the widest of them, because that keeps the numerics: half cos and sin tables are raised to a
  // float32 x, not x lowered to them; but where most inputs agree with the one that they follow (x, r), that
  // dtype, and the others are the strays. Else the one half dtype again; nothing when there are two or none.
  // Weights have the dtype of their model, and so has what most of the operands beside them have.
  void find_meant() {
    find_most_with_weights();
    if (kind_ == ApiKind::kAttention && !meant_) find_half();
    if (kind_ == ApiKind::kAttention && !meant_ && !two_halves_) find_float32();
    if (meant_ || two_halves_) return;
    meant_ = widest_if_accepted();
    if (!meant_) return find_half();
    if (const auto most = dtype_of_most()) meant_ = most;
  }

  void find_half() {
    for (const JournalOperand& operand : operands_) {
      auto dtype = present(operand) && in_group(operand) ? dtype_of(operand.packed) : std::nullopt;
      if (!dtype || !is_half(*dtype)) continue;
      if (meant_ && *meant_ != *dtype) two_halves_ = true;
      meant_ = dtype;
    }
    if (two_halves_) meant_.reset();
  }

  void find_float32() {
    bool has_float = false, has_double = false, has_other = false;
    for (const JournalOperand& operand : operands_) {
      if (!present(operand) || !in_group(operand)) continue;
      const auto dtype = dtype_of(operand.packed);
      has_float = has_float || dtype == Dtype::kFloat32;
      has_double = has_double || dtype == Dtype::kFloat64;
      has_other = has_other || (dtype != Dtype::kFloat32 && dtype != Dtype::kFloat64);
    }
    if (has_float && has_double && !has_other) meant_ = Dtype::kFloat32;
  }

  bool is_of_most_inputs(std::uint32_t packed) const {
    std::size_t inputs = 0, equal = 0;
    for (const JournalOperand& operand : operands_) {
      if (!present(operand) || !in_group(operand) || (operand.flags & kOperandOutput) != 0) continue;
      ++inputs;
      equal += operand.packed == packed ? 1 : 0;
    }
    return 2 * equal > inputs && equal > 1;
  }

  void find_most_with_weights() {
    const auto is_weight = [](const JournalOperand& one) { return role_kind(one.role) == RoleKind::kWeight; };
    if (std::none_of(operands_.begin(), operands_.end(), is_weight)) return;
    for (const JournalOperand& operand : operands_)
      if (accepted(operand) && is_of_most_inputs(operand.packed)) meant_ = dtype_of(operand.packed);
  }

  // The dtype of the operand that others follow, where more than half of the inputs have it.
  std::optional<Dtype> dtype_of_most() const {
    const auto leads = [&](const JournalOperand& one) {
      return present(one) && reference(one) == nullptr && in_group(one);
    };
    const auto leader = std::find_if(operands_.begin(), operands_.end(), leads);
    if (leader == operands_.end() || !is_of_most_inputs(leader->packed)) return std::nullopt;
    return dtype_of(leader->packed);
  }

  std::optional<Dtype> widest_if_accepted() const {
    std::optional<Dtype> widest;
    for (const JournalOperand& operand : operands_) {
      if (!present(operand) || !in_group(operand)) continue;
      auto dtype = dtype_of(operand.packed);
      if (!dtype || !accepted(operand)) return std::nullopt;
      const PromotionResult joined = promote_types(widest.value_or(*dtype), *dtype);
      if (!std::holds_alternative<Dtype>(joined)) return std::nullopt;
      widest = std::get<Dtype>(joined);
    }
    const auto takes_widest = [&](const JournalOperand& operand) {
      return !present(operand) || !in_group(operand) || operand.accepts.contains(*widest);
    };
    const bool all_take_it = widest && std::all_of(operands_.begin(), operands_.end(), takes_widest);
    return all_take_it ? widest : std::nullopt;
  }

  void blame() {
    find_meant();
    for (const JournalOperand& operand : operands_) {
      if (!present(operand)) continue;
      bool wrong = !in_group(operand) || !meant_ ? !accepted(operand) || differs(operand)
                                                 : dtype_of(operand.packed) != meant_;
      if (wrong) blamed_.push_back(operand.role);
    }
  }

  bool blames_table() const {
    return std::any_of(blamed_.begin(), blamed_.end(),
                       [](const std::string& role) { return role_kind(role) == RoleKind::kTable; });
  }
  bool blames_only_tables() const {
    return !blamed_.empty() && std::all_of(blamed_.begin(), blamed_.end(), [](const std::string& role) {
      return role_kind(role) == RoleKind::kTable;
    });
  }

  // Masks, slopes, lengths: what they must be has nothing to do with what the others are.
  bool blames_only_others() const {
    return !blamed_.empty() && std::all_of(blamed_.begin(), blamed_.end(), [](const std::string& role) {
      const auto kind = role_kind(role);
      return kind == RoleKind::kIndex || kind == RoleKind::kMask || kind == RoleKind::kSlopes;
    });
  }

  Violation beside_the_group() const {
    const bool has_mask = std::any_of(blamed_.begin(), blamed_.end(), [](const std::string& role) {
      return role_kind(role) == RoleKind::kMask;
    });
    return {has_mask ? "attention-mask-dtype" : "attention-unsupported-dtype", {}, blamed_, message()};
  }

  bool is_blamed(const JournalOperand& operand) const {
    return std::find(blamed_.begin(), blamed_.end(), operand.role) != blamed_.end();
  }

  // "'k' is 'float32'", grouped by dtype in operand order.
  std::string states(bool of_blamed) const {
    std::vector<std::pair<std::uint32_t, std::vector<std::string>>> groups;
    for (const JournalOperand& operand : operands_) {
      if (!present(operand) || is_blamed(operand) != of_blamed) continue;
      if (!of_blamed && !in_group(operand)) continue;
      auto same = [&](const auto& group) { return group.first == operand.packed; };
      auto group = std::find_if(groups.begin(), groups.end(), same);
      if (group == groups.end()) group = groups.insert(groups.end(), {operand.packed, {}});
      group->second.push_back(operand.role);
    }
    std::string text;
    for (const auto& [packed, roles] : groups)
      text += fmt::format("{}{} {} '{}'", text.empty() ? "" : ", ", quoted_list(roles, "and"),
                          roles.size() == 1 ? "is" : "are", dtype_text(packed));
    return text;
  }

  std::string requirement() const {
    for (const JournalOperand& operand : operands_) {
      if (!is_blamed(operand)) continue;
      if (!in_group(operand)) return fmt::format("takes {} there", operand.accepts.quoted());
      return operands_.size() > 1 ? fmt::format("takes {}, all in one dtype", operand.accepts.quoted())
                                  : fmt::format("takes {}", operand.accepts.quoted());
    }
    return "does not take that";
  }

  std::string cure() const {
    std::vector<std::string> inputs, outputs;
    const JournalOperand* first = nullptr;
    for (const JournalOperand& operand : operands_) {
      if (!is_blamed(operand)) continue;
      if (first == nullptr) first = &operand;
      ((operand.flags & kOperandOutput) != 0 ? outputs : inputs).push_back(operand.role);
    }
    if (first == nullptr) return "";
    std::string target =
        meant_ && in_group(*first) ? fmt::format("'{}'", name(*meant_)) : first->accepts.quoted();
    if (const JournalOperand* other = reference(*first); other != nullptr && !meant_ && accepted(*other))
      target = fmt::format("'{}', the dtype of '{}'", dtype_text(other->packed), other->role);
    std::string text;
    if (!inputs.empty())
      text = fmt::format("cast {} to {} before the call", quoted_list(inputs, "and"), target);
    if (!outputs.empty())
      text += inputs.empty() ? fmt::format("allocate {} as {}", quoted_list(outputs, "and"), target)
                             : fmt::format(" and allocate {} so too", quoted_list(outputs, "and"));
    return text;
  }

  std::string message() const {
    std::string others = states(false);
    bool group_blamed = std::any_of(operands_.begin(), operands_.end(), [&](const JournalOperand& operand) {
      return is_blamed(operand) && in_group(operand);
    });
    return fmt::format("{}{}; '{}' {}: {}", states(true),
                       others.empty() || !group_blamed ? "" : fmt::format(" while {}", others), api_,
                       requirement(), cure());
  }

  const std::string& api_;
  ApiKind kind_;
  const std::vector<JournalOperand>& operands_;
  std::optional<Dtype> meant_;
  bool two_halves_ = false;
  std::vector<std::string> blamed_;
};

}  // namespace

bool is_torch_operator(const std::string& api) { return api.starts_with("aten::"); }

void settle_masks(std::vector<JournalOperand>& operands) {
  for (JournalOperand& operand : operands) {
    const auto kind = role_kind(operand.role);
    if (kind != RoleKind::kMask || operand.same_as < 0 || operand.accepts.empty()) continue;
    const JournalOperand& other = operands[static_cast<std::size_t>(operand.same_as)];
    if (const auto dtype = dtype_of(other.packed)) operand.accepts.insert(*dtype);
    operand.same_as = -1;
  }
}

std::string dtype_text(std::uint32_t packed) {
  if (auto dtype = dtype_of(packed)) return std::string(name(*dtype));
  return fmt::format("dtype(code {}, bits {}, lanes {})", packed >> 16, packed >> 8 & 0xffU, packed & 0xffU);
}

Violation describe_reinterpretation(const std::string& api, ApiKind kind,
                                    const std::vector<JournalOperand>& operands, std::size_t at,
                                    std::uint32_t written) {
  const JournalOperand& operand = operands[at];
  Violation violation = describe_violation(api, kind, operands);
  bool broken = !violation.roles.empty();
  std::vector<std::string> also = broken ? violation.also_rules : std::vector<std::string>();
  if (broken) also.push_back(violation.rule);
  order_by_precedence(also);
  std::string said = dtype_text(operand.packed), real = dtype_text(written);
  return {"dlpack-dtype-mismatch",
          also,
          {operand.role},
          fmt::format(
              "'{}' of '{}' is described as '{}', but its memory was written as '{}' and has not changed "
              "since; the bits are not converted: take the dtype from the tensor that was written, or cast "
              "it to '{}'",
              operand.role, api, said, real, said)};
}

Violation describe_violation(const std::string& api, ApiKind kind,
                             const std::vector<JournalOperand>& operands) {
  return Judge(api, kind, operands).run();
}

Violation describe_violation(const JournalFinding& recorded, ApiKind kind) {
  if (!recorded.reinterpreted) return describe_violation(recorded.api, kind, recorded.operands);
  std::uint32_t written = 0;
  for (const JournalOrigin& origin : recorded.origins)
    if (origin.operand == *recorded.reinterpreted) written = origin.packed;
  return describe_reinterpretation(recorded.api, kind, recorded.operands, *recorded.reinterpreted, written);
}

}  // namespace dtype_guard::san
