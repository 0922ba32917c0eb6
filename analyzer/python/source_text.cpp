#include "analyzer/python/source_text.h"

#include <algorithm>

#include "rules/files/input_file.h"
#include "rules/text/language.h"
#include "rules/text/utf8.h"

namespace dtype_guard::python {
namespace {

// The encoding that a comment in the first two lines declares, in lower case; empty where none does.
std::string declared_encoding(std::string_view text) {
  std::size_t begin = 0;
  for (int line = 0; line < 2 && begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view here = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t at = here.find("coding");
    const std::size_t first = here.find_first_not_of(" \t\f");
    if (first == std::string_view::npos || here[first] != '#' || at == std::string_view::npos) continue;
    std::size_t word = at + 6;
    if (word >= here.size() || (here[word] != ':' && here[word] != '=')) continue;
    word = here.find_first_not_of(" \t", word + 1);
    std::string out;
    for (; word < here.size() && here[word] > ' '; ++word) {
      const char c = here[word];
      if (c == '-' || c == '_') continue;
      if ((c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')) break;
      out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    return out;
  }
  return {};
}

std::string latin1_as_utf8(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0 | (byte >> 6));
      out += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return out;
}

int first_broken_line(std::string_view text) {
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character c = utf8_character(text, at);
    if (!c.valid) return line;
    line += text[at] == '\n' ? 1 : 0;
    at += c.length;
  }
  return 0;
}
// Python takes a carriage return alone for the end of a line, and what else reads the file may not: 0 where
// there is none.
int line_of_lone_return(const std::string& text) {
  int line = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\r' && (at + 1 == text.size() || text[at + 1] != '\n')) return line;
    line += text[at] == '\n' ? 1 : 0;
  }
  return 0;
}

std::string too_large(const std::string& text, const ProjectOptions& options) {
  return text.size() <= options.largest ? ""
                                        : "has " + std::to_string(text.size()) + " bytes, and at most " +
                                              std::to_string(options.largest) + " are read";
}

constexpr std::string_view kNullBytes = "is no Python source: it holds null bytes";

std::string lone_return(const std::string& place) {
  return "has a carriage return without a line feed in " + place +
         ", of which it is not clear whether it ends the line; save it with LF or CRLF";
}

// JSON is UTF-8, whatever a comment in a cell declares.
void take_cells(const ProjectOptions& options, SourceText& out) {
  try {
    out.notebook.emplace(out.text);
  } catch (const NotebookError& error) {
    out.wrong = error.what();
    return;
  }
  out.text = out.notebook->code();
  out.wrong = too_large(out.text, options);
  if (out.text.find('\0') != std::string::npos) out.wrong = kNullBytes;
  SourceLocation place;
  place.line = line_of_lone_return(out.text);
  if (const auto cell = out.notebook->cell(place))
    out.wrong =
        lone_return("line " + std::to_string(cell->line) + " of cell " + std::to_string(cell->number));
}

void take_bytes(const ProjectOptions& options, SourceText& out) {
  out.wrong = too_large(out.text, options);
  if (!out.wrong.empty()) return;
  if (out.text.find('\0') != std::string::npos) {
    out.wrong = kNullBytes;
  } else if (const std::string encoding = declared_encoding(out.text);
             encoding == "latin1" || encoding == "iso88591" || encoding == "cp1252" ||
             encoding == "windows1252") {
    out.text = latin1_as_utf8(out.text);
  } else if (const int line = first_broken_line(out.text)) {
    out.wrong = "is not UTF-8 in line " + std::to_string(line) +
                (encoding.empty() ? "; save it as UTF-8"
                                  : "; it says " + encoding + ", which is not read: save it as UTF-8");
  }
  if (const int line = out.wrong.empty() ? line_of_lone_return(out.text) : 0)
    out.wrong = lone_return("line " + std::to_string(line));
}
}  // namespace

SourceText read_source(const ProjectOptions& options, const std::string& path) {
  SourceText out;
  if (const auto given = options.texts.find(path); given != options.texts.end()) {
    out.text = given->second;
  } else {
    InputFile read = read_input(path);
    if (!read.found.empty()) {
      out.wrong = "cannot be read: " + read.found + " stands there";
      return out;
    }
    out.text = std::move(read.text);
  }
  is_notebook(path) ? take_cells(options, out) : take_bytes(options, out);
  if (!out.wrong.empty()) out.text.clear();
  if (out.text.starts_with("\xEF\xBB\xBF")) out.text.replace(0, 3, "   ");  // a byte order mark
  return out;
}

}  // namespace dtype_guard::python
