#include "sample_report.h"

#include <string>

namespace dtype_guard::test {
namespace {

SourceLocation at(int line, int column, int end_column, std::string function) {
  return {"model.cpp", line, column, line, end_column, std::move(function)};
}

Finding promotion() {
  Finding f;
  f.rule = "attention-implicit-promotion";
  f.also_rules = {"attention-mixed-dtypes"};
  f.message = "q becomes float32 here and reaches flash_ref_attention_fwd, which accepts float16 or bfloat16";
  f.observed = {"static"};
  f.location = at(4, 7, 16, "attend");
  f.api = "flash_ref_attention_fwd";
  f.fingerprint = fingerprint({f.rule, "attend", "mul(q, scale)", f.api});
  f.sinks = {{f.api, "q", at(7, 3, 35, "attend")}};
  f.operands = {{"q", {"float32"}, {"float16", "bfloat16"}, {}, "", 0},
                {"k", {"float16"}, {"float32"}, {}, "", std::nullopt}};
  f.path = {{at(4, 7, 16, "attend"), "mul", "float16", "float32", "q * scale widens", {}},
            {at(7, 27, 28, "attend"), "call", "", "float32", "passed on", {}}};
  f.precision = {"autocast-fp16", "fp16-fp32-buffers"};
  f.torch = {"2.12", "2.13"};
  f.device = "cuda";
  f.fixes = {{"cast scale to q's dtype", true, {{at(4, 11, 16, ""), "scale.to(q.scalar_type())"}}}};
  return f;
}

Finding discarded() {
  Finding f;
  f.rule = "discarded-cast";
  f.level = Level::kWarning;
  f.certainty = Certainty::kPossible;
  f.message = "the result of this cast is not used";
  f.location = at(5, 3, 18, "attend");
  return f;
}

}  // namespace

Report static_report() {
  Report report;
  report.tool = "dtype-lint";
  report.tool_version = "0.1.0";
  report.root = "/nowhere";
  report.findings = {discarded(), promotion(), promotion()};
  report.findings[2].location.line = 9;
  report.findings[2].suppression = Suppression{"comment", "measured, no cost", 8};
  report.not_analysed = {{"broken.cpp", "", "parse-error", "3:1: expected ';'"}};
  report.calls = {{"flash_ref_attention_fwd", {"model.cpp", 12, 3, 12, 20, "forward"}, true, 4, {}},
                  {"flash_ref_rotary", {"model.cpp", 15, 3, 15, 20, "forward"}, true, 3, {"cos"}}};
  report.unseen = {{"LlamaAttention", {"model.cpp", 20, 5, 20, 19, "forward"}, "library", "transformers"}};
  report.files = {"model.cpp", "other.cpp"};
  report.files_analysed = 2;
  normalise(report);
  return report;
}

Report runtime_report() {
  Finding f;
  f.rule = "attention-mixed-dtypes";
  f.message = "q is float32, but k is float16";
  f.observed = {"runtime"};
  f.runtime = "confirmed";
  f.location = {"model.cpp", 7, 0, 0, 0, "attend"};
  f.api = "flash_ref_attention_fwd";
  f.operands = {{"q", {"float32"}, {"float16", "bfloat16"}, {1, 16, 8, 64}, "cpu", std::nullopt},
                {"k", {"float16"}, {"float32"}, {1, 16, 8, 64}, "cpu", std::nullopt}};
  f.backtrace = {{"c++", "attend(at::Tensor)", "model.cpp", 7, "model", 0x11a0},
                 {"c++", "", "", 0, "/usr/lib/libc.so.6", 0x27000}};
  f.stacks = {{"forward", {{"python", "Model.forward", "model.py", 12, "", 0}}}};
  f.count = 12;
  f.occurrences = {{"node1", 0, 100, 101, "2026-01-01T00:00:00Z", 8, {"float32", "float16"}},
                   {"node1", std::nullopt, 102, 103, "2026-01-01T00:00:01Z", 4, {"float32", "float16"}}};
  Report report;
  report.tool = "dtype-san";
  report.tool_version = "0.1.0";
  report.root = "/nowhere";
  report.findings = {f};
  Watched watched;
  watched.processes = {{100, "./model", "node1", true}, {102, "./model", "node1", false}};
  watched.libraries = {{"flash_ref", "/opt/lib/libflash_ref.so"}};
  watched.calls = {{"flash_ref_attention_fwd", 12}, {"flash_ref_rotary", 0}};
  watched.sources = {{"flash_ref", true, ""}, {"cupti", false, "no CUDA in this process"}};
  report.watched = watched;
  normalise(report);
  return report;
}

Report baseline_report() {
  Report report = static_report();
  for (Finding& finding : report.findings) finding.suppression.reset();
  report.findings[0].baseline = "unchanged";
  report.findings[1].baseline = "new";
  report.findings[2].baseline = "fixed";
  return report;
}

Report bad_utf8_report() {
  const std::string bad = "<b>\"\\\x80\xff%:,\n\x1b]]></script>\xe2\x28\xa1";
  Report report = static_report();
  for (Finding& f : report.findings) {
    f.message += bad;
    f.location.file = "bad/" + bad;
    f.location.function = bad;
    f.api = bad;
    f.device = bad;
    for (PathStep& step : f.path) {
      step.note = bad;
      step.location.file = bad;
      step.after = bad;
    }
    for (Sink& sink : f.sinks) sink.api = bad;
    for (FindingOperand& operand : f.operands) operand.dtypes = {bad};
    for (Fix& fix : f.fixes) {
      fix.title = bad;
      fix.edits[0].replacement = bad;
      fix.edits[0].range.file = bad;
    }
    if (f.suppression) f.suppression->reason = bad;
  }
  report.not_analysed[0].file = bad;
  report.not_analysed[0].detail = bad;
  return report;
}

Report large_report(std::size_t findings) {
  const std::string rules[] = {"attention-implicit-promotion", "autocast-fp32-operator",
                               "kv-cache-dtype-mismatch", "rotary-dtype-mismatch"};
  Report report = static_report();
  report.findings.clear();
  report.files_analysed = 50;
  for (std::size_t i = 0; i < findings; ++i) {
    Finding f = i % 10 == 3 ? discarded() : promotion();
    const std::string file = "model" + std::to_string(i % 50) + ".cpp";
    if (i % 10 != 3) f.rule = rules[i % 4];
    f.location.file = file;
    f.location.function = "Block" + std::to_string(i % 97) + "::forward";
    f.location.line = static_cast<int>(1 + i / 50);
    f.location.end_line = f.location.line;
    f.fingerprint = fingerprint({f.rule, f.location.function, std::to_string(i), f.api});
    for (PathStep& step : f.path) {
      step.location.file = file;
      step.location.line = step.location.end_line = f.location.line + 3;
    }
    for (Sink& sink : f.sinks) sink.location = f.location;
    if (i % 5 == 0) f.occurrences = {{"node1", static_cast<int>(i % 8), 1, 1, "2026-01-01T00:00:00Z", 1, {}}};
    report.findings.push_back(std::move(f));
  }
  normalise(report);
  return report;
}

}  // namespace dtype_guard::test
