// The catalog: what each rule says and why it matters. One Markdown file per rule in this folder is the only
// home of its id, summary, explanation and examples; --explain, --list-rules and the README's table are read
// from it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dtype_guard {

struct Rule {
  std::string id;       // "attention-mixed-dtypes"; stable
  std::string summary;  // one line, lower case, no full stop
  std::string text;     // the Markdown page, without its front matter
};

// The paragraphs below "## HEADING" up to the next heading, without the blank lines around them; empty when
// there is no such section.
std::string_view section(const Rule& rule, std::string_view heading);

// In order of precedence: when several rules fit one finding, the first is reported and the others are
// also_rules.
const std::vector<Rule>& catalog();
// The place of a rule in that order; behind all of them for an id that is none.
std::size_t precedence(std::string_view id);
void order_by_precedence(std::vector<std::string>& ids);
const Rule* find_rule(std::string_view id);
// The known id closest to a misspelt one, for error messages; empty when none is near.
std::string nearest_rule(std::string_view id);

}  // namespace dtype_guard
