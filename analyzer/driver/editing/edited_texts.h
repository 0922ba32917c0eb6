// The texts of files as the editor has them, and of others as they are on disk: positions are told in what
// the client counts in.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "analyzer/lsp/json.h"
#include "rules/finding/finding.h"

namespace dtype_guard::driver {

struct EditedText {
  std::string text;
  std::string uri;
  std::int64_t version = 0;
  std::uint64_t hash = 0;
};
using EditedTexts = std::map<std::string, EditedText>;  // by absolute path

// What is asked of one state: files are read once.
class TextsNow {
 public:
  TextsNow(const EditedTexts& edited, lsp::Encoding encoding) : edited_(edited), encoding_(encoding) {}
  const std::string* text(const std::string& path);  // null where it cannot be read
  // An edited C++ file is analysed as it is on disk, and places in it are of that text.
  void read_from_disk(const std::string& path) { from_disk_.insert({path, true}); }
  std::string uri(const std::string& path) const;

  // Of a place as findings have it; without an end it is one character, and a place that the text does not
  // have is its nearest.
  lsp::Range range(const std::string& path, const SourceLocation& at);
  lsp::Position position(const std::string& path, std::size_t offset);
  std::size_t offset(const std::string& path, const lsp::Position& position);

 private:
  struct Known {
    std::string own;
    const std::string* text = nullptr;
    std::unique_ptr<lsp::Lines> lines;
  };
  Known& known(const std::string& path);

  const EditedTexts& edited_;
  lsp::Encoding encoding_;
  std::map<std::string, bool> from_disk_;
  std::map<std::string, Known> known_;
};

}  // namespace dtype_guard::driver
