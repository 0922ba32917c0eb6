// From the JSON of a notebook to its Python source.
#include <fmt/format.h>

#include <algorithm>

#include "rules/data/json_escape.h"
#include "rules/data/json_parser.h"
#include "rules/data/located_json.h"
#include "rules/notebook/ipython.h"
#include "rules/notebook/notebook.h"

namespace dtype_guard {
namespace {

constexpr std::size_t kLargestFile = std::size_t{512} << 20;  // bytes
constexpr std::string_view kBlank = " \t\r\n\f";

[[noreturn]] void wrong(const JsonNode& node, const std::string& expected) {
  const std::string pointer = node.pointer();
  throw NotebookError(fmt::format("is no notebook: line {}: {}found {}, expected {}", node.line,
                                  pointer.empty() ? "" : pointer + ": ", node.describe(), expected));
}

JsonNode parsed(std::string_view file) {
  try {
    return parse_located_json(file, JsonNumbers::kOfPython);
  } catch (const JsonError& error) {
    throw NotebookError(fmt::format("is no notebook: line {}: {}", error.line, error.problem));
  }
}

const JsonNode* text_member(const JsonNode& node, std::initializer_list<std::string_view> path) {
  const JsonNode* at = &node;
  for (const std::string_view each : path) {
    at = at->member(each);
    if (at == nullptr) return nullptr;
  }
  return at->string() != nullptr ? at : nullptr;
}

bool is_python_name(std::string language) {
  std::transform(language.begin(), language.end(), language.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return language.starts_with("python") || language == "ipython";
}

// Empty where it is Python, as it is where nothing says.
std::string other_language_of(const JsonNode& root) {
  for (const auto& path : {std::initializer_list<std::string_view>{"metadata", "language_info", "name"},
                           std::initializer_list<std::string_view>{"metadata", "kernelspec", "language"}}) {
    const JsonNode* said = text_member(root, path);
    if (said && !said->string()->empty()) return is_python_name(*said->string()) ? "" : *said->string();
  }
  return {};
}

void expect_format(const JsonNode& root) {
  if (root.members() == nullptr) wrong(root, "an object with nbformat and cells");
  const JsonNode* format = root.member("nbformat");
  if (format == nullptr) wrong(root, "the member nbformat, and 4 in it");
  const auto* number = std::get_if<std::int64_t>(&format->value);
  if (number == nullptr) wrong(*format, "the number 4");
  if (*number == 4) return;
  throw NotebookError(
      fmt::format("is a notebook of nbformat {}, and 4 is read{}", *number,
                  *number < 4 ? "; convert it with jupyter nbconvert --to notebook --nbformat 4" : ""));
}

}  // namespace

class NotebookReader {
 public:
  NotebookReader(std::string_view file, Notebook& out) : file_(file), out_(out) {}

  void read() {
    if (file_.size() > kLargestFile)
      throw NotebookError(fmt::format("has {} bytes, and at most {} are read", file_.size(), kLargestFile));
    if (file_.find_first_not_of(kBlank) == std::string_view::npos) return;
    const JsonNode root = parsed(file_);
    expect_format(root);
    out_.language_ = other_language_of(root);
    const JsonNode* cells = root.member("cells");
    if (cells == nullptr) wrong(root, "the member cells");
    if (cells->items() == nullptr) wrong(*cells, "an array of cells");
    if (!out_.language_.empty()) return;
    for (const JsonNode& each : *cells->items()) {
      ++number_;
      if (is_python_cell(each)) cell(each);
    }
  }

 private:
  // VS Code keeps the language of a cell that is not in its notebook's.
  static bool is_python_cell(const JsonNode& cell) {
    if (cell.members() == nullptr) wrong(cell, "a cell, which is an object");
    const JsonNode* type = cell.member("cell_type");
    if (type == nullptr) wrong(cell, "the member cell_type");
    if (type->string() == nullptr) wrong(*type, "a string");
    if (*type->string() != "code") return false;
    const JsonNode* said = text_member(cell, {"metadata", "vscode", "languageId"});
    return said == nullptr || is_python_name(*said->string());
  }

  // What the strings of a source hold, and where.
  struct Source {
    std::string text;
    std::vector<Notebook::Step> steps;
    std::vector<Notebook::Text> strings;
  };

  void cell(const JsonNode& cell) {
    const JsonNode* source = cell.member("source");
    if (source == nullptr) wrong(cell, "the member source");
    Source read;
    std::size_t at = file_.find(':', after_string(source->key_offset())) + 1;
    if (source->string() != nullptr) {
      take_string(next_string(at), source->line, read);
    } else if (source->items() != nullptr) {
      for (const JsonNode& each : *source->items()) {
        if (each.string() == nullptr) wrong(each, "a string");
        at = take_string(next_string(at), each.line, read);
      }
    } else {
      wrong(*source, "a string or an array of strings");
    }
    if (!read.text.empty()) add(read);
  }

  // Strings were checked when the file was parsed.
  std::size_t next_string(std::size_t at) const { return file_.find('"', at) + 1; }
  std::size_t after_string(std::size_t at) const {
    while (file_[at] != '"') at += file_[at] == '\\' ? 2 : 1;
    return at + 1;
  }

  // From behind its first quotation mark; what is behind the last.
  std::size_t take_string(std::size_t at, int line, Source& into) const {
    const auto step = [&] {
      into.steps.push_back(
          {static_cast<std::uint32_t>(into.text.size()), static_cast<std::uint32_t>(at), true});
    };
    const std::size_t line_start = file_.rfind('\n', at) + 1;  // npos + 1 is 0
    Notebook::Text text{static_cast<std::uint32_t>(into.text.size()), 0,
                        static_cast<std::uint32_t>(line_start), line};
    step();
    while (file_[at] != '"') {
      if (file_[at] != '\\') {
        into.text += file_[at++];
        continue;
      }
      step();
      ++at;
      read_escape(file_, at, into.text);
      step();
    }
    text.file_end = static_cast<std::uint32_t>(at);
    if (into.text.size() > text.code) into.strings.push_back(text);
    return at + 1;
  }

  void add(const Source& source) {
    const std::vector<NotPython> gone = not_python(source.text);
    const std::size_t begin = out_.code_.size();
    const auto first_line = static_cast<int>(out_.lines_.size()) + 1;
    if (is_indented(source.text, gone)) {
      out_.lines_.push_back({code_size(), number_, 0});
      out_.steps_.push_back({code_size(), source.steps.front().file, false});
      out_.code_ += "if 1:\n";
    }
    std::size_t at = 0;
    const std::size_t first = out_.code_.size();
    for (const NotPython& each : gone) {
      copy(source, at, each.begin);
      out_.steps_.push_back({code_size(), file_at(source, each.begin), false});
      out_.code_ += each.python;
      const auto taken = static_cast<int>(each.end - each.begin) - static_cast<int>(each.python.size());
      if (each.python.find('\n') == std::string::npos) out_.shifts_.push_back({code_size(), taken});
      at = each.end;
    }
    copy(source, at, source.text.size());
    if (!source.text.ends_with('\n')) out_.code_ += '\n';
    add_lines(first);
    keep_replaced(source.text, gone);
    for (const Notebook::Text& each : source.strings) {
      Notebook::Text placed = each;
      placed.code = static_cast<std::uint32_t>(each.code == 0 ? begin : code_of(each.code, gone, first));
      out_.texts_.push_back(placed);
    }
    out_.cells_.push_back({begin, out_.code_.size(), first_line});
  }

  std::uint32_t code_size() const { return static_cast<std::uint32_t>(out_.code_.size()); }

  // IPython takes the first line's blanks away from all lines.
  static bool is_indented(std::string_view text, const std::vector<NotPython>& gone) {
    std::size_t at = gone.empty() || gone.front().begin != 0 ? 0 : gone.front().end;
    while (at < text.size()) {
      const std::size_t first = text.find_first_not_of(" \t", at);
      if (first == std::string_view::npos) return false;
      if (text[first] != '\n' && text[first] != '\r' && text[first] != '#') return first > at;
      at = std::min(text.find('\n', first), text.size() - 1) + 1;
    }
    return false;
  }

  static bool is_before(std::size_t place, const Notebook::Step& step) { return place < step.code; }
  static std::uint32_t file_at(const Source& source, std::size_t at) {
    const Notebook::Step& step =
        *(std::upper_bound(source.steps.begin(), source.steps.end(), at, is_before) - 1);
    return step.file + static_cast<std::uint32_t>(at - step.code);
  }

  void copy(const Source& source, std::size_t begin, std::size_t end) {
    const std::uint32_t moved = code_size() - static_cast<std::uint32_t>(begin);
    out_.steps_.push_back({code_size(), file_at(source, begin), true});
    auto each = std::upper_bound(source.steps.begin(), source.steps.end(), begin, is_before);
    for (; each != source.steps.end() && each->code < end; ++each)
      out_.steps_.push_back({each->code + moved, each->file, true});
    out_.code_.append(source.text, begin, end - begin);
  }

  // Where a byte of the cell's text is in the code, which begins there.
  static std::uint32_t code_of(std::size_t at, const std::vector<NotPython>& gone, std::size_t first) {
    std::size_t out = first + at;
    for (const NotPython& each : gone) {
      if (each.begin >= at) break;
      out = out + each.python.size() - std::min(at, each.end) + each.begin;
    }
    return static_cast<std::uint32_t>(out);
  }

  void add_lines(std::size_t first) {
    int line = 1;
    for (std::size_t at = first; at < out_.code_.size(); at = out_.code_.find('\n', at) + 1)
      out_.lines_.push_back({static_cast<std::uint32_t>(at), number_, line++});
  }

  // The lines of what is no Python, as they were.
  void keep_replaced(std::string_view text, const std::vector<NotPython>& gone) {
    for (const NotPython& each : gone) {
      auto line = static_cast<int>(
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(each.begin), '\n'));
      std::size_t at = each.begin == 0 ? 0 : text.rfind('\n', each.begin - 1) + 1;
      while (at < each.end) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view whole = text.substr(at, end - at);
        if (whole.ends_with('\r')) whole.remove_suffix(1);
        out_.replaced_.push_back({number_, ++line, std::string(whole)});
        at = end + 1;
      }
    }
  }

  std::string_view file_;
  Notebook& out_;
  int number_ = 0;
};

Notebook::Notebook(std::string_view file) { NotebookReader(file, *this).read(); }

std::optional<Notebook> notebook_of(std::string_view file) {
  try {
    return Notebook(file);
  } catch (const NotebookError&) {
    return std::nullopt;
  }
}

}  // namespace dtype_guard
