#include "rules/notebook/ipython.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rules/notebook/logical_line.h"

namespace dtype_guard {
namespace {

// `%%` in a cell's first line: the rest is Python, run by the kernel in the notebook's own names.
constexpr std::array<std::string_view, 14> kPythonCells = {
    "time",  "capture",      "prun",    "debug", "memit",   "mprun",    "lprun",
    "wandb", "pyinstrument", "scalene", "heat",  "ipytest", "snakeviz", "timeit"};
// `%` in front of a statement that is run, with its options that take a value.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kStatements = {{{"time", ""},
                                                                                       {"timeit", "nrp"},
                                                                                       {"prun", "slTD"},
                                                                                       {"memit", "rtic"},
                                                                                       {"mprun", "fT"},
                                                                                       {"lprun", "fmsTDurz"},
                                                                                       {"pyinstrument", ""}}};
// What is bound there is not bound in the notebook.
constexpr std::string_view kOfItsOwnNames = "timeit";
// `%` and nothing else in a cell's first line: what other notebooks than Jupyter's call the cell's language.
constexpr std::array<std::string_view, 7> kLanguages = {"sql", "md", "md-sandbox", "scala", "sh", "r", "fs"};
// IPython's magics that are written without `%`, in front of a word: no Python then.
constexpr std::array<std::string_view, 16> kWithoutMark = {
    "pip", "conda", "mamba", "uv",    "cd",         "ls",       "cat",        "cp",
    "mv",  "rm",    "mkdir", "rmdir", "matplotlib", "load_ext", "autoreload", "env"};
constexpr std::array<std::string_view, 10> kOperators = {"and", "as", "else", "for", "from",
                                                         "if",  "in", "is",   "not", "or"};
constexpr std::array<std::string_view, 2> kPrompts = {">>>", "..."};
// Statements that cannot stand behind another one in its line.
constexpr std::array<std::string_view, 10> kCompound = {"for", "while", "if",    "with",  "def",
                                                        "try", "class", "async", "match", "@"};
constexpr std::string_view kNothing = "pass";
constexpr std::string_view kUnknown = "get_ipython()";
constexpr std::string_view kBlank = " \t\f";

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& all, std::string_view word) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

bool is_name_part(char c) {
  return c == '_' || c == '-' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

class Cell {
 public:
  explicit Cell(std::string_view text) : text_(text) {}

  std::vector<NotPython> run() {
    if (without_prompts()) return std::move(found_);
    std::size_t at = cell_magic();
    while (at < text_.size()) at = line(at);
    return std::move(found_);
  }

 private:
  std::size_t after_blanks(std::size_t at) const {
    return std::min(text_.find_first_not_of(kBlank, at), text_.size());
  }
  std::size_t end_of_line(std::size_t at) const { return std::min(text_.find('\n', at), text_.size()); }
  // Of a line that a backslash at its end continues.
  std::size_t end_of_command(std::size_t at) const {
    std::size_t end = end_of_line(at);
    const auto goes_on = [&] {
      const std::size_t last = end > 0 && text_[end - 1] == '\r' ? end - 1 : end;
      return last > at && text_[last - 1] == '\\';
    };
    while (end < text_.size() && goes_on()) end = end_of_line(end + 1);
    return end;
  }
  std::string_view name_at(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && is_name_part(text_[end])) ++end;
    return text_.substr(at, end - at);
  }

  void replace(std::size_t begin, std::size_t end, std::string_view with) {
    const std::string_view gone = text_.substr(begin, end - begin);
    std::string python(with);
    python.append(static_cast<std::size_t>(std::count(gone.begin(), gone.end(), '\n')), '\n');
    found_.push_back({begin, end, std::move(python)});
  }

  // A cell that was copied from a session of Python's: its lines begin behind their prompts.
  bool without_prompts() {
    std::size_t at = std::min(text_.find_first_not_of(" \t\r\n\f"), text_.size());
    if (!text_.substr(at).starts_with(kPrompts.front())) return false;
    for (; at < text_.size(); at = end_of_line(at) + 1) {
      const std::string_view line = text_.substr(at, end_of_line(at) - at);
      const bool has_prompt = line.starts_with(kPrompts.front()) || line.starts_with(kPrompts.back());
      const std::size_t size = kPrompts.front().size() + (line.substr(0, 4).ends_with(' ') ? 1 : 0);
      if (has_prompt) replace(at, at + size, "");
    }
    return true;
  }

  // "pip install torch"
  bool is_magic_without_mark(std::size_t first) const {
    const std::string_view name = name_at(first);
    const std::size_t next = after_blanks(first + name.size());
    if (!holds(kWithoutMark, name) || next == first + name.size()) return false;
    const std::string_view word = name_at(next);
    return !word.empty() && word.front() != '-' && word.front() != '.' && !holds(kOperators, word);
  }

  // Where the cell's Python begins.
  std::size_t cell_magic() {
    std::size_t at = 0;
    for (; at < text_.size(); at = end_of_line(at) + 1) {
      const std::size_t first = after_blanks(at);
      const bool is_empty = first == text_.size() || text_[first] == '\n' || text_[first] == '\r';
      if (!is_empty && text_[first] != '#') break;
    }
    if (at >= text_.size() || text_[at] != '%') return 0;
    const bool of_cell = text_.substr(at).starts_with("%%");
    const std::string_view name = name_at(at + (of_cell ? 2 : 1));
    const std::size_t end = end_of_command(at);
    if (!of_cell) {
      const std::string_view rest = text_.substr(at + 1 + name.size(), end - at - 1 - name.size());
      const bool alone = rest.find_first_not_of(" \t\r") == std::string_view::npos;
      if (!alone || !holds(kLanguages, name)) return 0;
    }
    const bool is_python =
        of_cell && holds(kPythonCells, name) && !(name == kOfItsOwnNames && binds_from(end));
    replace(at, is_python ? end : text_.size(), "");
    return is_python ? end : text_.size();
  }

  bool binds_from(std::size_t at) const {
    while (at < text_.size()) {
      const LogicalLine line = logical_line(text_, at);
      if (line.assigns) return true;
      at = line.end;
    }
    return false;
  }

  // The line that begins there; where the next one does.
  std::size_t line(std::size_t begin) {
    const std::size_t first = after_blanks(begin);
    if (first == text_.size()) return first;
    constexpr std::string_view kEscapes = "%!?,;/";
    if (kEscapes.find(text_[first]) != std::string_view::npos || is_magic_without_mark(first))
      return command(first);
    const LogicalLine found = logical_line(text_, first);
    if (found.asks) {
      replace(first, found.last + 1, kNothing);
    } else if (found.assigns) {
      const std::size_t value = after_blanks(*found.assigns + 1);
      if (value < text_.size() && (text_[value] == '%' || text_[value] == '!')) {
        const std::size_t end = end_of_command(value);
        replace(value, end, kUnknown);
        return end + 1;
      }
    }
    return found.end;
  }

  std::size_t command(std::size_t first) {
    const std::size_t end = end_of_command(first);
    const std::size_t statement = text_[first] == '%' ? statement_of(first, end) : end;
    if (statement < end) {
      replace(first, statement, "0; ");
    } else {
      replace(first, end, kNothing);
    }
    return end + 1;
  }

  // What a magic runs, where that is a simple statement; else the line's end.
  std::size_t statement_of(std::size_t first, std::size_t end) const {
    const std::size_t at = after_blanks(first + 1);
    const std::string_view name = name_at(at);
    const auto* const known = std::find_if(kStatements.begin(), kStatements.end(),
                                           [&](const auto& each) { return each.first == name; });
    if (known == kStatements.end()) return end;
    std::size_t begin = after_blanks(at + name.size());
    while (begin < end && text_[begin] == '-') begin = after_option(begin, known->second);
    if (begin >= end) return end;
    constexpr std::string_view kEscapes = "%!?,;/#\r\n";
    const std::string_view word = name_at(begin);
    const bool is_simple = kEscapes.find(text_[begin]) == std::string_view::npos && text_[begin] != '@' &&
                           !holds(kCompound, word) && end_of_line(begin) == end;
    if (!is_simple || (name == kOfItsOwnNames && logical_line(text_, begin).assigns)) return end;
    return begin;
  }

  std::size_t after_option(std::size_t at, std::string_view with_value) const {
    const auto next = [&](std::size_t from) {
      return after_blanks(std::min(text_.find_first_of(" \t\n", from), text_.size()));
    };
    const std::size_t size = std::min(text_.find_first_of(" \t\n", at), text_.size()) - at;
    const bool takes_next = size == 2 && with_value.find(text_[at + 1]) != std::string_view::npos;
    return takes_next ? next(next(at)) : next(at);
  }

  std::string_view text_;
  std::vector<NotPython> found_;
};

}  // namespace

std::vector<NotPython> not_python(std::string_view cell) { return Cell(cell).run(); }

}  // namespace dtype_guard
