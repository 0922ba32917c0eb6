// What is wrong on a command line that CLI11 reads, said of all options of both tools alike: which option,
// what was given, what is expected and what to do next.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace dtype_guard {

// For an option that takes a number; what its help calls it is its type_name.
CLI::Validator whole_number(std::int64_t first, std::int64_t last);

// After the last option is declared, of subcommands too: no value may be empty, as that of a variable that is
// not set.
void expect_values(CLI::App& app);

// All three without the name of the tool. Empty: nothing is wrong with `words`, as far as CLI11 would not
// notice it, which takes the word behind "--jobs=" for its value and "--fix=3" for three times --fix.
std::string wrong_word(const CLI::App& app, const std::vector<std::string>& words);
std::string refusal(const CLI::App& app, const CLI::ParseError& error);
// "--color: 'blue' is none of auto, always, never; give one of these".
std::string none_of(const std::string& option, const std::string& given,
                    const std::vector<std::string>& known);

}  // namespace dtype_guard
