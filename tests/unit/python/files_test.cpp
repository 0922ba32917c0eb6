// Files that cannot be read as Python, and names that lead to other files.
#include "tests/catch.h"
#include "tests/unit/python/snippet.h"

namespace dtype_guard::python {
namespace {

TEST_CASE("a syntax error has a place, and what stands beside it is lowered") {
  const LoweredFile file = lowered("def right(x):\n    return x\ndef wrong(x:\n    return x +\n");
  REQUIRE_FALSE(file.errors.empty());
  CHECK(file.errors[0].file == "m.py");
  CHECK(file.errors[0].line >= 3);
  CHECK(file.errors[0].column >= 1);
}

TEST_CASE("what Python 2 alone accepts is an error") {
  const LoweredFile file = lowered("print 'hello'\nexec 'x = 1'\n");
  CHECK(file.module.functions.empty());
}

TEST_CASE("bytes that are no text are refused with a word for it") {
  CHECK(lowered(std::string("x = 1\0", 6)).errors.at(0).message ==
        "is no Python source: it holds null bytes");
  CHECK(has(lowered("x = 1\ny = '\xff'\n").errors.at(0).message, "is not UTF-8 in line 2"));
  for (const char* text : {"x = 1\ny = 2\rz = 3\n", "x = 1\ny = 2\r\r\n", "x = 1\ny = 2\r"}) {
    CAPTURE(text);
    CHECK(has(lowered(text).errors.at(0).message, "a carriage return without a line feed in line 2"));
  }
  CHECK(lowered("x = 1\r\ny = 2\r\n").errors.empty());
  CHECK(lowered("# -*- coding: latin-1 -*-\ny = '\xff'\n").errors.empty());
  CHECK(lowered("\xEF\xBB\xBFx = 1\n").errors.empty());
  CHECK(lowered("").errors.empty());
  CHECK(lowered("def f(x):\r\n    return x\r\n").module.functions.size() == 1);
}

TEST_CASE("code that is nested too deep does not end the process") {
  const std::string deep(3000, '(');
  const std::string closed(3000, ')');
  CHECK(lowered("def f(x):\n    return " + deep + "x" + closed + "\n").module.functions.size() == 1);
  std::string sum = "def f(x):\n    return x";
  for (int i = 0; i < 5000; ++i) sum += " + x";
  CHECK(lowered(sum + "\n").module.functions.size() == 1);
}

TEST_CASE("a helper and a base class are found in other files") {
  const std::string helper =
      "import torch.nn.functional as F\ndef l2(x):\n    return F.normalize(x, dim=-1)\n";
  const std::string code = "from parts.norm import l2\n" + attention("q = l2(q)");
  CHECK(findings(code, {{"parts/norm.py", helper}}) ==
        std::vector<std::string>{"parts/norm.py:3 autocast-fp32-operator q [autocast-fp16 autocast-bf16]"});
  const std::string star = "from parts.norm import *\n" + attention("q = l2(q)");
  CHECK(findings(star, {{"parts/norm.py", helper}}).size() == 1);
}

TEST_CASE("a star brings names with an underscore where `__all__` lists them") {
  const std::string helper =
      "import torch.nn.functional as F\ndef _l2(x):\n    return F.normalize(x, dim=-1)\n";
  const std::string code = "from parts import *\n" + attention("q = _l2(q)");
  const auto found = [&](const std::string& first, const std::string& second) {
    return findings(code, {{"parts/__init__.py", first}, {"parts/norm.py", helper + second}}).size();
  };
  const std::string listed = "__all__ = ['_l2']\n";
  CHECK(found("from parts.norm import *\n" + listed, listed) == 1);
  CHECK(found("from parts.norm import *\n" + listed, "") == 0);
  CHECK(found("from parts.norm import *\n", listed) == 0);
  CHECK(found("from parts.norm import _l2\n" + listed, "") == 1);
  CHECK(found("from parts.norm import \\\n    *\n" + listed, listed) == 1);
}

TEST_CASE("imports that lead to each other end") {
  const std::string other = "from m import *\nfrom other import thing\n";
  CHECK(lowered("from other import thing\ndef f(x):\n    return thing(x)\n", {{"other.py", other}})
            .errors.empty());
}

}  // namespace
}  // namespace dtype_guard::python
