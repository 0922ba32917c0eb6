#include "rules/operators/table_reader.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <stdexcept>
#include <utility>

namespace dtype_guard {
namespace {

template <typename Value>
using Word = std::pair<std::string_view, Value>;

constexpr auto kResultWords =
    std::to_array<Word<ResultRule>>({{"promote", ResultRule::kPromote},
                                     {"promote_int_to_float", ResultRule::kPromoteIntToFloat},
                                     {"promote_to_real", ResultRule::kPromoteToReal},
                                     {"to_real", ResultRule::kToReal},
                                     {"to_complex", ResultRule::kToComplex},
                                     {"promote_bool_to_long", ResultRule::kPromoteBoolToLong},
                                     {"bool", ResultRule::kBool},
                                     {"bool_or_byte", ResultRule::kBoolOrByte},
                                     {"like_first", ResultRule::kLikeFirst},
                                     {"require_same", ResultRule::kRequireSame},
                                     {"sum_like", ResultRule::kSumLike},
                                     {"cast", ResultRule::kCast},
                                     {"factory", ResultRule::kFactory},
                                     {"factory_from_value", ResultRule::kFactoryFromValue},
                                     {"factory_like", ResultRule::kFactoryLike},
                                     {"fixed", ResultRule::kFixed},
                                     {"promote_to_real_float", ResultRule::kPromoteToRealFloat},
                                     {"promote_to_double", ResultRule::kPromoteToDouble},
                                     {"promote_to_complex", ResultRule::kPromoteToComplex},
                                     {"descriptor", ResultRule::kDescriptor}});

constexpr auto kRankWords =
    std::to_array<Word<RankRule>>({{"broadcast", RankRule::kBroadcast},
                                   {"like_first", RankRule::kLikeFirst},
                                   {"reduce", RankRule::kReduce},
                                   {"reduce_or_broadcast", RankRule::kReduceOrBroadcast},
                                   {"plus_one", RankRule::kPlusOne},
                                   {"stated", RankRule::kStated},
                                   {"at_least_one", RankRule::kAtLeastOne},
                                   {"minus_one", RankRule::kMinusOne},
                                   {"joined", RankRule::kJoined},
                                   {"listed", RankRule::kListed},
                                   {"like_other", RankRule::kLikeOther},
                                   {"like_first_along", RankRule::kLikeFirstAlong},
                                   {"squeezed", RankRule::kSqueezed},
                                   {"matmul", RankRule::kMatmul},
                                   {"zero", RankRule::kZero},
                                   {"one", RankRule::kOne},
                                   {"two", RankRule::kTwo},
                                   {"from_shape", RankRule::kFromShape},
                                   {"from_data", RankRule::kFromData},
                                   {"unknown", RankRule::kUnknown}});

constexpr auto kOutWords = std::to_array<Word<OutRule>>({{"fits", OutRule::kFits},
                                                         {"fits_kind", OutRule::kFitsKind},
                                                         {"exact", OutRule::kExact},
                                                         {"any", OutRule::kAny},
                                                         {"floating", OutRule::kFloating},
                                                         {"exact_at_times", OutRule::kExactAtTimes},
                                                         {"exact_of_numbers", OutRule::kExactOfNumbers},
                                                         {"magnitude", OutRule::kMagnitude},
                                                         {"exact_of_real", OutRule::kExactOfReal}});

struct Flag {
  std::string_view word;
  bool Operator::*member;
};
constexpr Flag kFlags[] = {
    {"dtype_widens", &Operator::dtype_widens},       {"bool_counts", &Operator::bool_counts},
    {"numbers_default", &Operator::numbers_default}, {"exact_target", &Operator::exact_target},
    {"requires_same", &Operator::requires_same},     {"dimensioned", &Operator::dimensioned},
    {"checks_first", &Operator::checks_first},       {"list_result", &Operator::list_result},
    {"in_place_only", &Operator::in_place}};

bool* flag_of(Operator& op, std::string_view word) {
  for (const Flag& flag : kFlags) {
    if (flag.word == word) return &(op.*flag.member);
  }
  return nullptr;
}

std::map<std::string_view, DtypeSet> dtype_words() {
  std::map<std::string_view, DtypeSet> words;
  for (Dtype each : all_dtypes()) {
    words[name(each)].insert(each);
    if (is_integral(each)) words["integral"].insert(each);
    if (is_half(each)) words["half"].insert(each);
    if (is_complex(each)) words["complex"].insert(each);
    if (category(each) == DtypeCategory::kFloating) words["floating"].insert(each);
  }
  return words;
}

}  // namespace

void broken_table(std::string_view file, const JsonNode& node, std::string_view expected) {
  throw std::logic_error(fmt::format("rules/operators/{}:{}: {}: found {}, expected {}", file, node.line,
                                     node.pointer(), node.describe(), expected));
}

template <typename Words>
auto TableReader::word(const JsonNode& node, const Words& words) const {
  for (const auto& [written, value] : words) {
    if (text(node) == written) return value;
  }
  broken_table(file_, node, "a rule that operators.h lists");
}

std::vector<Operator> TableReader::group(const JsonNode& node) const {
  Operator shared;
  shared.result = word(required(node, "result"), kResultWords);
  shared.rank = word(required(node, "rank"), kRankWords);
  const JsonNode* names = nullptr;
  for (const auto& [key, value] : *node.members()) {
    if (key == "names") {
      names = &value;
    } else if (key == "arguments") {
      shared.arguments = strings(value);
    } else if (key == "promoting") {
      shared.promoting = strings(value);
    } else if (key == "fixed") {
      shared.fixed = dtype(value);
    } else if (key == "composed_of") {
      shared.composed_of = text(value);
    } else if (key == "refuses") {
      shared.refuses = dtypes(value);
    } else if (key == "refuses_operand") {
      shared.refuses_operand = dtypes(value);
    } else if (key == "refuses_argument") {
      for (const auto& [argument, set] : *value.members())
        shared.refuses_argument.emplace_back(argument, dtypes(set));
    } else if (key == "steps") {
      shared.steps = steps(value);
    } else if (key == "before") {
      shared.before = text(value);
    } else if (key == "quotient") {
      shared.quotient = strings(value);
    } else if (key == "parameters") {
      shared.parameters = strings(value);
    } else if (key == "least") {
      const auto* dimensions = std::get_if<std::int64_t>(&value.value);
      if (dimensions == nullptr) broken_table(file_, value, "a number of dimensions");
      shared.least = static_cast<int>(*dimensions);
    } else if (key == "dims") {
      shared.dims = strings(value);
    } else if (key == "loose") {
      shared.loose = strings(value);
    } else if (key == "mask") {
      shared.mask = text(value);
    } else if (key == "free_scalar") {
      shared.free_scalar = text(value);
    } else if (key == "unchecked") {
      shared.unchecked = dtypes(value);
    } else if (bool* flag = flag_of(shared, key)) {
      *flag = value.boolean() != nullptr && *value.boolean();
    } else if (key != "result" && key != "rank" && key != "in_place") {
      broken_table(file_, value, fmt::format("a member that operators.h lists instead of \"{}\"", key));
    }
  }
  if (names == nullptr) broken_table(file_, node, "a member \"names\"");
  std::vector<Operator> made(names->items() != nullptr ? names->items()->size() : 0, shared);
  for (std::size_t i = 0; i < made.size(); ++i) made[i].name = text((*names->items())[i]);
  return made;
}

bool TableReader::flag(const JsonNode& node, std::string_view key) {
  const JsonNode* member = node.member(key);
  return member != nullptr && member->boolean() != nullptr && *member->boolean();
}

const JsonNode& TableReader::required(const JsonNode& node, std::string_view key) const {
  const JsonNode* member = node.member(key);
  if (member == nullptr) broken_table(file_, node, fmt::format("a member \"{}\"", key));
  return *member;
}

std::vector<std::string> TableReader::strings(const JsonNode& node) const {
  if (node.items() == nullptr) broken_table(file_, node, "an array of strings");
  std::vector<std::string> made;
  made.reserve(node.items()->size());
  for (const JsonNode& item : *node.items()) made.push_back(text(item));
  return made;
}

const std::string& TableReader::text(const JsonNode& node) const {
  if (node.string() == nullptr) broken_table(file_, node, "a string");
  return *node.string();
}

OutRule TableReader::out_rule(const JsonNode& node) const { return word(required(node, "rule"), kOutWords); }

// Dtypes by name or category: "integral" (bool does not count), "bool", "floating", "half", "complex".
DtypeSet TableReader::dtypes(const JsonNode& node) const {
  static const std::map<std::string_view, DtypeSet> words = dtype_words();
  if (node.items() == nullptr || node.items()->empty())
    broken_table(file_, node, "dtypes or categories of dtypes");
  DtypeSet set;
  for (const JsonNode& item : *node.items()) {
    const auto found = words.find(text(item));
    if (found == words.end()) broken_table(file_, item, "a dtype or a category of dtypes");
    set = DtypeSet::from_bits(set.bits() | found->second.bits());
  }
  return set;
}

Dtype TableReader::dtype(const JsonNode& node) const {
  for (Dtype each : all_dtypes()) {
    if (name(each) == text(node)) return each;
  }
  broken_table(file_, node, "a dtype");
}

// Each as ["mul", "target", "#0"].
std::vector<OperatorStep> TableReader::steps(const JsonNode& node) const {
  std::vector<OperatorStep> made;
  for (const JsonNode& item : *node.items()) {
    std::vector<std::string> words = strings(item);
    if (words.empty()) broken_table(file_, item, "an operator and its operands");
    OperatorStep& step = made.emplace_back();
    step.name = words.front();
    step.operands.assign(words.begin() + 1, words.end());
  }
  return made;
}

}  // namespace dtype_guard
