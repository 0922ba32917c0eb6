// The text that was parsed, which is what fixes are made on and comments are read from.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace clang {
class SourceManager;
}  // namespace clang

namespace dtype_guard::tidy {

class ParsedText {
 public:
  ParsedText(clang::SourceManager& sources, std::string root) : sources_(sources), root_(std::move(root)) {}
  // Of a file as findings name it; null when it was not read.
  const std::string* operator()(const std::string& file);

 private:
  clang::SourceManager& sources_;
  std::string root_;
  std::map<std::string, std::string> texts_;
};

}  // namespace dtype_guard::tidy
