#include "analyzer/driver/file_summary.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyzer/driver/version.h"
#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/settings/tables.h"
#include "rules/data/embedded.h"
#include "rules/files/input_file.h"

namespace dtype_guard::driver {

namespace {

constexpr std::string_view kMagic = "dtype-lint summary ";
constexpr std::string_view kFormat = "3";
constexpr std::string_view kEnd = "// end ";
constexpr std::array<std::string_view, 3> kOutcomes = {"read", "crashed", "timed-out"};
constexpr const char* kAgain = "write it again with --emit-summary";

std::string checksum(std::string_view text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

nlohmann::json header(const FileSummary& summary, const std::string& rules) {
  nlohmann::json errors = nlohmann::json::array();
  for (const source::SourceError& each : summary.errors) {
    errors.push_back(
        {{"file", each.file}, {"line", each.line}, {"column", each.column}, {"message", each.message}});
  }
  return {{"tool", kVersion},
          {"llvm", clang_front_end::llvm_version()},
          {"rules", rules},
          {"root", summary.root},
          {"source", summary.source},
          {"torch", summary.torch_version},
          {"outcome", kOutcomes.at(static_cast<std::size_t>(summary.outcome))},
          {"errors", std::move(errors)},
          {"hashes", summary.hashes}};
}

// The line that `text` begins with; `text` is what follows it.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.size(), text.find('\n'));
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return line;
}

[[noreturn]] void damaged(const std::string& file, const std::string& how) {
  throw SummaryError(fmt::format("'{}' is damaged: {}; {}", file, how, kAgain));
}

// What stands between the first line and the last.
std::string_view checked_body(std::string_view text, const std::string& file) {
  std::string_view rest = text;
  const std::string_view first = next_line(rest);
  if (!first.starts_with(kMagic)) {
    throw SummaryError(fmt::format(
        "'{}' is not a summary: its first line is not '{}{}'; name files that --emit-summary wrote", file,
        kMagic, kFormat));
  }
  if (first.substr(kMagic.size()) != kFormat) {
    throw SummaryError(fmt::format("'{}' has summary format {}, this dtype-lint reads format {}; {}", file,
                                   first.substr(kMagic.size()), kFormat, kAgain));
  }
  const std::size_t end = text.rfind(kEnd);
  if (end == std::string_view::npos || end == 0 || text[end - 1] != '\n')
    damaged(file, "its last line is missing");
  std::string_view last = text.substr(end + kEnd.size());
  if (next_line(last) != checksum(text.substr(0, end)) || !last.empty())
    damaged(file, "its checksum does not fit");
  rest.remove_suffix(text.size() - end);
  return rest;
}

void check_writer(const nlohmann::json& head, const std::string& file, const std::string& rules) {
  const auto same = [&](const char* member, const std::string& own, const char* what) {
    const std::string found = head.at(member).get<std::string>();
    if (found == own) return;
    throw SummaryError(fmt::format("'{}' was written with {} {}, this dtype-lint has {}; {}", file, what,
                                   found, own, kAgain));
  };
  same("tool", kVersion, "dtype-lint");
  same("llvm", clang_front_end::llvm_version(), "LLVM");
  same("rules", rules, "the rules and contracts");
}

}  // namespace

std::string summary_text(const FileSummary& summary, const std::string& rules) {
  std::string text = fmt::format("{}{}\n", kMagic, kFormat);
  text += header(summary, rules).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  text += flow::print(summary.module);
  if (!text.ends_with('\n')) text += '\n';
  return text + fmt::format("{}{}\n", kEnd, checksum(text));
}

FileSummary parse_summary(std::string_view text, const std::string& file, const std::string& rules) {
  std::string_view body = checked_body(text, file);
  FileSummary summary;
  try {
    const nlohmann::json head = nlohmann::json::parse(next_line(body));
    check_writer(head, file, rules);
    head.at("root").get_to(summary.root);
    head.at("source").get_to(summary.source);
    head.at("torch").get_to(summary.torch_version);
    const auto outcome = std::find(kOutcomes.begin(), kOutcomes.end(), head.at("outcome").get<std::string>());
    if (outcome == kOutcomes.end()) damaged(file, "its outcome is none that is known");
    summary.outcome = static_cast<FileSummary::Outcome>(outcome - kOutcomes.begin());
    for (const nlohmann::json& each : head.at("errors")) {
      summary.errors.push_back({each.at("file").get<std::string>(), each.at("line").get<int>(),
                                each.at("column").get<int>(), each.at("message").get<std::string>()});
    }
    head.at("hashes").get_to(summary.hashes);
    summary.module = flow::parse(body);
  } catch (const nlohmann::json::exception& error) {
    damaged(file, error.what());
  } catch (const flow::TextError& error) {
    damaged(file, error.what());
  }
  return summary;
}

std::map<std::string, std::string> hashes_now(const FileSummary& summary) {
  std::map<std::string, std::string> out;
  const auto add = [&](const std::string& file) {
    if (file.starts_with('/')) return;
    const InputFile input = read_input(std::filesystem::path(summary.root) / file);
    if (input.found.empty()) out[file] = checksum(input.text);
  };
  add(summary.source);
  for (const std::string& file : summary.module.files) add(file);
  return out;
}

std::string rules_hash(const std::vector<std::string>& contract_texts) {
  std::string all;
  const auto add = [&](std::span<const EmbeddedFile> files) {
    for (const EmbeddedFile& each : files) all += fmt::format("{}\n{}\n", each.name, each.text);
  };
  add(embedded_operators());
  add(embedded_contracts());
  add(embedded_flow_tables());
  for (const std::string& text : contract_texts) all += text + "\n";
  return checksum(all);
}

}  // namespace dtype_guard::driver
