// fixed_inputs ROUNDS [SAMPLE_FOLDER | FILE...]: all targets on inputs from a fixed seed, each a sample that
// was changed in a few places; the files are run first, as they are (what a fuzzer has found). With a folder,
// writes the samples there for libFuzzer to start from.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/targets.h"

namespace {

using namespace dtype_guard::san;

const char* const kOptionSamples[] = {
    "journal=/tmp/x:max_findings=7:exitcode=9:rules=a,b:start=dormant:color=always",
    "log_path=\"/tmp/a:b.%p.%h.%r\":stack_depth=12:halt_on_error=1",
    "expect='flash_ref_rotary':no_such=1:max_findings=99999999999:python=of"};

std::string changed(std::string text, std::mt19937& random) {
  for (unsigned left = random() % 8; left > 0 && !text.empty(); --left) {
    std::size_t at = random() % text.size(), count = random() % 9;
    switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, count);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), count));
        break;
      case 3:
        for (std::size_t i = at; i < text.size() && i < at + 4; ++i) text[i] = static_cast<char>(0xff);
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

// The frames of a sample as fuzz_journal cuts its input: type, length, payload.
std::string as_pieces(const std::string& journal) {
  std::string pieces;
  for (std::size_t at = 0; at + 20 <= journal.size();) {
    std::uint32_t length = 0;
    std::uint16_t type = 0;
    journal.copy(reinterpret_cast<char*>(&length), sizeof length, at + 8);
    journal.copy(reinterpret_cast<char*>(&type), sizeof type, at + 16);
    std::string payload = journal.substr(at + 20, length);
    payload.resize((payload.size() + 3) / 4 * 4);
    pieces += static_cast<char>(type * 4);
    pieces += static_cast<char>(payload.size() / 4);
    pieces += payload;
    at += 20 + length;
  }
  return pieces;
}

void write_samples(const std::filesystem::path& folder) {
  std::ofstream(folder / "journal", std::ios::binary) << sample_journal();
  std::ofstream(folder / "pieces", std::ios::binary) << as_pieces(sample_journal());
  int number = 0;
  for (const char* sample : kOptionSamples)
    std::ofstream(folder / ("options." + std::to_string(number++))) << sample;
}

// Some layouts are found and some refused, or the target does not reach what it is for.
int probe_rounds(long rounds, std::mt19937& random) {
  long found = 0;
  for (long round = 0; round < rounds; ++round) {
    std::string bytes(7 + 4 * (random() % 4), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    found += fuzz_probe(bytes) ? 1 : 0;
  }
  std::printf("%ld layouts, of which %ld were found and the others refused\n", rounds, found);
  return rounds == 0 || (found > 0 && found < rounds) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 1000;
  for (int i = 2; i < argc; ++i) {
    if (std::filesystem::is_directory(argv[i])) {
      write_samples(argv[i]);
      continue;
    }
    std::ifstream in(argv[i], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    fuzz_journal(text);
    fuzz_options(text);
    fuzz_probe(text);
  }
  std::mt19937 random(20260722);
  const std::string journal = sample_journal(), pieces = as_pieces(journal);
  for (long round = 0; round < rounds; ++round) {
    fuzz_journal(changed(journal, random));
    fuzz_journal(changed(pieces, random));
    fuzz_options(changed(kOptionSamples[random() % std::size(kOptionSamples)], random));
  }
  std::printf("%ld rounds on %d files and the samples\n", rounds, argc > 2 ? argc - 2 : 0);
  return probe_rounds(10 * rounds, random);
}
