// One of several linked modules is replaced: the program is what linking all of them again makes of it.
#include "analyzer/flow/program/relink.h"

#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/program/function_index.h"
#include "analyzer/flow/program/link.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

using Texts = std::vector<std::string>;

std::vector<Module> parsed(const Texts& texts) {
  std::vector<Module> out;
  for (const std::string& each : texts) out.push_back(parse(each));
  return out;
}

std::string function(const std::string& key, const std::string& file, int line, const std::string& calls) {
  const std::string at = file + ":" + std::to_string(line) + ":";
  return "\nfunction " + key + " ; " + at + "1-" + std::to_string(line) + ":7\n  parameter x: tensor\nb0:\n" +
         "  %1 = param 0\n  %2 = call " + calls + "(%1) ; " + at + "9-" + std::to_string(line) + ":12\n" +
         "  return %2\n";
}

std::string file(const std::string& name) { return "file \"" + name + "\"\n"; }

// Whether it could be replaced alone; then it must be what link() makes of all.
bool replaced(const Texts& before, std::uint32_t number, const std::string& text) {
  Texts after = before;
  after[number] = text;
  const std::vector<Module> old = parsed(before), now = parsed(after);
  std::vector<const Module*> modules;
  for (const Module& each : now) modules.push_back(&each);
  Module linked = link(parsed(before));
  const FunctionIndex known(linked);
  for (std::uint32_t i = 0; i < linked.functions.size(); ++i) known.callees(i);
  const Module untouched = linked;
  const Module whole = link(parsed(after));
  const std::vector<Function> stood = linked.functions;
  const Relinked relinked = relink(linked, modules, number, old[number]);
  const bool done = relinked.is_done;
  if (relinked.bodies) {
    std::vector<std::uint32_t> differ;
    for (std::uint32_t i = 0; i < stood.size(); ++i) {
      if (linked.functions[i] != stood[i]) differ.push_back(i);
    }
    CHECK(linked.functions.size() == stood.size());
    CHECK(*relinked.bodies == differ);
    const FunctionIndex kept(known, *relinked.bodies), fresh(linked);
    for (std::uint32_t i = 0; i < linked.functions.size(); ++i) {
      CHECK(kept.callees(i) == fresh.callees(i));
      CHECK(kept.find(linked.functions[i].key) == fresh.find(linked.functions[i].key));
    }
  }
  const Module& wanted = done ? whole : untouched;
  CHECK(print(linked) == print(wanted));
  CHECK(linked.functions == wanted.functions);  // what is not printed as well
  CHECK(linked.files == wanted.files);
  CHECK(linked.classes == wanted.classes);
  CHECK(linked.not_lowered == wanted.not_lowered);
  CHECK(linked.overridden == wanted.overridden);
  return done;
}

const Texts kThree = {file("a.py") + function("a_f", "a.py", 3, "b_f"),
                      file("b.py") + function("b_f", "b.py", 3, "c_f") + function("b_g", "b.py", 9, "b_f"),
                      file("c.py") + function("c_f", "c.py", 3, "a_f")};

}  // namespace

TEST_CASE(
    "what is known of other functions stays where bodies differ, and where keys say places that moved") {
  const std::string head = "\nfunction ", tail = "\n  parameter x: tensor\nb0:\n  %1 = param 0\n";
  const auto text = [&](int line, const std::string& called) {
    const std::string at = std::to_string(line);
    return file("b.py") + head + "b_f key \"b_f@" + at + "\" ; b.py:" + at + ":1-" + at + ":7" + tail +
           "  %2 = call \"" + called + "\"(%1) ; b.py:" + at + ":9-" + at + ":12\n  return %2\n";
  };
  const std::string other = file("c.py") + head + "c_f" + " ; c.py:1:1-1:7" + tail + "  return %1\n";
  const Texts two = {text(3, "b_f@3"), other};
  CHECK(replaced(two, 0, text(3, "c_f")));
  CHECK(replaced(two, 0, text(5, "b_f@5")));
  CHECK(replaced(two, 0, text(5, "c_f")));
}

TEST_CASE("a module's functions are replaced where they stood: moved, more of them, fewer, none") {
  CHECK(replaced(kThree, 1,
                 file("b.py") + function("b_f", "b.py", 4, "c_f") + function("b_g", "b.py", 10, "a_f")));
  CHECK(replaced(kThree, 1,
                 file("b.py") + function("b_h", "b.py", 2, "a_f") + kThree[1].substr(file("b.py").size())));
  CHECK(replaced(kThree, 1, file("b.py") + function("b_g", "b.py", 9, "b_f")));
  CHECK(replaced(kThree, 1, file("b.py")));
  CHECK(replaced(kThree, 0, file("a.py") + function("a_f", "a.py", 4, "nowhere")));
  CHECK(replaced(kThree, 2, file("c.py") + function("c_f", "c.py", 4, "b_g")));
  CHECK(replaced({file("a.py"), file("b.py"), file("c.py")}, 1, kThree[1]));
}

TEST_CASE("of two definitions of one key in one module the first stays") {
  CHECK(replaced(kThree, 1,
                 file("b.py") + function("b_f", "b.py", 4, "c_f") + function("b_f", "b.py", 8, "a_f")));
}

TEST_CASE("what another module has as well is linked with it") {
  CHECK_FALSE(replaced(kThree, 1, file("b.py") + function("a_f", "b.py", 4, "c_f")));
  const Texts shared = {kThree[0], kThree[1] + function("shared", "b.py", 20, "b_f"),
                        kThree[2] + function("shared", "c.py", 20, "b_f")};
  CHECK_FALSE(replaced(shared, 1, kThree[1]));
  CHECK(replaced(shared, 0, file("a.py") + function("a_f", "a.py", 5, "shared")));
}

TEST_CASE("a module that reads another file is linked with all") {
  CHECK_FALSE(replaced(kThree, 1, file("b.py") + file("d.py") + function("b_f", "b.py", 4, "c_f")));
}

}  // namespace dtype_guard::flow
