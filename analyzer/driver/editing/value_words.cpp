#include "analyzer/driver/editing/value_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

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

std::string origin_of(const SeenAlternative& each, const PlaceWords& place) {
  if (!each.origin) return each.assumed ? "by the setting" : "";
  const flow::SeenOrigin& origin = *each.origin;
  const std::string at = origin.place.line > 0 ? " at " + place(origin.place) : "";
  if (origin.before.empty() || origin.before == origin.after)
    return fmt::format("by '{}'{}{}", origin.op, origin.by_autocast ? " under autocast" : "", at);
  return fmt::format("from {} by '{}'{}{}", origin.before, origin.op,
                     origin.by_autocast ? " under autocast" : "", at);
}

}  // namespace

ValueWords value_words(const flow::SeenValue& value, const PlaceWords& place) {
  std::vector<std::string> dtypes, ranks, origins;
  for (const SeenAlternative& each : value.alternatives) {
    add(dtypes, dtype_of(each));
    add(ranks, rank_of(each));
    add(origins, origin_of(each, place));
  }
  return {fmt::format("{}", fmt::join(dtypes, " or ")), fmt::format("{}", fmt::join(ranks, " or ")),
          fmt::format("{}", fmt::join(origins, "; "))};
}

std::string short_words(const std::vector<flow::SeenValue>& values,
                        const std::vector<flow::PrecisionSetting>& settings) {
  std::vector<std::string> words;
  for (const flow::SeenValue& value : values) {
    const auto setting = std::find_if(settings.begin(), settings.end(),
                                      [&](const auto& each) { return each.name == value.setting; });
    if (setting == settings.end()) continue;
    const auto is_half_of_setting = [&](const std::string& dtype) {
      const std::array<Dtype, 3> own = {setting->autocast, setting->parameters, setting->inputs};
      return std::any_of(own.begin(), own.end(),
                         [&](Dtype each) { return is_half(each) && name(each) == dtype; });
    };
    for (const SeenAlternative& each : value.alternatives) {
      if (each.is_none || each.is_number) continue;
      add(words, each.dtype.empty() ? "?" : is_half_of_setting(each.dtype) ? "half" : each.dtype);
    }
  }
  return fmt::format("{}", fmt::join(words, " | "));
}

}  // namespace dtype_guard::driver
