#include "sanitizer/settings/options.h"

#include <cstddef>

namespace dtype_guard::san {
namespace {

constexpr std::size_t kLongestName = 32;

// Levenshtein distance over fixed rows; names longer than the rows never are near a real one.
std::size_t distance(std::string_view a, std::string_view b) {
  if (a.size() > kLongestName || b.size() > kLongestName) return kLongestName;
  std::size_t row[kLongestName + 1];
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t best = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[b.size()];
}

std::string_view nearest_key(std::string_view key) {
  std::string_view nearest;
  std::size_t best = key.size() / 3 + 2;
#define DTYPE_SAN_OPTION(kind, name, value, low, high, description) \
  if (std::size_t d = distance(key, #name); d < best) {             \
    best = d;                                                       \
    nearest = #name;                                                \
  }
#include "sanitizer/settings/options.inc"
#undef DTYPE_SAN_OPTION
  return nearest;
}

struct Problem {
  Complaint complain;
  void* context;
  std::string_view key;
  std::string_view value;

  void operator()(std::string_view expected) const { tell(expected, 0, 0); }
  void range(std::uint64_t low, std::uint64_t high) const { tell("a number from ", low, high); }

 private:
  void tell(std::string_view expected, std::uint64_t low, std::uint64_t high) const {
    TextBuffer<512> message;
    constexpr std::size_t kShown = 100;
    std::string_view shown(value.data(), value.size() < kShown ? value.size() : kShown);
    message << "option '" << key << "' is '" << shown << (shown.size() < value.size() ? "..." : "")
            << "', expected " << expected;
    if (high != 0) message << low << " to " << high;
    complain(context, message.view());
  }
};

void store(Flag& out, std::string_view value, std::uint64_t, std::uint64_t, const Problem& problem) {
  if (value == "1" || value == "true" || value == "yes" || value == "on") {
    out = true;
  } else if (value == "0" || value == "false" || value == "no" || value == "off") {
    out = false;
  } else {
    problem("0 or 1");
  }
}

void store(Number& out, std::string_view value, std::uint64_t low, std::uint64_t high,
           const Problem& problem) {
  std::uint64_t number = 0;
  bool good = !value.empty() && value.size() <= 9;
  for (char c : value) {
    good = good && c >= '0' && c <= '9';
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (!good || number < low || number > high) return problem.range(low, high);
  out = static_cast<Number>(number);
}

void store(Choice& out, std::string_view value, std::uint64_t, std::uint64_t, const Problem& problem) {
  if (value == "auto") {
    out = Choice::kAuto;
  } else if (value == "always") {
    out = Choice::kAlways;
  } else if (value == "never") {
    out = Choice::kNever;
  } else {
    problem("auto, always or never");
  }
}

void store(Switch& out, std::string_view value, std::uint64_t, std::uint64_t, const Problem& problem) {
  if (value == "auto") {
    out = Switch::kAuto;
  } else if (value == "on" || value == "1") {
    out = Switch::kOn;
  } else if (value == "off" || value == "0") {
    out = Switch::kOff;
  } else {
    problem("auto, on or off");
  }
}

void store(Start& out, std::string_view value, std::uint64_t, std::uint64_t, const Problem& problem) {
  if (value == "on") {
    out = Start::kOn;
  } else if (value == "dormant") {
    out = Start::kDormant;
  } else {
    problem("on or dormant");
  }
}

void store(Torch& out, std::string_view value, std::uint64_t, std::uint64_t, const Problem& problem) {
  if (value == "auto") {
    out = Torch::kAuto;
  } else if (value == "off" || value == "0") {
    out = Torch::kOff;
  } else if (value == "calls") {
    out = Torch::kCalls;
  } else if (value == "contracts") {
    out = Torch::kChecks;
  } else if (value == "origins") {
    out = Torch::kOrigins;
  } else {
    problem("auto, off, calls, contracts or origins");
  }
}

void store(Text& out, std::string_view value, std::uint64_t, std::uint64_t, const Problem& problem) {
  if (!out.assign(value)) problem("at most 1023 characters");
}

void store_option(Options& options, std::string_view key, std::string_view value, const Problem& problem) {
#define DTYPE_SAN_OPTION(kind, name, initial, low, high, description) \
  if (key == #name) return store(options.name, value, low, high, problem);
#include "sanitizer/settings/options.inc"
#undef DTYPE_SAN_OPTION
  TextBuffer<256> message;
  message << "unknown option '" << key << "'";
  std::string_view near = nearest_key(key);
  if (!near.empty()) message << ", did you mean '" << near << "'?";
  message << " (help=1 lists them)";
  problem.complain(problem.context, message.view());
}

void write_default(TextSink& out, Flag value) { out << (value ? "1" : "0"); }
void write_default(TextSink& out, Number value) { out << std::uint64_t{value}; }
void write_default(TextSink& out, Choice) { out << "auto"; }
void write_default(TextSink& out, Switch) { out << "auto"; }
void write_default(TextSink& out, Start) { out << "on"; }
void write_default(TextSink& out, Torch) { out << "auto"; }
void write_default(TextSink& out, const Text& value) { out << value.view(); }

}  // namespace

void parse_options(std::string_view text, Options& options, Complaint complain, void* context) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ':') {
      ++at;
      continue;
    }
    std::size_t key_start = at;
    while (at < text.size() && text[at] != '=' && text[at] != ':') ++at;
    std::string_view key(text.data() + key_start, at - key_start);
    if (at == text.size() || text[at] == ':') {
      Problem{complain, context, key, ""}("key=value");
      continue;
    }
    ++at;
    char quote = at < text.size() && (text[at] == '"' || text[at] == '\'') ? text[at] : '\0';
    if (quote != '\0') ++at;
    std::size_t value_start = at;
    while (at < text.size() && text[at] != (quote != '\0' ? quote : ':')) ++at;
    std::string_view value(text.data() + value_start, at - value_start);
    Problem problem{complain, context, key, value};
    if (quote != '\0') {
      if (at == text.size()) {
        problem("a closing quote");
        return;
      }
      ++at;
    }
    store_option(options, key, value, problem);
  }
}

void describe_options(void (*line)(void* context, std::string_view text), void* context) {
  const Options defaults;
#define DTYPE_SAN_OPTION(kind, name, initial, low, high, description) \
  {                                                                   \
    TextBuffer<512> text;                                             \
    text << "  " #name "=";                                           \
    write_default(text, defaults.name);                               \
    while (text.size() < 24) text << ' ';                             \
    text << ' ' << description;                                       \
    line(context, text.view());                                       \
  }
#include "sanitizer/settings/options.inc"
#undef DTYPE_SAN_OPTION
}

void expand_path(std::string_view pattern, std::uint64_t pid, std::string_view host, std::string_view rank,
                 TextSink& out) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'p') out << pid;
    if (next == 'h') out << host;
    if (next == 'r') out << rank;
    if (next == '%') out << '%';
    if (next == 'p' || next == 'h' || next == 'r' || next == '%') {
      ++i;
    } else {
      out << pattern[i];
    }
  }
}

}  // namespace dtype_guard::san
