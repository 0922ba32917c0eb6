// Prints the kernels that watched processes launched, one a line, as tests/unit/sanitizer/kernel_names.tsv
// has them, with the time of the first launch (ns since 1970), how often each ran, and the watched call that
// it was launched in before that.
//   gpu_kernel_names JOURNAL...
#include <cstdio>
#include <string>

#include "sanitizer/contracts/dtype_names.h"
#include "sanitizer/sources/cupti/names/kernel_name.h"
#include "sanitizer/symbolize/journal_reader.h"

namespace {

using namespace dtype_guard::san;

std::string roles_of(const cupti::KernelName& kernel) {
  std::string roles;
  for (std::size_t i = 0; i < kernel.role_count; ++i) {
    if (i != 0) roles += ' ';
    roles += kernel.roles[i].role;
    roles += '=';
    roles += kernel.roles[i].dtype == 0 ? "?" : dtype_name(kernel.roles[i].dtype);
  }
  return roles;
}

void print(const JournalLaunch& launch) {
  const cupti::KernelName kernel = cupti::read_kernel_name(launch.place.api);
  const std::string columns[] = {std::to_string(launch.place.time_ns),
                                 std::to_string(launch.runs()),
                                 launch.call,
                                 std::string(cupti::spelling(kernel.kind)),
                                 std::string(cupti::spelling(kernel.backend)),
                                 std::string(kernel.library),
                                 std::string(kernel.api),
                                 std::string(cupti::spelling(kernel.confidence)),
                                 roles_of(kernel),
                                 launch.place.api};
  for (const std::string& column : columns)
    std::printf("%s%s", &column == columns ? "" : "\t", column.c_str());
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: gpu_kernel_names JOURNAL...\n");
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    const Journal journal = load_journal(argv[i]);
    for (const std::string& problem : journal.problems)
      std::fprintf(stderr, "%s: %s\n", argv[i], problem.c_str());
    for (const JournalLaunch& launch : journal.launches) print(launch);
  }
  return 0;
}
