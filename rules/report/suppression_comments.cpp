// Reads suppression comments. The grammar is small: a word, a list in brackets, and the reason.
#include <algorithm>
#include <iterator>

#include "rules/catalog/catalog.h"
#include "rules/report/comments.h"
#include "rules/report/suppressions.h"
#include "rules/text/language.h"

namespace dtype_guard {
namespace {

constexpr std::string_view kPrefix = "dtype-";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

std::vector<std::string_view> listed(std::string_view list) {
  std::vector<std::string_view> names;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view name = trimmed(list.substr(0, comma));
    if (!name.empty()) names.push_back(name);
    if (comma == std::string_view::npos) return names;
    list = list.substr(comma + 1);
  }
}

std::string_view without_marks(std::string_view comment) {
  if (comment.starts_with("/*") && comment.ends_with("*/")) comment.remove_suffix(2);
  return comment;
}

// What follows the word: "(list): reason". The list is empty when there are no brackets.
struct Tail {
  bool has_list = false;
  std::string_view list;
  std::string reason;
};

Tail tail_of(std::string_view text, char open, char close) {
  Tail tail;
  if (!text.empty() && text.front() == open) {
    const std::size_t end = text.find(close);
    tail.has_list = true;
    tail.list = text.substr(1, end == std::string_view::npos ? end : end - 1);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  text = trimmed(text.substr(0, text.find('\n')));
  if (text.starts_with(":") || text.starts_with("-")) text = trimmed(text.substr(1));
  tail.reason = text;
  return tail;
}

struct Marker {
  std::string_view word;
  std::size_t at;
};

// The longest of clang-tidy's words that begins at the first NOLINT.
std::optional<Marker> marker_in(std::string_view text) {
  const std::size_t at = text.find("NOLINT");
  if (at == std::string_view::npos) return std::nullopt;
  for (std::string_view word : {"NOLINTNEXTLINE", "NOLINTBEGIN", "NOLINTEND", "NOLINT"}) {
    if (!text.substr(at).starts_with(word)) continue;
    const std::string_view rest = text.substr(at + word.size());
    const bool ends = rest.empty() || std::string_view(" \t\r\n(:*-,.").find(rest.front()) != rest.npos;
    if (ends) return Marker{word, at};
  }
  return std::nullopt;
}

// Ours of the list; whether the comment is general; or neither, when it is for other tools only.
bool take_rules(const Tail& tail, SuppressionComment& into) {
  into.general = !tail.has_list;
  for (std::string_view name : listed(tail.list)) {
    if (name.starts_with(kPrefix)) {
      into.rules.emplace_back(name.substr(kPrefix.size()));
    } else if (find_rule(name) != nullptr) {  // as reports print it
      into.rules.emplace_back(name);
    } else if (name == "*") {
      into.general = true;
    } else if (name.find('*') != std::string_view::npos) {
      into.globs.emplace_back(name);
    }
  }
  return into.general || !into.rules.empty() || !into.globs.empty();
}

class CppReader {
 public:
  void read(const Comment& comment) {
    const std::string_view text = without_marks(comment.text);
    const std::optional<Marker> marker = marker_in(text);
    if (!marker) return;
    const Tail tail = tail_of(text.substr(marker->at + marker->word.size()), '(', ')');
    SuppressionComment made;
    if (!take_rules(tail, made)) return;
    const auto newlines = std::count(text.begin(), text.begin() + static_cast<long>(marker->at), '\n');
    made.line = made.first = made.last = comment.line + static_cast<int>(newlines);
    made.column = newlines == 0 ? comment.column + static_cast<int>(marker->at) : 1;
    made.reason = tail.reason;
    add(std::move(made), marker->word);
  }

  std::vector<SuppressionComment> finish() {
    for (std::size_t index : open_) {
      found_[index].problem = "NOLINTBEGIN has no NOLINTEND with the same rules, and hides nothing";
      found_[index].last = 0;
    }
    return std::move(found_);
  }

 private:
  void add(SuppressionComment made, std::string_view word) {
    if (word == "NOLINTEND") {
      close(std::move(made));
      return;
    }
    if (word == "NOLINTNEXTLINE") made.first = made.last = made.line + 1;
    if (word == "NOLINTBEGIN") open_.push_back(found_.size());
    found_.push_back(std::move(made));
  }

  void close(SuppressionComment end) {
    const auto begin = std::find_if(open_.rbegin(), open_.rend(), [&](std::size_t index) {
      return found_[index].rules == end.rules && found_[index].globs == end.globs &&
             found_[index].general == end.general;
    });
    if (begin == open_.rend()) {
      end.problem = "NOLINTEND has no NOLINTBEGIN with the same rules";
      end.last = 0;
      found_.push_back(std::move(end));
      return;
    }
    found_[*begin].last = end.line;
    open_.erase(std::next(begin).base());
  }

  std::vector<SuppressionComment> found_;
  std::vector<std::size_t> open_;  // BEGIN without END so far
};

// The form of Python's comments, which holds in C++ as well.
std::optional<SuppressionComment> read_ignore(const Comment& comment) {
  constexpr std::string_view kTool = "dtype-lint:";
  std::string_view text = without_marks(comment.text);
  text = trimmed(text.substr(std::min(text.find_first_not_of("#/*!"), text.size())));
  if (!text.starts_with(kTool)) return std::nullopt;
  text = trimmed(text.substr(kTool.size()));
  constexpr std::string_view kWord = "ignore";
  if (!text.starts_with(kWord)) return std::nullopt;
  const Tail tail = tail_of(text.substr(kWord.size()), '[', ']');
  SuppressionComment made;
  made.line = made.first = made.last = comment.line;
  made.column = comment.column;
  for (std::string_view name : listed(tail.list)) made.rules.emplace_back(name);
  if (made.rules.empty()) made.rules.emplace_back("*");
  made.reason = tail.reason;
  return made;
}

}  // namespace

std::vector<SuppressionComment> suppression_comments(std::string_view file, std::string_view source) {
  const bool python = is_python(file);
  const bool ours = source.find("dtype-lint:") != std::string_view::npos;
  if (!ours && (python || source.find("NOLINT") == std::string_view::npos)) return {};
  std::vector<SuppressionComment> found;
  CppReader cpp;
  for (const Comment& comment : comments_of(file, source)) {
    if (std::optional<SuppressionComment> made = read_ignore(comment)) {
      found.push_back(std::move(*made));
    } else if (!python) {
      cpp.read(comment);
    }
  }
  std::vector<SuppressionComment> others = cpp.finish();
  std::move(others.begin(), others.end(), std::back_inserter(found));
  return found;
}

}  // namespace dtype_guard
