// dtype-lint.
#include <iostream>

#include "analyzer/driver/run.h"
#include "rules/files/atomic_file.h"

int main(int argc, char** argv) {
  using namespace dtype_guard;
  let_writing_end_before_signals();
  try {
    const driver::CommandLine command_line = driver::read_command_line(argc, argv);
    if (command_line.exit) return *command_line.exit;
    if (!command_line.options.link.empty()) return driver::run_linked(command_line.options);
    return driver::run(command_line.options, driver::find_sources(command_line.options));
  } catch (const driver::UsageError& error) {
    std::cerr << "dtype-lint: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "dtype-lint: internal error: " << error.what()
              << "; please report it with the command line\n";
    return 3;
  }
}
