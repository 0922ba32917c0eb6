// What is fuzzed: the two parsers that take bytes from outside, and the search for members in memory of an
// unknown layout. Each target aborts when something that must hold for every input does not. One body for
// libFuzzer (`ninja fuzz-san`) and for the fixed inputs of ctest.
#pragma once

#include <string>
#include <string_view>

namespace dtype_guard::san {

// The input as a journal; then again as the payloads of intact frames between pieces of damage, which must
// all be found; and the report that is made of each.
void fuzz_journal(std::string_view input);

// The input as DTYPE_SAN_OPTIONS and as a log_path.
void fuzz_options(std::string_view input);

// The input as changes to memory in which the PyTorch source's start test looks for members. Whether it found
// them.
bool fuzz_probe(std::string_view input);

// A journal with a frame of every type, to start from.
std::string sample_journal();

}  // namespace dtype_guard::san
