// The open documents: their text as the client's edits leave it, which counts while a document is open,
// whatever is on disk.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analyzer/lsp/json.h"

namespace dtype_guard::lsp {

struct Document {
  std::string uri;  // as the client writes it
  std::int64_t version = 0;
  std::string text;
};

class Documents {
 public:
  explicit Documents(Encoding encoding) : encoding_(encoding) {}
  void set_encoding(Encoding encoding) { encoding_ = encoding; }

  // The parameters of the notifications of these names. What is wrong with them, where they say nothing that
  // can be done; `path` gets the document's.
  std::string open(const Json& params, std::string& path);
  std::string change(const Json& params, std::string& path);
  std::string close(const Json& params, std::string& path);

  const Document* find(const std::string& path) const;
  const std::map<std::string, Document>& all() const { return documents_; }  // by path

 private:
  std::string apply(Document& document, const Json& change) const;

  Encoding encoding_;
  std::map<std::string, Document> documents_;
};

// "file:///a%20b" is "/a b", without "." and ".."; empty for what is no file.
std::string path_of(const std::string& uri);
std::string uri_of(const std::string& path);

}  // namespace dtype_guard::lsp
