#include "analyzer/driver/suppressions.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

namespace dtype_guard::driver {

namespace {

struct Comment {
  bool every_rule = false;
  std::vector<std::string> rules;  // without prefix
  std::string reason;
  bool accepts(const std::string& rule) const {
    return every_rule || std::find(rules.begin(), rules.end(), rule) != rules.end();
  }
};

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r:-");
  const std::size_t end = text.find_last_not_of(" \t\r*/");
  return begin == std::string::npos || end == std::string::npos || end < begin
             ? ""
             : text.substr(begin, end - begin + 1);
}

// The comment of that keyword in a line, if it speaks of dtype-guard's rules or of all.
std::optional<Comment> comment_in(const std::string& line, const std::string& keyword) {
  const std::size_t slashes = std::min(line.find("//"), line.find("/*"));
  if (slashes == std::string::npos) return std::nullopt;
  const std::size_t at = line.find(keyword, slashes);
  if (at == std::string::npos) return std::nullopt;
  std::size_t next = at + keyword.size();
  if (next < line.size() && std::isalnum(static_cast<unsigned char>(line[next]))) return std::nullopt;
  Comment comment;
  if (next < line.size() && line[next] == '(') {
    const std::size_t close = line.find(')', next);
    if (close == std::string::npos) return std::nullopt;
    std::istringstream list(line.substr(next + 1, close - next - 1));
    for (std::string each; std::getline(list, each, ',');) {
      const std::size_t begin = each.find_first_not_of(' ');
      if (begin == std::string::npos) continue;
      each = each.substr(begin, each.find_last_not_of(' ') - begin + 1);
      if (each == "*" || each == "dtype-*") comment.every_rule = true;
      if (each.starts_with("dtype-")) comment.rules.push_back(each.substr(6));
    }
    next = close + 1;
  } else {
    comment.every_rule = true;
  }
  if (!comment.every_rule && comment.rules.empty()) return std::nullopt;
  comment.reason = trimmed(line.substr(next));
  return comment;
}

class SourceLines {
 public:
  explicit SourceLines(std::string root) : root_(std::move(root)) {}
  std::string line(const std::string& file, int number) {
    std::vector<std::string>& lines = read(file);
    return number >= 1 && static_cast<std::size_t>(number) <= lines.size()
               ? lines[static_cast<std::size_t>(number) - 1]
               : std::string();
  }

 private:
  std::vector<std::string>& read(const std::string& file) {
    const auto [at, fresh] = files_.try_emplace(file);
    if (fresh) {
      std::ifstream in(std::filesystem::path(root_) / file);
      for (std::string each; std::getline(in, each);) at->second.push_back(each);
    }
    return at->second;
  }
  std::string root_;
  std::map<std::string, std::vector<std::string>> files_;
};

std::optional<Suppression> suppression_at(SourceLines& lines, const SourceLocation& location,
                                          const Finding& finding) {
  const auto accepts = [&](const std::optional<Comment>& comment) {
    if (!comment) return false;
    return comment->accepts(finding.rule) ||
           std::any_of(finding.also_rules.begin(), finding.also_rules.end(),
                       [&](const std::string& rule) { return comment->accepts(rule); });
  };
  const auto here = comment_in(lines.line(location.file, location.line), "NOLINT");
  if (accepts(here)) return Suppression{"comment", here->reason, location.line};
  const auto before = comment_in(lines.line(location.file, location.line - 1), "NOLINTNEXTLINE");
  if (accepts(before)) return Suppression{"comment", before->reason, location.line - 1};
  return std::nullopt;
}

}  // namespace

void apply_suppressions(std::vector<Finding>& findings, const std::string& root) {
  SourceLines lines(root);
  for (Finding& finding : findings) {
    finding.suppression = suppression_at(lines, finding.location, finding);
    for (const Sink& sink : finding.sinks) {
      if (!finding.suppression) finding.suppression = suppression_at(lines, sink.location, finding);
    }
  }
}

}  // namespace dtype_guard::driver
