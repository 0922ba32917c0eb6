#include "analyzer/source/response_file.h"

#include <filesystem>

#include "rules/files/input_file.h"

namespace dtype_guard::source {

namespace {

constexpr int kDeepest = 16;

void expand(const std::vector<std::string>& arguments, const std::filesystem::path& folder, int depth,
            std::vector<std::string>& out) {
  for (const std::string& each : arguments) {
    if (each.size() < 2 || each[0] != '@' || depth > kDeepest) {
      out.push_back(each);
      continue;
    }
    const InputFile input = read_input(folder / each.substr(1));
    if (!input.found.empty()) {
      out.push_back(each);
      continue;
    }
    expand(split_words(input.text), folder, depth + 1, out);
  }
}

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size() && quote != '\'') {
      word += text[++i];
      begun = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      begun = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (begun) words.push_back(std::move(word));
      word.clear();
      begun = false;
    } else {
      word += c;
      begun = true;
    }
  }
  if (begun) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> with_response_files(const std::vector<std::string>& arguments,
                                             const std::string& folder) {
  std::vector<std::string> out;
  expand(arguments, folder, 0, out);
  return out;
}

}  // namespace dtype_guard::source
