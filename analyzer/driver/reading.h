// From sources to summaries: each file from the cache or through Clang, several at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/clang/front_end.h"
#include "analyzer/driver/cache.h"
#include "analyzer/driver/file_summary.h"
#include "analyzer/driver/options.h"
#include "analyzer/driver/python_reader.h"
#include "analyzer/driver/sources.h"

namespace dtype_guard::driver {

// One front end for each language; what they answer is kept alike. May be used by several threads, and refers
// to what it is made from.
class SourceReader {
 public:
  SourceReader(const Options& options, const SourceList& sources, Cache& cache);
  FileSummary read(const source::CompileCommand& command) const;
  // Of a C++ file that may be edited soon: what Options::preambles keep of it.
  void parse_start(const source::CompileCommand& command) const;
  // All that decides about its summary besides files.
  std::string key_of(const source::CompileCommand& command) const;

 private:
  std::function<source::LoweredSource()> lowering_of(const source::CompileCommand& command) const;

  const Options& options_;
  const SourceList& sources_;
  Cache& cache_;
  PythonReader python_;
  clang_front_end::LoweringOptions lowering_;
  bool cached_ = false;
};

// In the order of the sources, whatever finished first.
std::vector<FileSummary> read_sources(const Options& options, const SourceList& sources, Cache& cache);

}  // namespace dtype_guard::driver
