// Calls whose operands were not looked at, as entries of the report; among them is which libraries a job had
// something else in the place of, by the name of the stand-in's operator (sources/torch/stand_ins.h).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "rules/report/report.h"
#include "sanitizer/symbolize/journal_content.h"

namespace dtype_guard::san {

// The reason of an entry whose `file` is the name of such a library.
inline constexpr std::string_view kStoodIn = "stood-in";
inline constexpr std::string_view kStandInOperator = "stand_in::";

inline bool is_stood_in(const Journal& journal, const std::string& library) {
  return journal.unseen.contains(std::string(kStandInOperator) + library);
}

inline NotAnalysed unseen_entry(const Journal& journal, const std::string& function, std::uint64_t count) {
  if (function.starts_with(kStandInOperator))
    return {function.substr(kStandInOperator.size()), "", std::string(kStoodIn),
            "its calls were those of a stand-in, which computes by other means"};
  return {journal.file, function, std::string(kNotSeen), fmt::format("{} calls, not looked at", count)};
}

}  // namespace dtype_guard::san
