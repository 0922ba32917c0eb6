// Of a file that an editor's user has changed, what is another than before.
#include "analyzer/flow/program/changed_functions.h"

#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/program/link.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

using Texts = std::vector<std::string>;

std::string function(const std::string& key, int line, const std::string& body,
                     const std::string& owner = "") {
  const std::string at = "a.py:" + std::to_string(line) + ":";
  return (owner.empty() ? "\nfunction " + key : "\nmethod " + key + " of " + owner) + " ; " + at + "1-" +
         std::to_string(line) + ":7\n  parameter x: tensor\nb0:\n  %1 = param 0\n" + body + "  return %1\n";
}

std::string file(const std::string& name) { return "file \"" + name + "\"\n"; }

const std::string kOther =
    "file \"b.py\"\n\nfunction other ; b.py:1:1-1:7\n  parameter x: tensor\nb0:\n"
    "  %1 = param 0\n  return %1\n";

// Keys of what has changed in the program of `now` and another file.
Texts changed(const std::string& before, const std::string& now) {
  ChangedFunctions out;
  out.add("a.py", parse(before), parse(now));
  const Module linked = link({parse(now), parse(kOther)});
  Texts keys;
  for (const std::uint32_t each : out.in(linked, {"a.py", "b.py"}))
    keys.push_back(linked.functions[each].key);
  return keys;
}

const std::string kCall = "  %2 = call g(%1) ; a.py:3:1-3:3\n";
const std::string kLower = "  %2 = call g(%1) ; a.py:4:1-4:3\n";

}  // namespace

TEST_CASE("a function whose body, place or signature differs has changed, and no other") {
  const std::string before = file("a.py") + function("f", 1, kCall) + function("g", 9, "");
  CHECK(changed(before, before).empty());
  CHECK(changed(before, file("a.py") + function("f", 1, "") + function("g", 9, "")) == Texts{"f"});
  CHECK(changed(before, file("a.py") + function("f", 1, kLower) + function("g", 9, "")) == Texts{"f"});
  CHECK(changed(before, file("a.py") + function("f", 1, kCall) + function("g", 10, "")) == Texts{"g"});
  CHECK(changed(before, file("a.py") + function("f", 1, kCall) + function("g", 9, "") +
                            function("h", 12, "")) == Texts{"h"});
}

TEST_CASE("with a method all of its class have changed") {
  const std::string others =
      function("B_f", 5, "", "B") + function("A_g", 9, "", "A") + function("f", 12, "");
  CHECK(changed(file("a.py") + function("A_f", 1, kCall, "A") + others,
                file("a.py") + function("A_f", 1, "", "A") + others) == Texts{"A_f", "A_g"});
}

TEST_CASE("what is known of a class bears on functions that are as they were") {
  const std::string before = file("a.py") + function("f", 1, kCall) + function("A_g", 9, "", "A");
  Module now = parse(before);
  now.classes.push_back({"A", {"Base"}, {}, {}, {}, false, {}, {}, {}});
  ChangedFunctions out;
  out.add("a.py", parse(before), now);
  CHECK(out.in(link({now, parse(kOther)}), {"a.py", "b.py"}) == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("of what is gone its callers are found in the program that had it") {
  const std::string before = file("a.py") + function("f", 1, kCall) + function("g", 9, "");
  const std::string now = file("a.py") + function("f", 1, kCall);
  CHECK(changed(before, now).empty());
  ChangedFunctions out;
  out.add("a.py", parse(before), parse(now));
  const Module old = link({parse(before), parse(kOther)});
  CHECK(out.in(old, {"a.py", "b.py"}) == std::vector<std::uint32_t>{1});
}

TEST_CASE("whether functions came or went") {
  const std::string before = file("a.py") + function("f", 1, kCall) + function("g", 9, "");
  const auto are_bodies = [&](const std::string& now) {
    ChangedFunctions out;
    out.add("a.py", parse(before), parse(file("a.py") + now));
    return out.are_bodies();
  };
  CHECK(are_bodies(function("f", 2, "") + function("g", 10, kLower)));
  CHECK_FALSE(are_bodies(function("f", 1, kCall)));
  CHECK_FALSE(are_bodies(function("g", 9, "") + function("f", 1, kCall)));
  CHECK_FALSE(are_bodies(function("f", 1, kCall) + function("g", 9, "") + function("h", 12, "")));
}

TEST_CASE("a file that is not known as it was has changed as a whole") {
  ChangedFunctions out;
  CHECK(out.are_bodies());
  out.add("b.py");
  CHECK_FALSE(out.are_bodies());
  const Module linked = link({parse(file("a.py") + function("f", 1, "")), parse(kOther)});
  CHECK(out.in(linked, {"a.py", "b.py"}) == std::vector<std::uint32_t>{1});
}

}  // namespace dtype_guard::flow
