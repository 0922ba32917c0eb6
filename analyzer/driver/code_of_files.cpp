#include "analyzer/driver/code_of_files.h"

#include <algorithm>
#include <charconv>

#include "rules/report/shown_place.h"
#include "rules/text/language.h"

namespace dtype_guard::driver {

namespace {

constexpr std::string_view kEnding = ".ipynb:";

template <typename Take>
void each_location(Finding& finding, const Take& take) {
  take(finding.location);
  for (PathStep& each : finding.path) take(each.location);
  for (Sink& each : finding.sinks) take(each.location);
}

// "12" or "12:5", at most so much of it.
struct Numbers {
  int line = 0, column = 0;
  std::size_t size = 0;
};
Numbers numbers_at(std::string_view text) {
  Numbers out;
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, out.line);
  if (read.ec != std::errc()) return {};
  out.size = static_cast<std::size_t>(read.ptr - text.data());
  if (read.ptr == end || *read.ptr != ':') return out;
  read = std::from_chars(read.ptr + 1, end, out.column);
  if (read.ec == std::errc()) out.size = static_cast<std::size_t>(read.ptr - text.data());
  return out;
}

}  // namespace

const Notebook* CodeOfFiles::notebook(const std::string& file) {
  if (!is_notebook(file)) return nullptr;
  if (std::find(names_.begin(), names_.end(), file) == names_.end()) names_.push_back(file);
  const auto text = texts_.find(file);
  if (text == texts_.end()) return disk_.notebook(file);
  const auto [entry, added] = given_.try_emplace(file);
  if (added) entry->second = notebook_of(text->second);
  return entry->second ? &*entry->second : nullptr;
}

const std::string* CodeOfFiles::text(const std::string& file) {
  if (is_notebook(file)) {
    const Notebook* found = notebook(file);
    return found ? &found->code() : nullptr;
  }
  const auto given = texts_.find(file);
  return given == texts_.end() ? disk_.text(file) : &given->second;
}

void CodeOfFiles::note_cell(SourceLocation& location) {
  if (const Notebook* found = notebook(location.file)) location.cell = found->cell(location);
}

// "train.ipynb:12:5" as people write it, where that is one of the notebooks.
std::string CodeOfFiles::with_cells(const std::string& words) {
  std::string out = words;
  for (std::size_t at = out.find(kEnding); at != std::string::npos; at = out.find(kEnding, at + 1)) {
    const std::size_t end = at + kEnding.size();
    const Numbers numbers = numbers_at(std::string_view(out).substr(end));
    const std::string before = out.substr(0, end - 1);
    SourceLocation place;
    for (const std::string& each : std::vector(names_)) {
      if (before.ends_with(each) && each.size() > place.file.size()) place.file = each;
    }
    if (numbers.line == 0 || place.file.empty()) continue;
    place.line = numbers.line;
    place.column = numbers.column;
    note_cell(place);
    out.replace(before.size() - place.file.size(), place.file.size() + 1 + numbers.size, shown_place(place));
  }
  return out;
}

void CodeOfFiles::note_cells(Report& report) {
  const auto note = [&](SourceLocation& location) { note_cell(location); };
  for (Finding& finding : report.findings) {
    each_location(finding, note);
    finding.message = with_cells(finding.message);
    for (PathStep& each : finding.path) each.note = with_cells(each.note);
    for (Fix& each : finding.fixes) each.title = with_cells(each.title);
  }
  for (CheckedCall& each : report.calls) note(each.location);
  for (UnseenCall& each : report.unseen) note(each.location);
  for (NotAnalysed& each : report.not_analysed) {
    notebook(each.file);
    each.detail = with_cells(each.detail);
  }
}

void CodeOfFiles::count_in_file(SourceLocation& location) {
  if (const Notebook* found = notebook(location.file)) location = found->in_file(location);
}

bool CodeOfFiles::count_in_file(Fix& fix) {
  std::vector<Edit> made;
  for (const Edit& edit : fix.edits) {
    const Notebook* found = notebook(edit.range.file);
    if (!found) {
      made.push_back(edit);
      continue;
    }
    const std::vector<ByteEdit> bytes = byte_edits(found->code(), edit);
    for (const ByteEdit& each : bytes) {
      const auto placed = found->edit(each.begin, each.end, each.replacement);
      if (!placed) return false;
      Edit& out = made.emplace_back();
      out.range = {edit.range.file,
                   placed->line,
                   placed->column,
                   placed->line,
                   placed->column + static_cast<int>(placed->end - placed->begin),
                   edit.range.function,
                   placed->cell};
      out.replacement = placed->replacement;
    }
    if (bytes.empty()) return false;
  }
  fix.edits = std::move(made);
  return true;
}

void CodeOfFiles::count_in_file(Finding& finding) {
  std::erase_if(finding.fixes, [&](Fix& each) { return !count_in_file(each); });
  each_location(finding, [&](SourceLocation& location) { count_in_file(location); });
}

void CodeOfFiles::count_in_files(Report& report) {
  for (Finding& each : report.findings) count_in_file(each);
  for (CheckedCall& each : report.calls) count_in_file(each.location);
  for (UnseenCall& each : report.unseen) count_in_file(each.location);
}

std::vector<ByteEdit> edits_in_file(const Notebook& notebook, const std::vector<ByteEdit>& edits) {
  std::vector<ByteEdit> out;
  for (const ByteEdit& each : edits) {
    const auto placed = notebook.edit(each.begin, each.end, each.replacement);
    if (!placed) return {};
    out.push_back({placed->begin, placed->end, placed->replacement});
  }
  return out;
}

}  // namespace dtype_guard::driver
