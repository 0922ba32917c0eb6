// The frames about kernel launches come back as they were written; older libraries wrote less, and a frame
// that was cut short is no launch.
#include "sanitizer/symbolize/launch_records.h"

#include <string>

#include "sanitizer/protocol/journal.h"
#include "sanitizer/symbolize/cast_findings.h"
#include "sanitizer/symbolize/launch_findings.h"
#include "tests/catch.h"

using namespace dtype_guard;
using namespace dtype_guard::san;

namespace {

constexpr char kCast[] =
    "_ZN2at6native29vectorized_elementwise_kernelILi8EZNS0_25bfloat16_copy_kernel_"
    "cudaERNS_18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EEEEviT0_T1_";
constexpr char kAttention[] = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80";

class Writer {
 public:
  Writer() {
    FrameBuilder process(buffer_, FrameType::kProcess);
    process.u32(42).u32(1).u64(7).u32(kNoRank).text("node").text("/bin/x").text("x").text("0.1.0");
    end(process);
  }
  FrameBuilder begin(FrameType type) { return {buffer_, type}; }
  // A kernel's name, one operand or none, no stack, no origins.
  FrameBuilder launch(FrameType type, std::uint32_t index, const char* kernel, bool with_operand = false) {
    FrameBuilder frame = begin(type);
    frame.u32(index).text(kernel).u64(99).u64(1000000000).u32(with_operand ? 1 : 0);
    if (with_operand) frame.text("q").u32(kOperandPresent).u32(0x22001).u64(0).u32(0).u32(2).u32(0).u32(0);
    frame.u32(0).u32(0).u32(0).u32(0);
    return frame;
  }
  void end(FrameBuilder& frame) { bytes.append(buffer_, frame.finish(sequence_++)); }
  void end(FrameBuilder&& frame) { end(frame); }
  std::string bytes;

 private:
  char buffer_[kLargestFrame];
  std::uint32_t sequence_ = 0;
};

}  // namespace

TEST_CASE("launches come back with their call, matches and counts") {
  Writer out;
  FrameBuilder launch = out.launch(FrameType::kLaunch, 5, kAttention, true);
  launch.text("my_attention").u32(1).u32(2).u32(0).u32(0).u32(8).u32(7).u32(0).u32(16);  // operand 7 is none
  out.end(launch);
  FrameBuilder counts = out.begin(FrameType::kLaunches);
  out.end(counts.u32(5).u64(10).u64(4).u64(12));
  const Journal journal = read_journal(out.bytes, "x");
  CHECK(journal.problems.empty());
  REQUIRE(journal.launches.size() == 1);
  const JournalLaunch& read = journal.launches[0];
  CHECK(read.call == "my_attention");
  CHECK(read.has_arguments);
  REQUIRE(read.matches.size() == 1);
  CHECK(read.matches[0].offset == 8);
  CHECK(read.runs() == 18);
}

TEST_CASE("launches of older libraries have neither call nor graphs") {
  Writer out;
  out.end(out.launch(FrameType::kLaunch, 5, kAttention));
  FrameBuilder counts = out.begin(FrameType::kLaunches);
  out.end(counts.u32(5).u64(10));
  const Journal journal = read_journal(out.bytes, "x");
  CHECK(journal.problems.empty());
  REQUIRE(journal.launches.size() == 1);
  CHECK(journal.launches[0].call.empty());
  CHECK(journal.launches[0].runs() == 10);
}

TEST_CASE("a launch that was cut short is a problem and no launch") {
  Writer out;
  FrameBuilder launch = out.launch(FrameType::kLaunch, 5, kAttention, true);
  out.end(launch.text("my_attention").u32(1).u32(1000000));  // as many matches as cannot be there
  FrameBuilder cast = out.launch(FrameType::kCast, 1, kAttention);
  out.end(cast.u32(3).u32(5));
  const Journal journal = read_journal(out.bytes, "x");
  CHECK(journal.launches.empty());
  CHECK(journal.casts.empty());
  CHECK(journal.problems.size() == 2);
}

TEST_CASE("casts are findings where both kernels' names prove what they are") {
  const auto found = [](const char* cast, const char* attention, std::uint32_t role, std::uint32_t x_type,
                        std::uint32_t out_type) {
    Writer out;
    out.end(out.launch(FrameType::kLaunch, 3, cast));
    FrameBuilder link = out.launch(FrameType::kCast, 1, attention);
    out.end(link.u32(3).u32(5).u32(role).u64(1000).u32(2).u32(x_type).u32(out_type));
    FrameBuilder counts = out.begin(FrameType::kCasts);
    out.end(counts.u32(1).u64(8).u64(4).u64(4000));
    std::vector<std::string> messages;
    const Journal journal = read_journal(out.bytes, "x");
    CHECK(journal.problems.empty());
    for (const CastFinding& finding : cast_findings(journal)) messages.push_back(finding.finding.message);
    return messages;
  };
  CHECK(found(kCast, kAttention, 0, 0, 0) ==
        std::vector<std::string>{
            "q is cast from float32 to bfloat16 right before the attention that reads it: 8 casts "
            "moved 46.9 KiB, about 8.0 us on the device (4 timed)"});
  CHECK(found(kCast, "ampere_sgemm_128x64_tn", 0, 0, 0).empty());
  CHECK(found("some_kernel", kAttention, 0, 0, 0).empty());
  CHECK(found(kCast, kAttention, 3, 0, 0).empty());  // no such role
  CHECK(found(kCast, kAttention, 0, 16, 16).empty());
  CHECK(found(kCast, kAttention, 0, 4, 16).empty());    // from int32
  CHECK(found(kCast, kAttention, 0, 999, 16).empty());  // no such dtype
}
