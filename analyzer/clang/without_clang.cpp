// What front_end.h answers in a dtype-lint that was built without Clang (DTYPE_GUARD_CLANG=OFF): no C++ file
// can be read, and each place that would need it says so.
#include <stdexcept>

#include "analyzer/clang/fixes_file.h"
#include "analyzer/clang/front_end.h"
#include "analyzer/clang/preambles.h"

namespace dtype_guard::clang_front_end {

namespace {
constexpr const char* kWhy =
    "this dtype-lint was built without Clang (DTYPE_GUARD_CLANG=OFF) and reads Python alone; use one that "
    "was "
    "built with it";
}

bool is_built_in() { return false; }

struct Preamble {};
Preambles::Preambles() = default;
Preambles::~Preambles() = default;
void Preambles::keep_only(const std::set<std::string>& /*files*/) {}
bool Preambles::has(const std::string& /*file*/) const { return false; }

LoweredSource lower(const CompileCommand& command, const LoweringOptions& options) {
  LoweredSource result;
  result.errors.push_back({options.user_code.report_name(command.file), 0, 0, kWhy});
  return result;
}

std::vector<std::string> adjusted_command(const CompileCommand& command,
                                          const std::vector<std::string>& /*extra_arguments*/) {
  return command.arguments;
}

std::string resource_directory() { return {}; }
std::vector<std::string> resource_directories_looked_in() { return {}; }
std::string llvm_version() { return "none"; }

std::vector<CompileCommand> read_compile_database(const std::string& folder) {
  throw CompileDatabaseError("'" + folder + "' holds compile commands for C++: " + kWhy);
}
std::string yaml_of(const FixesFile& /*file*/) { throw std::logic_error(kWhy); }
std::optional<std::string> find_compile_database(const std::string&) { return std::nullopt; }

}  // namespace dtype_guard::clang_front_end
