#include "analyzer/driver/declared_options.h"

#include <fmt/format.h>

#include <memory>

#include "analyzer/driver/option_values.h"
#include "rules/command_line/generated_text.h"
#include "rules/command_line/wrong_words.h"

namespace dtype_guard::driver {

namespace {

constexpr int kMostJobs = 10'000;

constexpr const char* kExamples = R"(Examples:
  dtype-lint -p build                          every source of the project
  dtype-lint -p build src/attention.cpp        one of them
  dtype-lint attention.cpp -- -std=c++17 -I/opt/libtorch/include
  dtype-lint -p build --precision bf16-fp32-buffers --format json=lint.json --format text
  dtype-lint --explain attention-mixed-dtypes

Exit status: 0 clean, 1 findings, 2 usage or configuration, 3 a file has errors, no command,
or took Clang down or too long; functions over a budget are listed as not analysed and do not count.)";

// "FILE ..." is for an option that takes every word behind it; one that may be repeated takes one each time.
class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string words = CLI::Formatter::make_option_opts(option);
    const std::size_t dots = words.rfind(" ...");
    const bool one = !option->get_positional() && !option->get_allow_extra_args();
    return one && dots != std::string::npos ? words.erase(dots, 4) : words;
  }
};

std::string settings_footer() {
  std::string names;
  for (const flow::PrecisionSetting& each : flow::precision_settings()) {
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", each.name, each.by_default ? " *" : "");
  }
  return fmt::format("Precision settings (* by default): {}\n\n{}", names, kExamples);
}

}  // namespace

void declare(CLI::App& app, Options& options, Written& written) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  const auto list = [](CLI::Option* option) {
    return option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->delimiter(',')
        ->allow_extra_args(false);
  };
  app.add_option(
         "SOURCE", options.sources,
         "Files to check; a folder: its sources, and its headers through files that include them; none: "
         "every .py and .ipynb of the project, and every user source of the compile database where there is "
         "one")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("-p", options.database, "Folder that holds compile_commands.json")->type_name("DIR");
  list(app.add_option("--precision", written.precision,
                      "Precision settings to check under (see --help end); may be repeated"))
      ->type_name("LIST");
  app.add_option(
         "--torch", written.torch,
         "PyTorch version whose rules hold, or A..B: also report what differs between these; default: "
         "that of the headers")
      ->type_name("VERSION[..VERSION]");
  list(app.add_option(
           "--library", written.libraries,
           "Version of a library with contracts, as flash_attn=2.7; default: what the environment or "
           "the project's pins say, else each is tried; may be repeated"))
      ->type_name("NAME=VERSION");
  app.add_option(
         "--python", options.python,
         "Environment of the project, or its interpreter: read for versions and base classes, never run; "
         "default: .venv")
      ->type_name("PATH");
  app.add_option("--device", options.device,
                 "cuda, cpu, mps or xpu; by default cuda, or cpu where the code names it")
      ->type_name("DEVICE");
  list(app.add_option("--contracts", written.contracts,
                      "More contracts of attention calls, as JSON; may be repeated"))
      ->type_name("FILE");
  app.add_option("--config", written.config, "Configuration to use instead of the nearest .dtype-lint.json")
      ->type_name("FILE");
  list(app.add_option("--exclude", written.exclude, "Leave these files and folders out; may be repeated"))
      ->type_name("GLOB");
  app.add_option("--stdin-filename", written.stdin_file,
                 "The source comes from standard input and is this file")
      ->type_name("FILE");
  app.add_flag("--lsp", options.lsp,
               "Answer an editor over standard input and output (Language Server Protocol); the folders are "
               "those that it opens");
  constexpr auto kNothing = [](std::int64_t) {};  // --lsp knows no other way, and editors add it
  app.add_flag_function("--stdio", kNothing, "With --lsp: over standard input and output")->group("");
  app.add_option("--root", options.root, "Project folder: code below it is yours")->type_name("DIR");
  list(
      app.add_option("--rules", written.rules, "Rules to report, or -RULE to leave one out; may be repeated"))
      ->type_name("SPEC");
  app.add_flag("--strict", options.strict, "Report possible findings too");
  app.add_option("--fail-on", written.fail_on,
                 "Lowest level that makes the exit status 1: error, warning, never")
      ->type_name("LEVEL");
  list(app.add_option("--format", written.formats,
                      format_names() + ", into FILE or to standard output (also =-); may be repeated"))
      ->type_name("FORMAT[=FILE]");
  app.add_flag("--fix", options.fix, "Apply the fixes that are offered, then report what is left");
  app.add_option("--export-fixes", options.export_fixes,
                 "Write findings and fixes to FILE, as clang-apply-replacements reads them")
      ->type_name("FILE");
  app.add_option("--baseline", options.baseline, "Known findings: only new ones count, fixed ones are named")
      ->type_name("FILE");
  app.add_option("--write-baseline", options.write_baseline, "Write what was found, for --baseline later")
      ->type_name("FILE");
  app.add_option("--diff-base", options.diff_base,
                 "Only findings whose place, way or call is on a line changed since REV of git")
      ->type_name("REV");
  app.add_flag("--statistics", options.statistics,
               "Print how often each rule is broken instead of the findings");
  app.add_option("--jobs,-j", written.jobs, "Files analysed at a time; default: one per processor")
      ->check(whole_number(1, kMostJobs))
      ->type_name("N");
  app.add_option("--cache", written.cache,
                 "Folder of the cache; default: dtype-lint in the user's cache folder")
      ->type_name("DIR");
  app.add_flag("--no-cache", written.no_cache, "Read every file anew and keep nothing");
  app.add_option("--emit-summary", options.emit_summary,
                 "Write what SOURCE says to FILE, for --link, instead of a report")
      ->type_name("FILE");
  app.add_option("--depfile", options.depfile,
                 "With --emit-summary: also write what the summary rests on, as make and ninja read it")
      ->type_name("FILE");
  app.add_option("--link", options.link, "Report on these summaries as one program, instead of on sources")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("FILE");
  app.add_option("--extra-arg", options.extra_arguments, "One more compiler flag; may be repeated")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("ARG");
  app.add_option("--explain", written.explain,
                 "Print what a rule says, what a function with a contract takes, or what an operator of "
                 "PyTorch does to dtypes, with --torch A..B what changed between these releases")
      ->type_name("RULE|FUNCTION|OPERATOR");
  app.add_flag("--list-rules", written.list_rules, "Print all rules");
  app.add_flag("--list-contracts", written.list_contracts,
               "Print which functions are watched and what they take, those of --contracts too");
  app.add_option("--generate", written.generate, kGenerateHelp)->type_name("KIND");
  app.add_flag("--dump-flow", options.dump_flow, "Print the dtype-flow IR instead of findings");
  app.add_option("--color", written.color, "auto (default), always or never")->type_name("WHEN");
  app.add_flag("--quiet,-q", options.quiet,
               "Only findings, and files that could not be read: no summary, no progress");
  app.add_flag("--version", written.version, "Print versions");
  app.formatter(std::make_shared<HelpFormat>());
  app.footer(settings_footer());
}

}  // namespace dtype_guard::driver
