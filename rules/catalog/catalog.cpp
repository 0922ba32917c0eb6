#include "rules/catalog/catalog.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "rules/data/embedded.h"
#include "rules/text/nearest_name.h"

namespace dtype_guard {
namespace {

struct Page {
  Rule rule;
  int precedence = 0;
};

// The pages are ours and compiled in: a broken one is a defect of the build, found by the first test that
// runs.
std::string front_matter(std::string_view text, std::string_view file, std::string_view key) {
  const std::string_view head = text.substr(0, text.find("\n---\n"));
  std::string start = "\n";
  start.append(key).append(": ");
  const std::size_t at = head.find(start);
  if (at == std::string_view::npos) {
    throw std::logic_error("rules/catalog/" + std::string(file) + " has no \"" + std::string(key) + "\"");
  }
  const std::string_view rest = head.substr(at + start.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

Page read_page(const EmbeddedFile& file) {
  Page page;
  page.rule.id = front_matter(file.text, file.name, "id");
  page.rule.summary = front_matter(file.text, file.name, "summary");
  const std::string precedence = front_matter(file.text, file.name, "precedence");
  std::from_chars(precedence.data(), precedence.data() + precedence.size(), page.precedence);
  const std::size_t body = file.text.find("\n---\n");
  page.rule.text = file.text.substr(file.text.find_first_not_of("-\n", body));
  return page;
}

}  // namespace

std::string_view section(const Rule& rule, std::string_view heading) {
  const std::string title = "\n## " + std::string(heading) + "\n";
  const std::string_view page = rule.text;
  const std::size_t at = page.find(title);
  if (at == std::string_view::npos) return {};
  std::string_view text = page.substr(at + title.size());
  text = text.substr(0, text.find("\n## "));
  const std::size_t first = text.find_first_not_of('\n');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of('\n') + 1 - first);
}

const std::vector<Rule>& catalog() {
  static const std::vector<Rule> rules = [] {
    std::vector<Page> pages;
    for (const EmbeddedFile& file : embedded_catalog()) pages.push_back(read_page(file));
    std::sort(pages.begin(), pages.end(),
              [](const Page& a, const Page& b) { return a.precedence < b.precedence; });
    std::vector<Rule> made;
    for (Page& page : pages) made.push_back(std::move(page.rule));
    return made;
  }();
  return rules;
}

std::size_t precedence(std::string_view id) {
  const std::vector<Rule>& rules = catalog();
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.id == id; });
  return static_cast<std::size_t>(found - rules.begin());
}

void order_by_precedence(std::vector<std::string>& ids) {
  std::stable_sort(ids.begin(), ids.end(),
                   [](const std::string& a, const std::string& b) { return precedence(a) < precedence(b); });
}

const Rule* find_rule(std::string_view id) {
  for (const Rule& rule : catalog()) {
    if (rule.id == id) return &rule;
  }
  return nullptr;
}

std::string nearest_rule(std::string_view id) {
  std::vector<std::string> ids;
  for (const Rule& rule : catalog()) ids.push_back(rule.id);
  return nearest_name(id, ids);
}

}  // namespace dtype_guard
