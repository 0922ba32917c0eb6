#include "rules/report/comments.h"

#include <algorithm>

#include "rules/text/language.h"

namespace dtype_guard {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A position in the source that knows its line.
class Scanner {
 public:
  explicit Scanner(std::string_view source, std::string* code = nullptr) : source_(source), code_(code) {}

  bool at_end() const { return at_ >= source_.size(); }
  char now() const { return source_[at_]; }
  char before() const { return at_ > 0 ? source_[at_ - 1] : '\n'; }
  bool ahead(std::string_view text) const { return source_.substr(at_, text.size()) == text; }
  std::string_view rest() const { return source_.substr(at_); }

  void skip(std::size_t count) {
    for (const std::size_t end = std::min(at_ + count, source_.size()); at_ < end; ++at_) {
      if (source_[at_] != '\n') continue;
      ++line_;
      line_start_ = at_ + 1;
    }
  }

  // Past `mark`, or to the end of the file when there is none.
  void skip_past(std::string_view mark) {
    const std::size_t end = source_.find(mark, at_);
    skip(end == std::string_view::npos ? source_.size() - at_ : end + mark.size() - at_);
  }

  // A quoted literal with backslash escapes, which ends at `quote` or, where it may not run on, at the line's
  // end.
  void skip_quoted(std::string_view quote, bool over_lines) {
    const std::size_t begin = at_;
    skip(quote.size());
    while (!at_end() && !ahead(quote) && (over_lines || now() != '\n')) skip(now() == '\\' ? 2 : 1);
    if (!at_end() && ahead(quote)) skip(quote.size());
    blank(begin);
  }

  Comment take(std::size_t size) {
    Comment comment{line_, static_cast<int>(at_ - line_start_) + 1, source_.substr(at_, size)};
    const std::size_t begin = at_;
    skip(size);
    blank(begin);
    return comment;
  }

  // What stands from there to here, in the copy that shows code alone; lines stay.
  void blank(std::size_t begin) {
    for (std::size_t i = begin; code_ && i < at_; ++i) {
      if (source_[i] != '\n') (*code_)[i] = ' ';
    }
  }
  std::size_t at() const { return at_; }

 private:
  std::string_view source_;
  std::string* code_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

// To the end of the line; in C++ a backslash before it goes on.
std::size_t line_comment_size(std::string_view rest, bool continued) {
  std::size_t end = rest.find('\n');
  while (continued && end != std::string_view::npos && end > 0 && rest[end - 1] == '\\') {
    end = rest.find('\n', end + 1);
  }
  return std::min(end, rest.size());
}

// At R"delimiter(: past )delimiter".
void skip_raw_string(Scanner& scanner) {
  const std::size_t begin = scanner.at();
  const std::string_view rest = scanner.rest();
  const std::size_t open = rest.find('(');
  if (open == std::string_view::npos || open > 18) {
    scanner.skip(2);
    return;
  }
  scanner.skip(open);
  std::string end = ")";
  end.append(rest.substr(2, open - 2)).append("\"");
  scanner.skip_past(end);
  scanner.blank(begin);
}

std::vector<Comment> scan_cpp(Scanner scanner) {
  std::vector<Comment> comments;
  while (!scanner.at_end()) {
    if (scanner.ahead("//")) {
      comments.push_back(scanner.take(line_comment_size(scanner.rest(), true)));
    } else if (scanner.ahead("/*")) {
      const std::size_t end = scanner.rest().find("*/", 2);
      comments.push_back(scanner.take(end == std::string_view::npos ? scanner.rest().size() : end + 2));
    } else if (scanner.ahead("R\"")) {
      skip_raw_string(scanner);
    } else if (scanner.now() == '"' || (scanner.now() == '\'' && !is_word(scanner.before()))) {
      scanner.skip_quoted(scanner.now() == '"' ? "\"" : "'", false);
    } else {
      scanner.skip(1);
    }
  }
  return comments;
}

std::vector<Comment> scan_python(Scanner scanner) {
  std::vector<Comment> comments;
  while (!scanner.at_end()) {
    if (scanner.now() == '#') {
      comments.push_back(scanner.take(line_comment_size(scanner.rest(), false)));
    } else if (scanner.ahead("\"\"\"") || scanner.ahead("'''")) {
      scanner.skip_quoted(scanner.now() == '"' ? "\"\"\"" : "'''", true);
    } else if (scanner.now() == '"' || scanner.now() == '\'') {
      scanner.skip_quoted(scanner.now() == '"' ? "\"" : "'", false);
    } else {
      scanner.skip(1);
    }
  }
  return comments;
}

}  // namespace

std::vector<Comment> cpp_comments(std::string_view source) { return scan_cpp(Scanner(source)); }
std::vector<Comment> python_comments(std::string_view source) { return scan_python(Scanner(source)); }

std::string code_of(std::string_view file, std::string_view source) {
  std::string code(source);
  const Scanner scanner(source, &code);
  is_python(file) ? scan_python(scanner) : scan_cpp(scanner);
  return code;
}

std::vector<Comment> comments_of(std::string_view file, std::string_view source) {
  return is_python(file) ? python_comments(source) : cpp_comments(source);
}

}  // namespace dtype_guard
