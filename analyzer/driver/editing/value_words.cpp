#include "analyzer/driver/editing/value_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "rules/operators/operators.h"
#include "rules/text/lists.h"

namespace dtype_guard::driver {

namespace {

using flow::SeenAlternative;

void add(std::vector<std::string>& to, const std::string& word) {
  if (!word.empty() && std::find(to.begin(), to.end(), word) == to.end()) to.push_back(word);
}

std::string dtype_of(const SeenAlternative& each) {
  if (each.is_none) return "None";
  if (each.dtype.empty()) return "unknown";
  return each.is_number ? "a number (" + each.dtype + ")" : each.dtype;
}

std::string rank_of(const SeenAlternative& each) {
  if (!each.is_tensor || each.is_number) return {};
  if (each.min_rank == each.max_rank) return fmt::format("{}-d", each.min_rank);
  if (each.max_rank < flow::kAnyRank) return fmt::format("{} to {}-d", each.min_rank, each.max_rank);
  return each.min_rank > 0 ? fmt::format("{}-d or more", each.min_rank) : "";
}

// A conversion by the name of the method that is written, as in x.half(): the IR has one operator for all.
std::string written_name(const flow::SeenOrigin& origin) {
  const Operator* op = find_operator(origin.op);
  const std::string_view text = origin.text;
  const std::size_t dot = text.rfind('.');
  const bool names_dtype =
      op && op->result == ResultRule::kCast && text.ends_with("()") && dot != std::string_view::npos;
  if (!names_dtype) return origin.op;
  const std::string_view method = text.substr(dot + 1, text.size() - dot - 3);
  const bool is_name = !method.empty() && std::all_of(method.begin(), method.end(), [](unsigned char each) {
    return std::isalnum(each) != 0 || each == '_';
  });
  return is_name ? std::string(method) : origin.op;
}

std::string origin_of(const SeenAlternative& each, const PlaceWords& place) {
  if (!each.origin) return each.assumed ? "by the setting" : "";
  const flow::SeenOrigin& origin = *each.origin;
  const std::string at = origin.place.line > 0 ? " at " + place(origin.place) : "";
  if (origin.before.empty() || origin.before == origin.after)
    return fmt::format("by '{}'{}{}", written_name(origin), origin.by_autocast ? " under autocast" : "", at);
  return fmt::format("from {} by '{}'{}{}", origin.before, written_name(origin),
                     origin.by_autocast ? " under autocast" : "", at);
}

}  // namespace

ValueWords value_words(const flow::SeenValue& value, const PlaceWords& place) {
  std::vector<SeenAlternative> ordered = value.alternatives;
  std::stable_sort(ordered.begin(), ordered.end(), [](const SeenAlternative& a, const SeenAlternative& b) {
    return std::pair(a.dtype.empty(), dtype_of(a)) < std::pair(b.dtype.empty(), dtype_of(b));
  });
  std::vector<std::string> dtypes, ranks, origins;
  for (const SeenAlternative& each : ordered) {
    add(dtypes, dtype_of(each));
    add(ranks, rank_of(each));
  }
  for (const SeenAlternative& each : ordered) {
    const std::string origin = origin_of(each, place);
    if (!origin.empty()) add(origins, dtypes.size() > 1 ? dtype_of(each) + " " + origin : origin);
  }
  return {listed(dtypes, "or"), listed(ranks, "or"), fmt::format("{}", fmt::join(origins, "; "))};
}

std::vector<flow::SeenValue> by_setting(const std::vector<flow::SeenValue>& values) {
  std::vector<flow::SeenValue> out;
  for (const flow::SeenValue& value : values) {
    auto same = std::find_if(out.begin(), out.end(),
                             [&](const flow::SeenValue& each) { return each.setting == value.setting; });
    if (same == out.end()) same = out.insert(same, {value.setting, value.instruction, {}});
    std::vector<SeenAlternative>& all = same->alternatives;
    for (const SeenAlternative& each : value.alternatives) {
      if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(each);
    }
  }
  return out;
}

std::string short_words(const std::vector<flow::SeenValue>& values,
                        const std::vector<flow::PrecisionSetting>& settings) {
  std::set<std::string> named, short_ones;
  bool is_unknown = false, is_other_half = false;
  for (const flow::SeenValue& value : values) {
    const auto setting = std::find_if(settings.begin(), settings.end(),
                                      [&](const auto& each) { return each.name == value.setting; });
    if (setting == settings.end()) continue;
    const std::array<Dtype, 3> own = {setting->autocast, setting->parameters, setting->inputs};
    for (const SeenAlternative& each : value.alternatives) {
      if (each.is_none || each.is_number) continue;
      is_unknown = is_unknown || each.dtype.empty();
      if (each.dtype.empty()) continue;
      const bool is_own = std::any_of(own.begin(), own.end(),
                                      [&](Dtype one) { return is_half(one) && name(one) == each.dtype; });
      const bool is_a_half = each.dtype == name(Dtype::kFloat16) || each.dtype == name(Dtype::kBFloat16);
      is_other_half = is_other_half || (is_a_half && !is_own);
      named.insert(each.dtype);
      short_ones.insert(is_own ? "half" : each.dtype);
    }
  }
  const std::set<std::string>& chosen = is_other_half ? named : short_ones;
  std::vector<std::string> words(chosen.begin(), chosen.end());
  if (is_unknown) words.emplace_back("?");
  return fmt::format("{}", fmt::join(words, " | "));
}

}  // namespace dtype_guard::driver
