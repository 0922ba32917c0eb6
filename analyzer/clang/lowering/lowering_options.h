// What one source file is lowered with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/source/lowered_source.h"
#include "analyzer/source/user_code.h"
#include "rules/contracts/contract.h"

namespace dtype_guard::clang_front_end {

using source::CompileCommand;
using source::LoweredSource;
using source::SourceError;
using source::UserCode;

class Preambles;

struct LoweringOptions {
  UserCode user_code;
  const ContractSet* contracts = nullptr;  // the calls that are sinks; null: those built in
  std::vector<std::string> extra_arguments;
  std::map<std::string, std::string> files;  // text of files that are not on disk, by absolute path
  bool record_dependencies = false;
  // Null: the file is parsed from its first line, and nothing is kept.
  std::shared_ptr<Preambles> preambles;
};

}  // namespace dtype_guard::clang_front_end
