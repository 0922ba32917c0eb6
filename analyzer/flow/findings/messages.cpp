#include "analyzer/flow/findings/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/flow/edits/source_text.h"
#include "analyzer/flow/ir/mnemonics.h"
#include "rules/contracts/roles.h"
#include "rules/text/lists.h"

namespace dtype_guard::flow {
namespace {

std::string came_about(const Defect& defect) {
  const Origin* origin = defect.origin;
  if (!origin) return "";
  const std::string before =
      origin->before == Dtype::kUndefined ? "" : fmt::format(" from '{}'", name(origin->before));
  switch (origin->kind) {
    case Origin::Kind::kPromotion:
      if (origin->instruction->op == Op::kCast)
        return fmt::format(", promoted{} by an implicit conversion", before);
      return fmt::format(", promoted{} by '{}'{}", before, origin->op,
                         origin->by_autocast ? " under autocast" : "");
    case Origin::Kind::kCast:
      if (origin->op == kConversion) return fmt::format(", converted{} by an explicit conversion", before);
      return fmt::format(", cast{} by '{}'", before, origin->op == "cast" ? "to" : origin->op);
    case Origin::Kind::kSource:
      return fmt::format(", made by '{}'", origin->op);
  }
  return "";
}

std::string wanted(const Defect& defect) {
  std::string out;
  if (!defect.differs_from.empty() && !defect.unsupported) {
    std::vector<std::string> roles;
    std::vector<std::string> dtypes;
    for (const SinkOperand* each : defect.differs_from) {
      roles.push_back(each->role);
      for (const std::string& dtype : dtypes_of(*each)) add_once(dtypes, dtype);
    }
    std::sort(roles.begin(), roles.end());
    std::sort(dtypes.begin(), dtypes.end());
    out = fmt::format("; {} {} {} and the call wants them equal", quoted_list(roles, "and"),
                      roles.size() == 1 ? "is" : "are", quoted_list(dtypes, "or"));
  }
  const DtypeSet accepts = defect.record->api->accepted(defect.arrived->role);
  if (defect.unsupported) out += fmt::format("; the call accepts {}", accepts.quoted());
  if (defect.slow && !defect.breaks_contract())
    out += fmt::format("; the call takes it, without the fast kernels that it has for '{}'",
                       name(defect.origin->before));
  return out;
}

// What a table that differs should be like: x, and the other table, where that has x's dtype already. Empty
// where no table does.
std::vector<std::string> like_others(const Defect& defect) {
  std::vector<std::string> roles;
  if (role_kind(defect.arrived->role) != RoleKind::kTable) return roles;
  const SinkOperand& x = *defect.differs_from.front();
  for (const SinkOperand& each : defect.record->operands)
    if (&each != defect.arrived && role_kind(each.role) == RoleKind::kTable &&
        dtypes_of(each) == dtypes_of(x))
      roles.push_back(each.role);
  if (!roles.empty()) roles.push_back(x.role);
  return roles;
}

// A name, or a chain of members, that can be asked for its dtype where it stands.
bool is_plain(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  if (text.empty() || text.size() > kLongest || !is_word_start(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_word_part(c) || c == '.' || c == '-' || c == '>'; });
}

// What is written for an operand at the call, where that is the name of a tensor.
std::string written_at_call(const Defect& defect, const SinkOperand& operand) {
  const Instruction& call = *defect.record->instruction;
  const auto given = std::find_if(call.args.begin(), call.args.end(),
                                  [&](const Argument& each) { return each.name == operand.role; });
  if (given == call.args.end()) return "";
  const Instruction* made = defect.index->info(defect.record->function).definition(given->value);
  const bool names = made && made->written == Written::kTensor && is_plain(made->text);
  return names ? made->text : "";
}

// The name of an operand beside this one that is as the call wants both: where the cast would stand in the
// function of the call, so that the name means something there.
std::string example_at_call(const Defect& defect) {
  const Origin* origin = defect.origin;
  if (origin && origin->function != defect.record->function) return "";
  const DtypeSet accepts = defect.record->api->accepted(defect.arrived->role);
  for (const SinkOperand& each : defect.record->operands) {
    const bool is_right =
        &each != defect.arrived && !each.alternatives.empty() &&
        std::all_of(each.alternatives.begin(), each.alternatives.end(), [&](const Alternative& one) {
          return one.kind == Alternative::Kind::kTensor && !one.uncertain && is_half(one.dtype) &&
                 (accepts.empty() || accepts.contains(one.dtype));
        });
    if (!is_right) continue;
    if (std::string name = written_at_call(defect, each); !name.empty()) return name;
  }
  return "";
}

// As a bias it would add what it counts to the scores.
bool is_mask_of_integers(const Defect& defect) {
  return is_integral(defect.alternative.dtype) &&
         defect.record->api->accepted(defect.arrived->role).contains(Dtype::kBool);
}

// What the operand should be, where no tensor beside it says so: what it was before it was widened, what the
// others are, or all that the call takes. Empty where several would do.
std::string right_dtype(const Defect& defect) {
  const DtypeSet accepts = defect.record->api->accepted(defect.arrived->role);
  const auto would_do = [&](Dtype dtype) { return accepts.empty() || accepts.contains(dtype); };
  const Origin* origin = defect.origin;
  if (is_mask_of_integers(defect)) return std::string(name(Dtype::kBool));
  if (origin && is_half(origin->before) && would_do(origin->before)) return std::string(name(origin->before));
  std::vector<std::string> dtypes;
  for (const SinkOperand* each : defect.differs_from) {
    for (const std::string& dtype : dtypes_of(*each)) add_once(dtypes, dtype);
  }
  if (dtypes.size() == 1 && would_do(*parse_dtype(dtypes.front()))) return dtypes.front();
  const std::vector<std::string> taken = accepts.names();
  return taken.size() == 1 ? taken.front() : "";
}

// "; cast 'q' back before the call, e.g. '.to(k.dtype)'", or else "; cast 'q' back to 'float16' before the
// call".
std::string cast_before_call(const Defect& defect, std::string_view file, std::string_view back = "") {
  const std::string cast = fmt::format("cast '{}'{}", defect.arrived->role, back);
  if (const std::string like = example_at_call(defect); !like.empty())
    return fmt::format("; {} before the call, e.g. '.to({})'", cast, dtype_spelling(file, like));
  const std::string dtype = right_dtype(defect);
  return dtype.empty() ? fmt::format("; {} before the call", cast)
                       : fmt::format("; {} to '{}' before the call", cast, dtype);
}

std::string with_example(std::string cure, const Defect& defect, std::string_view file) {
  if (const std::string like = example_at_call(defect); !like.empty())
    return fmt::format("{}, e.g. '.to({})'", cure, dtype_spelling(file, like));
  const std::string dtype = right_dtype(defect);
  return dtype.empty() ? cure : fmt::format("{}, to '{}'", cure, dtype);
}

// A cast behind it would round in each round, and the call may be the only one to want it narrow.
std::string keep_in_rounds(const RoundsAround& rounds, const Defect& defect, std::string_view file) {
  const std::string where = rounds.function.empty() ? "" : fmt::format(" in '{}'", rounds.function);
  return with_example(fmt::format("; what it gives comes back to it in the next round of the loop{}: keep "
                                  "one dtype across rounds, or cast only what the call gets",
                                  where),
                      defect, file);
}

// "cat( [a, b], dim=1, )", which stood on several lines, as it is written on one.
std::string on_one_line(std::string_view text) {
  const auto opens = [](char c) { return c == '(' || c == '[' || c == '{'; };
  const auto closes = [](char c) { return c == ')' || c == ']' || c == '}'; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == ' ' && (closes(next) || (!out.empty() && opens(out.back())))) {
      if (closes(next) && !out.empty() && out.back() == ',') out.pop_back();
      continue;
    }
    out += text[i];
  }
  return out;
}

// A dtype by the name of a tensor is right in each precision setting; where there is none to name, by what it
// was.
std::string back_after(const Defect& defect, std::string_view file) {
  constexpr std::size_t kLongest = 80;
  const Origin& origin = *defect.origin;
  if (!origin.narrow.empty())
    return fmt::format("; cast back after it, e.g. '.to({})'", dtype_spelling(file, origin.narrow));
  const std::string& text = origin.instruction->text;
  const std::string what = text.empty() || text.size() > kLongest
                               ? fmt::format("the result of '{}'", origin.op)
                               : fmt::format("what '{}' gives", on_one_line(text));
  if (origin.before == Dtype::kUndefined)
    return with_example(fmt::format("; cast {} before the call", what), defect, file);
  return fmt::format("; cast {} back to '{}'", what, name(origin.before));
}

// Of what is made wide: what it is made like.
std::string made_so(const Defect& defect, std::string_view file) {
  if (is_mask_of_integers(defect)) return fmt::format("; make it '{}'", name(Dtype::kBool));
  if (const std::string like = example_at_call(defect); !like.empty())
    return fmt::format("; make it in the dtype '{}'", dtype_spelling(file, like));
  const std::string dtype = right_dtype(defect);
  if (dtype.empty()) return "; give it that dtype where it is made";
  const bool like_one = defect.differs_from.size() == 1 && !defect.unsupported;
  return like_one ? fmt::format("; make it '{}' as '{}' is", dtype, defect.differs_from.front()->role)
                  : fmt::format("; make it '{}'", dtype);
}

std::string cure(const Defect& defect, const RoundsAround& rounds, std::string_view file) {
  const ComesBack comes_back = rounds.how;
  const Origin* origin = defect.origin;
  const DtypeSet accepts = defect.record->api->accepted(defect.arrived->role);
  // What the call never took would not do either.
  const bool back_is_refused = origin && defect.unsupported && is_half(origin->before) && !accepts.empty() &&
                               !accepts.contains(origin->before);
  if (!origin || back_is_refused || is_never_half(defect)) return cast_before_call(defect, file);
  const bool promoted = origin->kind == Origin::Kind::kPromotion;
  if (origin->instruction->op == Op::kCast &&
      (promoted || (origin->op == kConversion && origin->widens_half())))
    return fmt::format("; round back to '{}' where it is stored", name(origin->before));
  if (promoted && comes_back == ComesBack::kInRounds) return keep_in_rounds(rounds, defect, file);
  if (promoted && comes_back == ComesBack::kNever) return back_after(defect, file);
  if (promoted) return cast_before_call(defect, file, " back");
  if (defect.record->api->kind == ApiKind::kRotary && !defect.differs_from.empty()) {
    std::vector<std::string> roles;
    for (const SinkOperand* each : defect.differs_from) roles.push_back(each->role);
    std::sort(roles.begin(), roles.end());
    if (const auto others = like_others(defect); !others.empty())
      return fmt::format("; cast '{}' like {}, e.g. with '.type_as({})'", defect.arrived->role,
                         quoted_list(others, "and"), written_at_call(defect, *defect.differs_from.front()));
    return fmt::format("; cast {} to the dtype of '{}', e.g. with '.type_as({})'", quoted_list(roles, "and"),
                       defect.arrived->role, written_at_call(defect, *defect.arrived));
  }
  // A request for int64 does not mean to widen anything.
  if (origin->kind == Origin::Kind::kSource || is_integral(origin->after)) return made_so(defect, file);
  return comes_back == ComesBack::kInRounds ? keep_in_rounds(rounds, defect, file)
                                            : cast_before_call(defect, file, " back");
}

// What a dropped cast, a plain member or a wrong description did, in place of how the dtype came about.
std::string by_rule(std::string_view rule, const Defect& defect) {
  const std::string operand = fmt::format("'{}' of '{}'", defect.arrived->role, defect.record->api->name);
  const std::string_view dtype = name(defect.alternative.dtype);
  if (rule == "discarded-cast") {
    return fmt::format("the result of '{}' is not used, so {} is still '{}'{}; assign the result",
                       discarded_cast(defect)->instruction->text, operand, dtype, wanted(defect));
  }
  if (rule == "unregistered-buffer") {
    return fmt::format(
        "{} is '{}' because of a plain member, which Module::to passes by{}; register the tensor with "
        "register_buffer, or cast it where it is used",
        operand, dtype, wanted(defect));
  }
  if (rule == "dlpack-dtype-mismatch") {
    return fmt::format("{} is described as '{}' and its data is '{}'; take the dtype from the tensor",
                       operand, dtype, name(wrong_description(defect)->other));
  }
  return {};
}

// The source of what is checked against the tensor that was widened.
std::string text_of(const Defect& check, const SinkOperand& operand) {
  const Instruction* made = check.index->info(check.record->function).definition(operand.value);
  return made && !made->text.empty() ? fmt::format("'{}'", made->text) : "the other tensor";
}

}  // namespace

std::string arrival(const Defect& defect) {
  const SinkPlace place = defect.record->place;
  if (place == SinkPlace::kLeaving) return "leaves as this";
  if (place == SinkPlace::kHandedOn) return "is handed to unseen code as this";
  if (place == SinkPlace::kCheck)
    return "is checked to be like " + text_of(defect, *defect.differs_from.front());
  return fmt::format("reaches '{}' of '{}'", defect.arrived->role, defect.record->api->name);
}

std::vector<std::string> dtypes_of(const SinkOperand& operand) {
  std::vector<std::string> out;
  for (const Alternative& each : operand.alternatives) {
    if (each.kind == Alternative::Kind::kTensor && each.dtype != Dtype::kUndefined) {
      add_once(out, std::string(name(each.dtype)));
    }
  }
  return out;
}

std::string message(std::string_view rule, const Defect& defect, const RoundsAround& rounds,
                    std::string_view file) {
  std::string special = by_rule(rule, defect);
  if (!special.empty()) return special;
  if (defect.record->place == SinkPlace::kLeaving || defect.record->place == SinkPlace::kHandedOn) {
    return fmt::format("the rotary embedding gives back '{}' for the '{}' that it was handed{}{}",
                       name(defect.alternative.dtype), name(defect.origin->before), came_about(defect),
                       cure(defect, rounds, file));
  }
  if (defect.record->place == SinkPlace::kCheck) {
    return fmt::format(
        "{} is '{}'{}; it is checked to be like {}, which is {}{}", text_of(defect, *defect.arrived),
        name(defect.alternative.dtype), came_about(defect), text_of(defect, *defect.differs_from.front()),
        quoted_list(dtypes_of(*defect.differs_from.front()), "or"), cure(defect, rounds, file));
  }
  std::string test;
  if (rule == "dtype-guard-misses-promotion") {
    // Not its line, which would change the message with every line that is added above.
    const std::string& written = missed_by_test(defect)->where->text;
    test = fmt::format("; the test{} saw the value from before",
                       written.empty() ? "" : fmt::format(" '{}'", written));
  }
  std::vector<std::string> dtypes;
  for (const Dtype each : defect.either) dtypes.emplace_back(name(each));
  if (dtypes.empty()) dtypes.emplace_back(name(defect.alternative.dtype));
  return fmt::format("'{}' of '{}' is {}{}{}{}{}", defect.arrived->role, defect.record->api->name,
                     quoted_list(dtypes, "or"), came_about(defect), test, wanted(defect),
                     cure(defect, rounds, file));
}

}  // namespace dtype_guard::flow
