// Which functions of a program are others than before, by source file: what an editor's user types changes
// few of a file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

class ChangedFunctions {
 public:
  // All of a file, by its name in reports.
  void add(const std::string& source) { files_[source].all = true; }
  // Those that differ, and all methods of their classes: what one sets another may read.
  void add(const std::string& source, const Module& before, const Module& now);
  // Those that a program of these files has.
  std::vector<std::uint32_t> in(const Module& linked, const std::vector<std::string>& sources) const;
  // Whether no function came or went, and nothing differs but what functions do.
  bool are_bodies() const;

 private:
  struct OfFile {
    bool all = false, keeps_functions = true;
    std::set<std::string, std::less<>> keys, classes;
    bool has(const Function& function) const;
  };
  std::map<std::string, OfFile> files_;
};

}  // namespace dtype_guard::flow
