#include "rules/notebook/notebook.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "rules/notebook/ipython.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

std::string notebook(const std::vector<std::string>& cells, bool as_lists = true, int indent = 1) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& each : cells) {
    nlohmann::json lines = nlohmann::json::array();
    for (std::size_t at = 0; at < each.size();) {
      const std::size_t end = std::min(each.find('\n', at), each.size() - 1) + 1;
      lines.push_back(each.substr(at, end - at));
      at = end;
    }
    list.push_back({{"cell_type", "code"},
                    {"metadata", nlohmann::json::object()},
                    {"outputs", nlohmann::json::array()},
                    {"source", as_lists ? lines : nlohmann::json(each)}});
  }
  return nlohmann::json{{"cells", list}, {"nbformat", 4}, {"metadata", nlohmann::json::object()}}.dump(
      indent);
}

// The Python that stands for a cell.
std::string python(const std::string& cell) {
  std::string out;
  std::size_t at = 0;
  for (const NotPython& each : not_python(cell)) {
    REQUIRE(each.begin >= at);
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    CHECK(lines(each.python) == lines(cell.substr(each.begin, each.end - each.begin)));
    out += cell.substr(at, each.begin - at) + each.python;
    at = each.end;
  }
  return out + cell.substr(at);
}

SourceLocation place(int line, int column, int end_line, int end_column) {
  return {"a.ipynb", line, column, end_line, end_column, ""};
}

std::string problem(const std::string& file) {
  try {
    const Notebook read(file);
  } catch (const NotebookError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("what only IPython takes is replaced, in its lines") {
  CHECK(python("%matplotlib inline\nx = 1\n") == "pass\nx = 1\n");
  CHECK(python("if x:\n    !pip install \\\n  torch\ny") == "if x:\n    pass\n\ny");
  CHECK(python("a = !ls *.py\nb = %env HOME") == "a = get_ipython()\nb = get_ipython()");
  CHECK(python("x?\ny = f(x)  # why?\nz.t??\n?z\n/f 1") == "pass\ny = f(x)  # why?\npass\npass\npass");
  CHECK(python("%time y = f(x)\n%timeit -n 3 -q f(x)") == "0; y = f(x)\n0; f(x)");
  CHECK(python("%timeit y = f(x)\n%time for i in x: f(i)\n%time !ls") == "pass\npass\npass");
  CHECK(python("%%time\nx = 1") == "\nx = 1");
  CHECK(python("\n# setup\n%%capture out\nx = 1") == "\n# setup\n\nx = 1");
  CHECK(python("%%bash\nls\necho") == "\n\n");
  CHECK(python("%%timeit\nq = q.float()") == "\n");
  CHECK(python("%%timeit\nf(q, n=1)") == "\nf(q, n=1)");
  CHECK(python("pip install -q \\\n torch\ncd data\npip = 1\nls - 1\nls in x") ==
        "pass\n\npass\npip = 1\nls - 1\nls in x");
  CHECK(python(">>> def f(x):\n...     return x\n\n>>> f(1)\n1") == "def f(x):\n    return x\n\nf(1)\n1");
  CHECK(python("%sql\nSELECT 1") == "\n");
  CHECK(python("%sql SELECT 1\nx = 1") == "pass\nx = 1");
}

TEST_CASE("Python is left as it is") {
  for (const std::string cell :
       {"x = (a\n  % b)\ny = a \\\n  % b", "s = '''\n!ls\n%time x?\n'''", "f(a=1)\nif a == 1: b != 2",
        "x = {'a': '?'}\n", "s = \"it's\"\nt = 'a\\'?'", "a @ b\n@f\ndef g(): pass", "await f()\n"})
    CHECK(python(cell) == cell);
}

TEST_CASE("lines of a notebook stand in a cell and in the file") {
  const std::string file = notebook({"", "a = 1\nb = \"é\\t\" + q", "%%bash\nls", "  c = 2\n  d = c"});
  const Notebook read(file);
  CHECK(read.code() == "a = 1\nb = \"é\\t\" + q\n\n\nif 1:\n  c = 2\n  d = c\n");
  const SourceLocation q = read.in_file(place(2, 14, 2, 15));
  REQUIRE(q.cell);
  CHECK(q.cell->number == 2);
  CHECK(q.cell->line == 2);
  CHECK(q.cell->column == 14);
  const auto line_of = [&](int number) {
    std::size_t at = 0;
    for (int i = 1; i < number; ++i) at = file.find('\n', at) + 1;
    return file.substr(at, file.find('\n', at) - at);
  };
  CHECK(line_of(q.line).substr(static_cast<std::size_t>(q.column) - 1, 2) == "q\"");
  CHECK(q.end_line == q.line);
  CHECK(q.end_column == q.column + 1);
  const auto d = read.cell(place(7, 3, 7, 4));
  REQUIRE(d);
  CHECK(d->number == 4);
  CHECK(d->line == 2);
  CHECK(read.line_of_cell(3, 1) == "%%bash");
  CHECK(read.line_of_cell(3, 2) == "ls");
  CHECK(read.line_of_cell(4, 2) == "  d = c");
  CHECK_FALSE(read.line_of_cell(4, 3));
}

TEST_CASE("an edit is made in one string of a cell, all else byte for byte") {
  for (const bool as_lists : {true, false}) {
    const std::string file = notebook({"s = \"é\"; q = f(q)\r\nk = g(k)\n"}, as_lists, as_lists ? 1 : -1);
    const Notebook read(file);
    const std::size_t at = read.code().find("f(q)");
    const auto edit = read.edit(at + 4, at + 4, ".to(\"x\")");
    REQUIRE(edit);
    const std::string edited = file.substr(0, edit->begin) + edit->replacement + file.substr(edit->end);
    CHECK(Notebook(edited).code() == "s = \"é\"; q = f(q).to(\"x\")\r\nk = g(k)\n");
    const std::size_t end = read.code().find("k = ") + 1;
    CHECK(read.edit(at, end, "x").has_value() == !as_lists);
  }
  const Notebook magic(notebook({"%time f(x)\ny = !ls"}));
  CHECK(magic.edit(3, 4, "g"));
  CHECK_FALSE(magic.edit(0, 2, "g"));
  CHECK_FALSE(magic.edit(magic.code().find("get_"), magic.code().find("get_") + 3, "g"));
}

TEST_CASE("columns of a cell count what was taken away in front of them") {
  const Notebook read(notebook({"x = 1\n%time q = m * n\ny", ">>> q = m\n... r = q"}));
  REQUIRE(read.code() == "x = 1\n0; q = m * n\ny\nq = m\nr = q\n");
  const auto cell = [&](int line, int column, int end) { return *read.cell(place(line, column, line, end)); };
  CHECK(cell(2, 8, 13).column == 11);
  CHECK(cell(2, 8, 13).end_column == 16);
  CHECK(cell(1, 5, 6).column == 5);
  CHECK(cell(3, 1, 2).column == 1);
  CHECK(cell(4, 5, 6).column == 9);
  CHECK(cell(5, 5, 6).line == 2);
  CHECK(cell(5, 5, 6).column == 9);
  const std::size_t at = read.code().find("m * n");
  const NotebookCell edited = read.edit(at, at + 1, "k")->cell;
  CHECK(edited.number == 1);
  CHECK(edited.line == 2);
  CHECK(edited.column == 11);
  CHECK(edited.end_column == 12);
}

TEST_CASE("outputs hold numbers as Python writes them") {
  const std::string file =
      R"({"cells": [{"cell_type": "code", "source": "x", "outputs": [NaN, Infinity, -Infinity, 1e400]}], "nbformat": 4})";
  CHECK(Notebook(file).code() == "x\n");
  CHECK(problem(R"({"cells": [Nan], "nbformat": 4})").find("line 1") != std::string::npos);
}

TEST_CASE("what is no notebook is told with its line") {
  CHECK(problem("") == "");
  CHECK(problem(" \n") == "");
  CHECK(problem("{\n\"cells\": [,") ==
        "is no notebook: line 2: found malformed JSON at column 11: ',', expected a value");
  CHECK(problem("[]") ==
        "is no notebook: line 1: found an empty array, expected an object with nbformat and cells");
  CHECK(problem("{\"cells\": []}") ==
        "is no notebook: line 1: found an object, expected the member nbformat, and 4 in it");
  CHECK(problem("{\"nbformat\": 3, \"worksheets\": []}") ==
        "is a notebook of nbformat 3, and 4 is read; convert it with jupyter nbconvert --to notebook "
        "--nbformat 4");
  CHECK(problem("{\"nbformat\": 5, \"cells\": []}") == "is a notebook of nbformat 5, and 4 is read");
  CHECK(problem("{\"nbformat\": 4,\n\"cells\": [{\"cell_type\": \"code\", \"source\": 7}]}") ==
        "is no notebook: line 2: /cells/0/source: found the number 7, expected a string or an array of "
        "strings");
  CHECK(problem("{\"nbformat\": 4, \"cells\": [{\"cell_type\": \"code\", \"source\": [\"a\",\n 1]}]}") ==
        "is no notebook: line 2: /cells/0/source/1: found the number 1, expected a string");
  CHECK(problem("{\"nbformat\": 4, \"cells\": [\"\xff\"]}").find("no UTF-8") != std::string::npos);
}

TEST_CASE("the language of a notebook and of a cell") {
  const auto with = [](const std::string& metadata, const std::string& of_cell) {
    return Notebook("{\"nbformat\": 4, \"metadata\": {" + metadata +
                    "}, \"cells\": [{\"cell_type\": \"code\", \"source\": \"x\", \"metadata\": {" + of_cell +
                    "}}]}");
  };
  CHECK(with("", "").code() == "x\n");
  CHECK(with(R"("language_info": {"name": "Python"})", "").code() == "x\n");
  CHECK(with(R"("kernelspec": {"language": "R"})", "").other_language() == "R");
  CHECK(with(R"("kernelspec": {"language": "R"})", "").code() == "");
  CHECK(with("", R"("vscode": {"languageId": "bash"})").code() == "");
  CHECK(with("", R"("vscode": {"languageId": "python"})").code() == "x\n");
}

TEST_CASE("broken notebooks are read or refused, and every line has its place") {
  const std::vector<std::string> words = {"%",         "!",         "?", "\\n", "\\u00e9", "\\\"",    "\"",
                                          "%%time\\n", "%%bash\\n", "=", "(",   "'''",     "\\\\\\n", "#",
                                          "[",         "]",         ",", "{",   "}",       "  ",      "\n"};
  const std::string seed = notebook(
      {"%%time\nx = f('a')\n", "  y = !ls\n  s = '''\n%time\n'''", "q?\n%timeit -n 3 f(x)\nz = (1,\n2)"});
  std::mt19937 random(7);
  int read_ones = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string file = seed;
    for (int change = 0; change < 1 + i % 4; ++change) {
      const std::size_t at = random() % file.size();
      if (random() % 3 == 0) file.erase(at, random() % 5);
      file.insert(std::min(at, file.size()), words[random() % words.size()]);
    }
    try {
      const Notebook read(file);
      ++read_ones;
      const int lines = static_cast<int>(std::count(read.code().begin(), read.code().end(), '\n'));
      const int of_file = static_cast<int>(std::count(file.begin(), file.end(), '\n')) + 1;
      for (int line = 1; line <= lines; ++line) {
        const SourceLocation found = read.in_file(place(line, 1, line, 2));
        REQUIRE(found.cell);
        REQUIRE(found.cell->number >= 1);
        REQUIRE(found.line >= 1);
        REQUIRE(found.line <= of_file);
        REQUIRE(found.column >= 1);
      }
      for (std::size_t at = 0; at < read.code().size(); ++at) {
        const auto edit = read.edit(at, at + 1, "");
        if (edit) REQUIRE(edit->end >= edit->begin);
        if (edit) REQUIRE(edit->end <= file.size());
      }
    } catch (const NotebookError& error) {
      REQUIRE(std::string(error.what()).starts_with("is "));
    }
  }
  CHECK(read_ones > 300);
}
