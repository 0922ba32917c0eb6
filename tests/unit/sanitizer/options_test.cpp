// DTYPE_SAN_OPTIONS as both the library and the command read it.
#include "sanitizer/settings/options.h"

#include <string>
#include <vector>

#include "tests/catch.h"

using namespace dtype_guard::san;

namespace {

struct Parsed {
  Options options;
  std::vector<std::string> complaints;
  explicit Parsed(std::string_view text) {
    parse_options(
        text, options,
        [](void* self, std::string_view message) {
          static_cast<Parsed*>(self)->complaints.emplace_back(message);
        },
        this);
  }
};

}  // namespace

TEST_CASE("defaults") {
  Parsed parsed("");
  CHECK(parsed.complaints.empty());
  CHECK(parsed.options.enabled);
  CHECK_FALSE(parsed.options.halt_on_error);
  CHECK(parsed.options.stack_depth == 32);
  CHECK(parsed.options.journal.empty());
  CHECK(parsed.options.color == Choice::kAuto);
}

TEST_CASE("keys, later ones win, empty parts are skipped") {
  Parsed parsed(":stack_depth=5::halt_on_error=yes:color=never:stack_depth=7:journal=/tmp/a b:exitcode=9:");
  CHECK(parsed.complaints.empty());
  CHECK(parsed.options.stack_depth == 7);
  CHECK(parsed.options.halt_on_error);
  CHECK(parsed.options.color == Choice::kNever);
  CHECK(parsed.options.journal.view() == "/tmp/a b");
  CHECK(parsed.options.exitcode == 9);
}

TEST_CASE("quotes keep colons") {
  Parsed parsed("journal=\"/a:b\":log_path='/c:\"d':exitcode=3");
  CHECK(parsed.complaints.empty());
  CHECK(parsed.options.journal.view() == "/a:b");
  CHECK(parsed.options.log_path.view() == "/c:\"d");
  CHECK(parsed.options.exitcode == 3);
}

TEST_CASE("mistakes are named and the rest is used") {
  auto complaint = [](std::string_view text) {
    Parsed parsed(text);
    REQUIRE(parsed.complaints.size() == 1);
    return parsed.complaints[0];
  };
  CHECK(complaint("haltonerror=1") ==
        "unknown option 'haltonerror', did you mean 'halt_on_error'? (help=1 lists them)");
  CHECK(complaint("zzzzzzzzzzzz=1") == "unknown option 'zzzzzzzzzzzz' (help=1 lists them)");
  CHECK(complaint("enabled=maybe") == "option 'enabled' is 'maybe', expected 0 or 1");
  CHECK(complaint("stack_depth=129") == "option 'stack_depth' is '129', expected a number from 1 to 128");
  CHECK(complaint("stack_depth=") == "option 'stack_depth' is '', expected a number from 1 to 128");
  CHECK(complaint("stack_depth=-1") == "option 'stack_depth' is '-1', expected a number from 1 to 128");
  CHECK(complaint("exitcode=99999999999999999999") ==
        "option 'exitcode' is '99999999999999999999', expected a number from 0 to 255");
  CHECK(complaint("color=red") == "option 'color' is 'red', expected auto, always or never");
  CHECK(complaint("verbosity") == "option 'verbosity' is '', expected key=value");
  CHECK(complaint("journal='/a") == "option 'journal' is '/a', expected a closing quote");
  CHECK(complaint("journal=" + std::string(2000, 'x')).find("expected at most 1023 characters") !=
        std::string::npos);
  Parsed parsed("bogus=1:stack_depth=9");
  CHECK(parsed.options.stack_depth == 9);
}

TEST_CASE("help lists every option with its default") {
  std::string text;
  describe_options(
      [](void* all, std::string_view line) { *static_cast<std::string*>(all) += std::string(line) + "\n"; },
      &text);
#define DTYPE_SAN_OPTION(kind, name, value, low, high, description) \
  CHECK(text.find("  " #name "=") != std::string::npos);
#include "sanitizer/settings/options.inc"
#undef DTYPE_SAN_OPTION
  CHECK(text.find("stack_depth=32") != std::string::npos);
}

TEST_CASE("path patterns") {
  TextBuffer<64> out;
  expand_path("a.%p-%h-%r-%%-%x-%", 12, "node", "3", out);
  CHECK(out.view() == "a.12-node-3-%-%x-%");
}

TEST_CASE("text that does not fit is cut") {
  TextBuffer<6> out;
  out << "abc" << std::uint64_t{12345};
  CHECK(out.view() == "abc12");
}
