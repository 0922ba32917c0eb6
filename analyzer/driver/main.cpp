// dtype-lint.
#include <iostream>
#include <utility>

#include "analyzer/driver/command_line.h"
#include "analyzer/driver/editing/language_server.h"
#include "analyzer/driver/run.h"
#include "analyzer/driver/usage_error.h"
#include "rules/files/atomic_file.h"

int main(int argc, char** argv) {
  using namespace dtype_guard;
  let_writing_end_before_signals();
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    driver::CommandLine command_line = driver::read_command_line(words);
    if (command_line.exit) return *command_line.exit;
    driver::Options& options = command_line.options;
    if (options.lsp) return driver::serve_editor(options, words);
    if (!options.link.empty()) return driver::run_linked(options);
    driver::SourceList sources = driver::find_sources(options);
    driver::take_standard_input(options, sources);
    driver::settle_project(options, sources.user_code.root());
    return driver::run(options, std::move(sources));
  } catch (const driver::UsageError& error) {
    std::cerr << "dtype-lint: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "dtype-lint: internal error: " << error.what()
              << "; please report it with the command line\n";
    return 3;
  }
}
