// How much of the attention in the sources dtype-lint saw: the part of the closing line that tells silence
// from blindness, and the same by file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/report/report.h"

namespace dtype_guard {

// "14 attention calls checked, 2 not decided (--strict lists them)".
std::string sight(const Report& report);
// "3 calls spelt like attention left no record: 2 into libraries that are not read (...)"; empty without
// such.
std::string unseen_calls(const Report& report);
// Whether an entry tells of what was looked at, so that nothing of it is missing: a note of a watched
// process, ranks that differ.
bool is_remark(const NotAnalysed& entry);
// "not analysed: ", or "" for a remark: what stands before the reason.
std::string_view before_reason(const NotAnalysed& entry);
// ", 1 not analysed, 2 functions left out", files first; empty without such. A call that is not decided was
// looked at, so was what a remark is about, and one that is only counted is told by not_seen.
std::string left_out(const Report& report);

// Of one file that was analysed or that has such calls.
struct FileSight {
  std::string file;
  std::uint64_t calls = 0;
  std::uint64_t undecided = 0;
  std::uint64_t unseen = 0;
};
std::vector<FileSight> sight_by_file(const Report& report);  // by name

}  // namespace dtype_guard
