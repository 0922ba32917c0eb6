// From raw addresses to functions and lines, with elfutils' libdw and outside the watched process. Inlined
// calls become frames of their own. A module whose file is no longer the one that ran (another build-id, or
// another size or time where there is none) gives module and offset only: a wrong line is worse than none.
//
// A file is looked for below `sysroot` first, then where it lay when the program ran, then by its build-id:
// in folders for debug information, and from debuginfod servers if DEBUGINFOD_URLS names some, as libdw does
// it. Without that variable nothing goes to a network.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rules/finding/finding.h"
#include "sanitizer/symbolize/journal_reader.h"

namespace dtype_guard::san {

class Symbolizer {
 public:
  explicit Symbolizer(const std::string& sysroot = "");
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // Innermost (inlined) frame first; never empty. `return_address` as the stack capture gives it.
  std::vector<StackFrame> resolve(const JournalModule& module, std::uint64_t return_address);

  // One sentence for each module that was refused.
  const std::vector<std::string>& refused() const { return refused_; }

 private:
  class Module;
  class Places;
  Module& open(const JournalModule& module);

  std::unique_ptr<Places> places_;
  std::vector<std::pair<std::string, std::unique_ptr<Module>>> modules_;  // by path and build-id
  std::map<std::pair<const Module*, std::uint64_t>, std::vector<StackFrame>> resolved_;
  std::vector<std::string> refused_;
};

// A frame without symbols.
StackFrame bare_frame(const JournalModule& module, std::uint64_t return_address);

std::string demangle(const std::string& symbol);

// The qualified name in a demangled function, as the analyzer names functions: without parameters, qualifiers
// and the return type that templates carry. "int ns::f<int>(int) const" gives "ns::f<int>".
std::string qualified_name(const std::string& function);

}  // namespace dtype_guard::san
