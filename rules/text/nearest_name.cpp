#include "rules/text/nearest_name.h"

#include <algorithm>
#include <vector>

namespace dtype_guard {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

namespace {

// The first name of which `written` is the beginning, up to where one of its words ends.
std::string name_begun(std::string_view written, std::span<const std::string> known) {
  constexpr std::size_t kShortest = 5;
  constexpr std::size_t kLettersPerEdit = 8;
  if (written.size() < kShortest) return {};
  std::size_t best = written.size() / kLettersPerEdit;
  std::string begun;
  for (const std::string& name : known) {
    for (std::size_t end = name.find_first_of("-_."); end != std::string::npos;
         end = name.find_first_of("-_.", end + 1)) {
      if (end + best < written.size() || end > written.size() + best) continue;
      const std::size_t distance = edit_distance(written, std::string_view(name).substr(0, end));
      if (distance > best || (distance == best && !begun.empty())) continue;
      best = distance;
      begun = name;
    }
  }
  return begun;
}

}  // namespace

std::string nearest_name(std::string_view written, std::span<const std::string> known) {
  constexpr std::size_t kLongestName = 200;  // longer is no misspelt name
  if (written.size() > kLongestName) return {};
  std::size_t best = std::max<std::size_t>(2, written.size() / 3);
  std::size_t alike = 0;  // of several as near, the one that begins like what was written: float8_e4m3
  std::string nearest;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(written, name);
    if (distance > best || distance >= name.size()) continue;
    const auto length = static_cast<std::ptrdiff_t>(std::min(written.size(), name.size()));
    const auto differ = std::mismatch(written.begin(), written.begin() + length, name.begin()).first;
    const auto common = static_cast<std::size_t>(differ - written.begin());
    if (distance == best && common <= alike && !nearest.empty()) continue;
    best = distance;
    alike = common;
    nearest = name;
  }
  return nearest.empty() ? name_begun(written, known) : nearest;
}

std::string did_you_mean(std::string_view written, std::span<const std::string> known) {
  const std::string nearest = nearest_name(written, known);
  return nearest.empty() ? std::string() : ", did you mean \"" + nearest + "\"?";
}

}  // namespace dtype_guard
