#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "rules/report/report.h"
#include "sanitizer/protocol/journal.h"
#include "sanitizer/symbolize/findings.h"
#include "sanitizer/symbolize/journal_reader.h"
#include "tests/fuzz/targets.h"

namespace dtype_guard::san {
namespace {

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

class Frames {
 public:
  void add(std::uint16_t type, std::string_view payload) {
    FrameBuilder frame(buffer_, static_cast<FrameType>(type));
    // As a text that is then moved over its own length, so that any bytes can be a payload.
    frame.text(payload);
    if (frame.overflowed()) return;
    std::size_t size = sizeof(FrameHeader) + payload.size();
    std::memmove(buffer_ + sizeof(FrameHeader), buffer_ + sizeof(FrameHeader) + sizeof(std::uint32_t),
                 payload.size());
    FrameHeader header{kJournalMagic, 0,    static_cast<std::uint32_t>(payload.size()),
                       sequence_++,   type, kJournalFormat};
    std::memcpy(buffer_, &header, sizeof header);
    header.checksum = frame_checksum(buffer_, size);
    std::memcpy(buffer_, &header, sizeof header);
    bytes.append(buffer_, size);
  }
  void add_note() {
    FrameBuilder note(buffer_, FrameType::kNote);
    note.text("note");
    bytes.append(buffer_, note.finish(sequence_++));
    ++notes;
  }
  std::string bytes;
  std::size_t notes = 0;

 private:
  char buffer_[kLargestFrame];
  std::uint32_t sequence_ = 0;
};

std::uint8_t take(std::string_view& input) {
  if (input.empty()) return 0;
  auto byte = static_cast<std::uint8_t>(input.front());
  input.remove_prefix(1);
  return byte;
}

// Type, length and payload follow each other in the input; every fourth piece is damage.
Frames frames_of(std::string_view input) {
  Frames frames;
  while (!input.empty()) {
    std::uint8_t type = take(input);
    std::size_t length = take(input) * 4U;
    std::string_view piece = input.substr(0, length);
    input.remove_prefix(piece.size());
    if (type % 4 == 3) {
      frames.bytes.append(piece);
    } else {
      frames.add(type / 4 % 16, piece);
    }
    frames.add_note();
  }
  return frames;
}

void report_on(std::vector<Journal> journals) {
  ReportSettings settings;
  settings.symbolize = false;
  settings.root = "/";
  const Report report = build_report(journals, settings);
  std::ostringstream text, json;
  write_text(text, report, {});
  write_json(json, report);
  const Report again = read_json(json.str(), "again");
  must(again.findings.size() == report.findings.size(), "a report is read back as it was written");
}

}  // namespace

void fuzz_journal(std::string_view input) {
  Journal raw = read_journal(input, "raw");
  must(!raw.problems.empty() || raw.process.has_value(), "a journal without a process has a problem");
  const Frames frames = frames_of(input);
  Journal framed = read_journal(frames.bytes, "framed");
  must(framed.notes.size() >= frames.notes, "every intact frame is found");
  report_on({std::move(raw), std::move(framed)});
}

std::string sample_journal() {
  Frames out;
  const auto add = [&](FrameType type, auto fill) {
    char buffer[kLargestFrame];
    FrameBuilder frame(buffer, type);
    fill(frame);
    out.add(static_cast<std::uint16_t>(type),
            {buffer + sizeof(FrameHeader), frame.size() - sizeof(FrameHeader)});
  };
  const auto call = [](FrameBuilder& frame, bool with_origins) {
    frame.u32(17).text("flash_ref_rotary").u64(99).u64(1000000000).u32(1);
    frame.text("x").u32(kOperandPresent | kOperandShapeKnown).u32(0x22001).u64(0x20).u32(0).u32(1).u32(0);
    frame.u32(2).u64(4).u64(8);
    frame.u32(2).u32(5).u64(0x2222).u32(0).u64(0x9999);
    frame.u32(1).text("model.py").text("forward").u32(7).u32(1);
    if (with_origins) frame.u32(1).u32(0).u32(0x20201).u32(17).u32(0).u32(0).u32(0).u32(1);
  };
  add(FrameType::kProcess, [](FrameBuilder& f) {
    f.u32(42).u32(1).u64(7).u32(3).text("node").text("/bin/x").text("x -y").text("0.1.0").u64(5).u32(1);
  });
  add(FrameType::kModule, [](FrameBuilder& f) {
    f.u32(5).u64(0x1000).u64(0x2000).u64(0x3000).text("id").u64(9).u64(10).text("/bin/x");
  });
  add(FrameType::kKernel, [](FrameBuilder& f) { f.text("flash_ref_rotary").u32(5).u64(0x2100); });
  add(FrameType::kLibrary, [](FrameBuilder& f) { f.text("flash_ref").u32(5).u64(0x2100).u32(1); });
  add(FrameType::kSite, [&](FrameBuilder& f) { call(f, false); });
  add(FrameType::kFinding, [&](FrameBuilder& f) { call(f, true); });
  add(FrameType::kCount, [](FrameBuilder& f) { f.u32(17).u64(8); });
  add(FrameType::kCalls, [](FrameBuilder& f) { f.text("flash_ref_rotary").u64(80); });
  add(FrameType::kLaunch, [&](FrameBuilder& f) {
    f.u32(1).text("fmha_cutlassF_bf16_aligned_64x64_rf_sm80").u64(9).u64(9).u32(0).u32(0).u32(0);
  });
  add(FrameType::kLaunches, [](FrameBuilder& f) { f.u32(1).u64(30); });
  add(FrameType::kSource, [](FrameBuilder& f) { f.text("cupti").u32(1).text("").u64(3).u64(4); });
  add(FrameType::kNote, [](FrameBuilder& f) { f.text("a note"); });
  add(FrameType::kExec, [](FrameBuilder& f) { f.text("/bin/y").u64(2000); });
  add(FrameType::kClose, [](FrameBuilder& f) { f.u64(1).u64(2).u64(3000); });
  return out.bytes;
}

}  // namespace dtype_guard::san
