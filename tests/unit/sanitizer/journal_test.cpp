// Frames come back as they were written, and whatever happens to the bytes, the reader says so and keeps the
// rest.
#include "sanitizer/protocol/journal.h"

#include <string>

#include "sanitizer/symbolize/journal_reader.h"
#include "tests/catch.h"

using namespace dtype_guard::san;

namespace {

class Writer {
 public:
  FrameBuilder begin(FrameType type) { return FrameBuilder(buffer_, type); }
  void end(FrameBuilder& frame) { bytes.append(buffer_, frame.finish(sequence_++)); }
  std::string bytes;

 private:
  char buffer_[kLargestFrame];
  std::uint32_t sequence_ = 0;
};

constexpr std::size_t kFrames = 6;

std::string small_journal() {
  Writer out;
  FrameBuilder process = out.begin(FrameType::kProcess);
  process.u32(42).u32(1).u64(7).u32(3).text("node").text("/bin/x").text("x -y").text("0.1.0");
  out.end(process);
  FrameBuilder module = out.begin(FrameType::kModule);
  module.u32(5)
      .u64(0x1000)
      .u64(0x2000)
      .u64(0x3000)
      .text(std::string("\x00\xff", 2))
      .u64(9)
      .u64(10)
      .text("/bin/x");
  out.end(module);
  FrameBuilder kernel = out.begin(FrameType::kKernel);
  kernel.text("api").u32(5).u64(0x2100);
  out.end(kernel);
  FrameBuilder finding = out.begin(FrameType::kFinding);
  finding.u32(17).text("api").u64(99).u64(1000000000).u32(1);
  finding.text("q")
      .u32(kOperandPresent | kOperandShapeKnown)
      .u32(0x22001)
      .u64(0x20)
      .u32(0)
      .u32(1)
      .u32(0)
      .u32(2)
      .u64(4)
      .u64(8);
  finding.u32(2).u32(5).u64(0x2222).u32(0).u64(0x9999);
  out.end(finding);
  FrameBuilder count = out.begin(FrameType::kCount);
  count.u32(17).u64(8);
  out.end(count);
  FrameBuilder close = out.begin(FrameType::kClose);
  close.u64(1).u64(2);
  out.end(close);
  return out.bytes;
}

}  // namespace

TEST_CASE("what earlier versions did not say of a process is unknown, and later members are read") {
  for (const int members : {0, 1, 2}) {
    Writer out;
    FrameBuilder process = out.begin(FrameType::kProcess);
    process.u32(42).u32(1).u64(7).u32(3).text("node").text("/bin/x").text("x -y").text("0.1.0");
    if (members > 0) process.u64(99);
    if (members > 1) process.u32(1);
    out.end(process);
    const Journal journal = read_journal(out.bytes, "j");
    CHECK(journal.problems.empty());
    REQUIRE(journal.process);
    CHECK(journal.process->version == "0.1.0");
    CHECK(journal.process->started == (members > 0 ? 99 : 0));
    CHECK(journal.process->joined == (members > 1));
  }
}

TEST_CASE("a journal comes back as it was written") {
  Journal journal = read_journal(small_journal(), "j");
  CHECK(journal.problems.empty());
  REQUIRE(journal.process);
  CHECK(journal.process->pid == 42);
  CHECK(journal.process->rank == 3);
  CHECK(journal.process->command == "x -y");
  REQUIRE(journal.modules.count(5) == 1);
  CHECK(journal.modules[5].bias == 0x1000);
  CHECK(journal.modules[5].build_id == std::string("\x00\xff", 2));
  CHECK(journal.calls["api"] == 1);
  REQUIRE(journal.findings.size() == 1);
  const JournalFinding& finding = journal.findings[0];
  CHECK(finding.count == 8);
  CHECK(finding.thread == 99);
  REQUIRE(finding.operands.size() == 1);
  CHECK(finding.operands[0].role == "q");
  CHECK(finding.operands[0].packed == 0x22001);
  CHECK(finding.operands[0].shape == std::vector<std::int64_t>{4, 8});
  CHECK(finding.operands[0].same_as == -1);
  REQUIRE(finding.stack.size() == 2);
  CHECK(finding.stack[0].pc == 0x2222);
  CHECK(journal.closed);
  CHECK(journal.unrecorded == 2);
}

TEST_CASE("one changed byte anywhere costs one record and is reported") {
  const std::string good = small_journal();
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x5a);
    Journal journal = read_journal(bad, "j");
    INFO("byte " << at);
    REQUIRE(journal.problems.size() == 1);
    std::size_t kept = (journal.process ? 1U : 0U) + journal.modules.size() + journal.kernels.size() +
                       journal.findings.size() + (journal.closed ? 1U : 0U);
    // The count frame leaves no object of its own.
    CHECK(kept >= kFrames - 2);
  }
}

TEST_CASE("a journal cut at any byte keeps its whole records") {
  const std::string good = small_journal();
  for (std::size_t size = 0; size < good.size(); ++size) {
    Journal journal = read_journal(std::string_view(good).substr(0, size), "j");
    INFO("size " << size);
    bool at_record_end = journal.problems.empty();
    std::string rest = good.substr(size);
    std::uint32_t magic = 0;
    rest.copy(reinterpret_cast<char*>(&magic), sizeof magic);
    CHECK(at_record_end == (magic == kJournalMagic && size != 0));
    CHECK_FALSE(journal.closed);
  }
}

TEST_CASE("damage, truncation and foreign files are told apart") {
  const std::string good = small_journal();
  auto only_problem = [](const std::string& bytes) {
    Journal journal = read_journal(bytes, "j");
    REQUIRE(journal.problems.size() == 1);
    return journal.problems[0];
  };
  CHECK(only_problem("") == "empty (0 bytes), not a dtype-san journal");
  CHECK(only_problem("\x7f"
                     "ELF rest") == "not a dtype-san journal: begins with 7f 45 4c 46");
  CHECK(only_problem(good.substr(0, 21)) == "truncated: 21 bytes hold no whole record");
  CHECK(only_problem(good + "DSJ1").find("truncated: the record at byte") == 0);
  CHECK(only_problem("junk" + good).find("damaged: 4 bytes from byte 0") == 0);
  CHECK(only_problem(good + std::string(64, '\0')).find("damaged: 64 bytes from byte") == 0);
}

TEST_CASE("a lost record is noticed") {
  Writer out;
  for (int i = 0; i < 3; ++i) {
    FrameBuilder note = out.begin(FrameType::kNote);
    note.text("x");
    std::size_t before = out.bytes.size();
    out.end(note);
    if (i == 1) out.bytes.resize(before);
  }
  Journal journal = read_journal(out.bytes, "j");
  REQUIRE(journal.problems.size() == 1);
  CHECK(journal.problems[0] == "1 records are missing (was the disk full, or the file cut?)");
}

TEST_CASE("counts inside a record never make the reader go beyond it") {
  Writer out;
  FrameBuilder finding = out.begin(FrameType::kFinding);
  finding.u32(0).text("api").u64(1).u64(1).u32(0xffffffff);
  out.end(finding);
  FrameBuilder module = out.begin(FrameType::kModule);
  module.u32(1).u64(0).u64(0).u64(0).u32(0x7fffffff);
  out.end(module);
  Journal journal = read_journal(out.bytes, "j");
  CHECK(journal.findings.empty());
  CHECK(journal.problems.size() == 2);
}

TEST_CASE("a frame that does not fit says so") {
  char buffer[kLargestFrame];
  FrameBuilder frame(buffer, FrameType::kNote);
  frame.text(std::string(kLargestFrame, 'x'));
  CHECK(frame.overflowed());
}

namespace {

// A finding's payload with everything that it can hold.
std::string full_finding() {
  Writer out;
  FrameBuilder frame = out.begin(FrameType::kFinding);
  frame.u32(3).text("api").u64(9).u64(8).u32(1);
  frame.text("q").u32(kOperandPresent).u32(0x22001).u64(0x20).u32(0).u32(1).u32(0).u32(0);
  frame.u32(1).u32(5).u64(0x2222);
  frame.u32(1).text("model.py").text("forward").u32(12).u32(1);
  frame.u32(1).u32(0).u32(0x42001).u32(7).u32(6).u32(0).u32(0);
  frame.u32(1);
  out.end(frame);
  return out.bytes;
}

}  // namespace

TEST_CASE("a finding brings its Python frames and origins") {
  Journal journal = read_journal(full_finding(), "x");
  REQUIRE(journal.findings.size() == 1);
  const JournalFinding& finding = journal.findings[0];
  REQUIRE(finding.python.size() == 1);
  CHECK(finding.python[0].file == "model.py");
  CHECK(finding.python[0].line == 12);
  CHECK(finding.python[0].from_c);
  REQUIRE(finding.origins.size() == 1);
  CHECK(finding.origins[0].packed == 0x42001);
  CHECK(finding.origins[0].sites == std::vector<std::uint32_t>{7, 6});
  CHECK(finding.reinterpreted == std::optional<std::size_t>(0));
}

TEST_CASE("a payload of any length and any content is read or refused, never followed") {
  const std::string whole = full_finding();
  const std::string payload = whole.substr(sizeof(FrameHeader));
  for (FrameType type : {FrameType::kFinding, FrameType::kSite, FrameType::kLibrary, FrameType::kClose}) {
    for (std::size_t length = 0; length <= payload.size(); ++length) {
      for (std::size_t changed = 0; changed <= length; changed += 3) {
        std::string bytes = payload.substr(0, length);
        if (changed < length) bytes[changed] = '\xff';
        char buffer[kLargestFrame];
        FrameBuilder frame(buffer, type);
        for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
          std::uint32_t word = 0;
          std::memcpy(&word, bytes.data() + i, sizeof word);
          frame.u32(word);
        }
        Journal journal = read_journal({buffer, frame.finish(0)}, "x");
        CHECK(journal.findings.size() + journal.sites.size() <= 1);
      }
    }
  }
}

TEST_CASE("a site, a library and the time in records are read") {
  Writer out;
  FrameBuilder site = out.begin(FrameType::kSite);
  site.u32(7).text("api").u64(1).u64(2).u32(0).u32(0).u32(0);
  out.end(site);
  FrameBuilder library = out.begin(FrameType::kLibrary);
  library.text("flash_ref").u32(5).u64(0x4000).u32(1);
  out.end(library);
  FrameBuilder close = out.begin(FrameType::kClose);
  close.u64(0).u64(0).u64(12345);
  out.end(close);
  Journal journal = read_journal(out.bytes, "x");
  CHECK(journal.sites.count(7) == 1);
  REQUIRE(journal.libraries.size() == 1);
  CHECK(journal.libraries[0].module == 5);
  CHECK(journal.hook_ns == 12345);
}

TEST_CASE("the closing record tells what was lost, and why") {
  Writer out;
  FrameBuilder close = out.begin(FrameType::kClose);
  close.u64(9).u64(5).u64(12345).u64(3).text("disk quota exceeded");
  out.end(close);
  Journal journal = read_journal(out.bytes, "x");
  CHECK(journal.unrecorded == 5);
  CHECK(journal.lost == 3);
  CHECK(journal.loss_reason == "disk quota exceeded");
  // A later one of an earlier version says nothing of that; and nothing is lost beyond what was not recorded.
  FrameBuilder earlier = out.begin(FrameType::kClose);
  earlier.u64(9).u64(1).u64(12345);
  out.end(earlier);
  CHECK(read_journal(out.bytes, "x").lost == 0);
  FrameBuilder absurd = out.begin(FrameType::kClose);
  absurd.u64(9).u64(1).u64(12345).u64(~std::uint64_t{0}).text("");
  out.end(absurd);
  CHECK(read_journal(out.bytes, "x").lost == 1);
}
