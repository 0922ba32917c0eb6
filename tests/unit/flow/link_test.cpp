// Several source files joined into one program: what a call of one reaches in another, and what it must not.
#include "analyzer/flow/program/link.h"

#include "analyzer/flow/engine/interpreter/engine.h"
#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/roots/all_roots.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

Module linked(const std::vector<std::string>& texts) {
  std::vector<Module> modules;
  for (const std::string& each : texts) modules.push_back(parse(each));
  return link(std::move(modules));
}

std::vector<std::string> keys(const Module& module) {
  std::vector<std::string> out;
  for (const Function& each : module.functions) out.push_back(each.key);
  return out;
}

// The keys that the functions call, in order.
std::vector<std::string> calls(const Module& module) {
  std::vector<std::string> out;
  for (const Function& function : module.functions) {
    for (const Block& block : function.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.op == Op::kCall) out.push_back(function.key + " -> " + each.name);
      }
    }
  }
  return out;
}

std::vector<std::string> roots(const Module& module) {
  std::vector<std::string> out;
  const Program program(module);
  for (const std::uint32_t each : all_roots(program)) out.push_back(module.functions[each].key);
  return out;
}

using Words = std::vector<std::string>;
constexpr const char* kInline =
    "file \"h.h\"\n\nfunction helper ; h.h:3:1-3:7\n  parameter x: tensor\nb0:\n  %1 = param 0\n  return "
    "%1\n";

std::string user(const std::string& name, const std::string& more = "") {
  return "\nfunction " + name + more +
         "\n  parameter x: tensor\nb0:\n  %1 = param 0\n  %2 = call helper(%1)\n" + "  return %2\n";
}

}  // namespace

TEST_CASE("a definition that several files have is one, whatever their tables of files") {
  const Module module = linked({kInline + user("a"), "file \"b.cpp\"\n" + (kInline + user("b"))});
  CHECK(keys(module) == Words{"helper", "a", "b"});
  CHECK(calls(module) == Words{"a -> helper", "b -> helper"});
  CHECK(module.functions[0].units == std::vector<std::uint32_t>{0, 1});
  CHECK(module.files == Words{"h.h", "b.cpp"});
}

TEST_CASE("a call reaches the other file's definition") {
  const Module module = linked({"file \"a.cpp\"\n" + user("a"), kInline});
  CHECK(calls(module) == Words{"a -> helper"});
  CHECK(keys(module) == Words{"a", "helper"});
}

TEST_CASE("two definitions of one key: each file calls its own, others call neither") {
  const std::string other =
      "file \"b.cpp\"\n\nfunction helper ; b.cpp:9:1-9:7\n  parameter x: tensor\nb0:\n  return\n";
  const Module module = linked({kInline + user("a"), other + user("b"), "file \"c.cpp\"\n" + user("c")});
  CHECK(keys(module) == Words{"helper#0", "a", "helper#1", "b", "c"});
  CHECK(calls(module) == Words{"a -> helper#0", "b -> helper#1", "c -> helper"});
}

TEST_CASE("equal text that calls different functions is two functions") {
  const std::string other = "file \"b.cpp\"\n\nfunction helper ; b.cpp:9:1-9:7\nb0:\n  return\n";
  const Module module = linked({kInline + user("shared"), other + user("shared")});
  CHECK(calls(module) == Words{"shared#0 -> helper#0", "shared#1 -> helper#1"});
}

TEST_CASE("a virtual function that another file overrides is not called by name") {
  const Module module = linked({kInline + user("a"), "file \"b.cpp\"\noverridden helper\n" + user("b")});
  CHECK(calls(module) == Words{"a -> helper@overridden", "b -> helper"});  // b knows, and names it
  CHECK(module.overridden == Words{"helper"});
}

TEST_CASE("what main calls takes its inputs from there, other files' functions do not") {
  const std::string program = "file \"m.cpp\"\n" + user("main", " main") + user("local");
  CHECK(roots(linked({program})) == Words{"main", "local"});  // which main does not call
  CHECK(roots(linked({program, kInline + user("library")})) == Words{"main", "local", "helper", "library"});
  CHECK(roots(linked({kInline + program})) == Words{"main", "local"});
  CHECK(roots(linked({kInline + program, kInline})) == Words{"helper", "main", "local"});
}

TEST_CASE("a class's constructors are those of the file, else those of the one class of that name") {
  const auto constructor = [](const std::string& key) {
    return "file \"c.cpp\"\n\nconstructor C key " + key + " of C\nb0:\n  return\n";
  };
  const Module two = linked({constructor("one"), constructor("other"), "file \"u.cpp\"\n" + user("u")});
  const FunctionIndex index(two);
  CHECK(index.constructors("C", 0) == std::vector<std::uint32_t>{0});
  CHECK(index.constructors("C", 1) == std::vector<std::uint32_t>{1});
  CHECK(index.constructors("C", 2).empty());
  const Module one = linked({constructor("one"), "file \"u.cpp\"\n" + user("u")});
  CHECK(FunctionIndex(one).constructors("C", 1) == std::vector<std::uint32_t>{0});
}

}  // namespace dtype_guard::flow
