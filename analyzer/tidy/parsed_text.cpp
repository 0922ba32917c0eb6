#include "analyzer/tidy/parsed_text.h"

#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>

#include <filesystem>

namespace dtype_guard::tidy {

const std::string* ParsedText::operator()(const std::string& file) {
  const auto known = texts_.find(file);
  if (known != texts_.end()) return &known->second;
  const std::string path = (std::filesystem::path(root_) / file).string();
  const auto entry = sources_.getFileManager().getOptionalFileRef(path);
  const auto buffer = entry ? sources_.getMemoryBufferForFileOrNone(*entry) : std::nullopt;
  return buffer ? &texts_.emplace(file, buffer->getBuffer().str()).first->second : nullptr;
}

}  // namespace dtype_guard::tidy
