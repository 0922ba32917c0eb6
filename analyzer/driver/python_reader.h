// Python files as the rest of the driver reads files: one of them in, IR, errors and dependencies out. All
// files of a run share what was read of their imports.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/driver/options.h"
#include "analyzer/driver/sources.h"

namespace dtype_guard::driver {

class PythonReader {
 public:
  // Keeps nothing of `sources` but copies, and points to the options' contracts.
  PythonReader(const Options& options, const SourceList& sources);
  ~PythonReader();
  // May be called by several threads.
  source::LoweredSource lower(const std::string& file) const;
  // What decides about the result besides the files that were read.
  const std::vector<std::string>& key() const { return key_; }

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
  std::vector<std::string> key_;
};

}  // namespace dtype_guard::driver
