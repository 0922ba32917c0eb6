#include "rules/report/shown_frames.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "rules/report/format.h"
#include "sample_report.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

const StackFrame kSdpa = {
    "c++", "at::_ops::scaled_dot_product_attention::call", "", 0, "/p/torch/lib/libtorch_cpu.so", 16};
const StackFrame kBinding = {"c++", "", "", 0, "/p/torch/lib/libtorch_python.so", 32};
const StackFrame kForward = {"python", "Attend.forward", "model.py", 12, "", 0};
const StackFrame kExtension = {"c++", "mine::attend(at::Tensor)", "mine.cpp", 7, "/p/mine.so", 48};
const StackFrame kStart = {"c", "__libc_start_main", "", 0, "/lib/libc.so.6", 64};

Report with_stack(std::vector<StackFrame> stack) {
  Report report = test::runtime_report();
  report.findings[0].backtrace = std::move(stack);
  report.findings[0].stacks.clear();
  return report;
}

std::string written(const Report& report, std::string_view format, Frames frames) {
  std::ostringstream out;
  find_format(format)->write(out, report, {.frames = frames});
  return out.str();
}

}  // namespace

TEST_CASE("native frames between Python's are one row, in the order of the stack") {
  const std::vector<StackFrame> stack = {kSdpa, kSdpa, kBinding, kForward, kExtension, kForward, kStart};
  const std::vector<FrameRow> rows = shown_frames(stack, Frames::kFolded);
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].frame == nullptr);
  CHECK(folded_text(rows[0]) == "3 frames of libtorch_cpu.so, libtorch_python.so");
  CHECK((rows[1].frame == &stack[3] && rows[1].first == 3));
  CHECK(rows[2].frame == &stack[4]);  // code of the user's, with its line
  CHECK(rows[3].frame == &stack[5]);
  CHECK((rows[4].first == 6 && folded_text(rows[4]) == "1 frame of libc.so.6"));
}

TEST_CASE("PyTorch's own frames are folded where it was built with lines too") {
  StackFrame with_line = kSdpa;
  with_line.file = "aten/src/ATen/Functions.h", with_line.line = 9;
  CHECK(shown_frames({with_line, kForward}, Frames::kFolded)[0].frame == nullptr);
}

TEST_CASE("all frames are shown where they are asked for, and where Python has none") {
  for (const FrameRow& row : shown_frames({kSdpa, kBinding, kForward}, Frames::kAll))
    CHECK(row.frame != nullptr);
  for (const FrameRow& row : shown_frames({kSdpa, kExtension, kStart}, Frames::kFolded))
    CHECK(row.frame != nullptr);
  CHECK(shown_frames({}, Frames::kFolded).empty());
}

TEST_CASE("formats with stacks fold them alike, and JSON has all") {
  const Report report = with_stack({kSdpa, kBinding, kForward});
  const std::string row = "2 frames of libtorch_cpu.so, libtorch_python.so";
  CHECK(written(report, "text", Frames::kFolded)
            .find("    #0 " + row + " (--frames all shows them)\n    #2 Attend.forward") !=
        std::string::npos);
  const std::string all = written(report, "text", Frames::kAll);
  CHECK(all.find(row) == std::string::npos);
  CHECK(all.find("    #1 ?? in /p/torch/lib/libtorch_python.so (+0x20)\n") != std::string::npos);

  const auto frames_of = [](const std::string& sarif) {
    return nlohmann::json::parse(sarif)["runs"][0]["results"][0]["stacks"][0]["frames"];
  };
  const nlohmann::json folded = frames_of(written(report, "sarif", Frames::kFolded));
  REQUIRE(folded.size() == 2);
  CHECK(folded[0]["location"]["message"]["text"] == row);
  CHECK(folded[1]["location"]["physicalLocation"]["region"]["startLine"] == 12);
  CHECK(frames_of(written(report, "sarif", Frames::kAll)).size() == 3);

  CHECK(written(report, "html", Frames::kFolded).find("\"folded\":\"" + row) != std::string::npos);
  CHECK(written(report, "html", Frames::kAll).find("\"folded\":\"" + row) == std::string::npos);
  CHECK(written(report, "json", Frames::kFolded) == written(report, "json", Frames::kAll));
}
