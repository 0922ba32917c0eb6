// Every way of writing a contract file wrongly, and the exact message that its author gets.
#include <fstream>

#include "rules/contracts/contract.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

// A good file as lines; `with` changes one of them.
std::string with(std::size_t line, const std::string& replacement) {
  std::vector<std::string> lines = {
      "{",
      R"(  "schema": "dtype-guard/contracts/1",)",
      R"(  "library": "mine",)",
      R"(  "apis": [{)",
      R"(    "name": "attend",)",
      R"(    "kind": "attention",)",
      R"(    "spellings": ["my::attend"],)",
      R"(    "operands": [)",
      R"(      {"role": "q", "argument": 0, "accepts": ["float16"]},)",
      R"(      {"role": "k", "argument": 1, "same_as": "q"}],)",
      R"(    "result_like": "q")",
      "  }]",
      "}",
  };
  if (line > 0) lines.at(line - 1) = replacement;
  std::string text;
  for (const std::string& each : lines) text += each + "\n";
  return text;
}

std::string message(const std::string& text) {
  try {
    parse_contracts(text, "c.json");
  } catch (const ContractError& error) {
    return error.what();
  }
  return "accepted";
}

struct Case {
  std::size_t line;
  const char* replacement;
  const char* expected;
};

// clang-format off
const Case kCases[] = {
    {0, "", "accepted"},
    {2, R"(  "schema": "dtype-guard/contracts/2",)",
     R"(c.json:2: /schema: found "dtype-guard/contracts/2", expected "dtype-guard/contracts/1")"},
    {2, R"(  "shema": "dtype-guard/contracts/1",)",
     R"(c.json:2: /shema: found the unknown member "shema", expected one of "$schema", "schema", "library", "package", "apis", "types", "helpers", did you mean "schema"?)"},
    {2, "", R"(c.json:1: /: found an object without "schema", expected that member)"},
    {3, R"(  "library": 7,)", "c.json:3: /library: found the number 7, expected a string"},
    {3, R"(  "library": "",)",
     R"(c.json:3: /library: found "", expected a name of at least one printable character)"},
    {7, R"x(    "spellings": ["::my::attend"],)x",
     R"x(c.json:7: /apis/0/spellings/0: found "::my::attend", expected a qualified name without the leading "::", did you mean "my::attend"?)x"},
    {7, R"x(    "spellings": ["my::attend<float>"],)x",
     R"x(c.json:7: /apis/0/spellings/0: found "my::attend<float>", expected a qualified name without template arguments, did you mean "my::attend"?)x"},
    {7, R"x(    "spellings": ["my::attend()"],)x",
     R"x(c.json:7: /apis/0/spellings/0: found "my::attend()", expected a qualified name without parentheses, did you mean "my::attend"?)x"},
    {7, R"x(    "spellings": ["ok", "my:: attend"],)x",
     R"x(c.json:7: /apis/0/spellings/1: found "my:: attend", expected a qualified name without blanks, did you mean "my::attend"?)x"},
    {7, R"x(    "spellings": ["my:attend"],)x",
     R"x(c.json:7: /apis/0/spellings/0: found "my:attend", expected a qualified name with "::" between its parts, such as "ns::attend", did you mean "my::attend"?)x"},
    {7, R"x(    "spellings": ["my::attend::"],)x",
     R"x(c.json:7: /apis/0/spellings/0: found "my::attend::", expected a qualified name with "::" between its parts, such as "ns::attend", did you mean "my::attend"?)x"},
    {7, R"x(    "spellings": ["my::Runner<unsigned int>::run", "torch.ops.my.attend"],)x", "accepted"},
    {6, R"(    "kind": "atention",)",
     R"(c.json:6: /apis/0/kind: found "atention", expected a kind ("attention", "rotary", "kv_cache"), did you mean "attention"?)"},
    {7, R"(    "spellings": [],)",
     "c.json:7: /apis/0/spellings: found an empty array, expected an array of at least one qualified "
     "name"},
    {7, R"(    "spelings": ["my::attend"],)",
     R"(c.json:7: /apis/0/spelings: found the unknown member "spelings", expected one of "name", "kind", "spellings", "operands", "options", "autograd_function", "autocast", "autocast_since", "recast", "fast", "result_argument", "result_dtype", "result_like", "results", "result_for", "versions", "devices", "source", did you mean "spellings"?)"},
    {9, R"(      {"role": "q", "argument": 0, "accepts": ["flaot16"]},)",
     R"(c.json:9: /apis/0/operands/0/accepts/0: found "flaot16", expected a dtype by PyTorch's name, such as "float16", or a group ("half", "floating"), did you mean "float16"?)"},
    {9, R"(      {"role": "q", "argument": 0, "accepts": ["at::kHalf"]},)",
     R"(c.json:9: /apis/0/operands/0/accepts/0: found "at::kHalf", expected a dtype by PyTorch's name, such as "float16", or a group ("half", "floating"), did you mean "float16"?)"},
    {9, R"(      {"role": "q", "argument": 0, "accepts": "float16"},)",
     R"(c.json:9: /apis/0/operands/0/accepts: found "float16", expected an array of at least one dtype)"},
    {9, R"(      {"role": "q", "argument": -1, "accepts": ["float16"]},)",
     "c.json:9: /apis/0/operands/0/argument: found the number -1, expected a position in the signature, "
     "from "
     "0 to 255"},
    {9, R"(      {"role": "q", "argument": 0},)",
     R"(c.json:9: /apis/0/operands/0: found an object, expected "accepts" (a list of dtypes) or "same_as" (a role) to say which dtypes it takes)"},
    {9, R"(      {"role": "q", "argument": 0, "accepts": ["float16"], "optional": "no"},)",
     R"(c.json:9: /apis/0/operands/0/optional: found "no", expected true or false)"},
    {9, R"(      {"role": "q", "argument": 0, "same_as": "k"},)",
     R"(c.json:9: /apis/0/operands/0/same_as: found "k", expected a role that leads to an operand with "accepts", not in a circle)"},
    {10, R"(      {"role": "k", "argument": 1, "same_as": "qq"}],)",
     R"(c.json:10: /apis/0/operands/1/same_as: found "qq", expected a role of this API ("q", "k"))"},
    {10, R"(      {"role": "q", "argument": 1, "same_as": "q"}],)",
     R"(c.json:10: /apis/0/operands/1/role: found "q", expected a role that no other operand of this API has)"},
    {10, R"(      {"role": "k", "argument": 0, "same_as": "q"}],)",
     R"(c.json:10: /apis/0/operands/1/argument: found the number 0, expected a position other than that of operand "q")"},
    {9, R"(      {"role": "q", "argument": 0, "accepts": ["half", "float16"]},)",
     R"(c.json:9: /apis/0/operands/0/accepts/1: found "float16", expected each dtype once; what stands before it says this already)"},
    {11, R"(    "autocast_since": {"cuda": "2.1"})",
     R"(c.json:11: /apis/0/autocast_since/cuda: found "2.1", expected "autocast" to say that the call is recast on cuda)"},
    {11, R"(    "autocast": {"cuda": "recast"})",
     R"(c.json:11: /apis/0/autocast/cuda: found "recast", expected what autocast does ("as_is", "recasts"), did you mean "recasts"?)"},
    {11, R"(    "autocast": {"cude": "recasts"})",
     R"(c.json:11: /apis/0/autocast/cude: found the unknown member "cude", expected one of "cuda", "cpu", "mps", "xpu", did you mean "cuda"?)"},
    {11, R"(    "result_dtype": "half")",
     R"(c.json:11: /apis/0/result_dtype: found "half", expected one dtype, not a group)"},
    {11, R"(    "versions": {"until": "next"})",
     R"(c.json:11: /apis/0/versions/until: found "next", expected a version such as "2.8.0")"},
    {11, R"(    "versions": {"untill": "2.8"})",
     R"(c.json:11: /apis/0/versions/untill: found the unknown member "untill", expected one of "since", "until", did you mean "until"?)"},
    {11, R"(    "versions": {"since": "2.8", "until": "2.8.1"})",
     R"(c.json:11: /apis/0/versions/until: found "2.8.1", expected a version after 2.8, which "since" names)"},
    {11, R"(    "devices": [])",
     "c.json:11: /apis/0/devices: found an empty array, expected an array of at least one device"},
    {11, R"(    "devices": ["cude"])",
     R"(c.json:11: /apis/0/devices/0: found "cude", expected a device ("cuda", "cpu", "mps", "xpu"), did you mean "cuda"?)"},
    {11, R"(    "result_for": {"float16": "float32"})",
     R"(c.json:11: /apis/0/result_for: found an object, expected "result_like" beside it, to which it lists exceptions)"},
    {11, R"(    "result_like": "q", "result_for": {"fp8": "float32"})",
     R"(c.json:11: /apis/0/result_for/fp8: found "fp8", expected a dtype by PyTorch's name, such as "float16")"},
    {11, R"(    "fast": {"cuda": ["haf"]})",
     R"(c.json:11: /apis/0/fast/cuda/0: found "haf", expected a dtype by PyTorch's name, such as "float16", or a group ("half", "floating"), did you mean "half"?)"},
    {11, R"(    "results": ["q", "float32"])", "accepted"},
    {11, R"(    "results": ["q", "float32"], "result_for": {"float16": "float32"})", "accepted"},
    {11, R"(    "results": ["float32"], "result_for": {"float16": "float32"})",
     R"(c.json:11: /apis/0/result_for: found an object, expected "result_like" beside it, to which it lists exceptions)"},
    {11, R"(    "results": [])",
     R"(c.json:11: /apis/0/results: found an empty array, expected an array of roles and dtypes, one for each result)"},
    {11, R"(    "results": ["q", "half"])",
     R"(c.json:11: /apis/0/results/1: found "half", expected one dtype, not a group)"},
    {11, R"(    "results": ["v"])",
     R"(c.json:11: /apis/0/results/0: found "v", expected a role of this API ("q", "k"))"},
    {11, R"(    "results": ["q"], "result_like": "q")",
     R"(c.json:11: /apis/0/results: found an array, expected no "result_like" beside it: one result is returned or several)"},
    {11, R"(    "result_argument": "dtype")",
     R"(c.json:11: /apis/0/result_argument: found "dtype", expected a position in the signature, from 0 to 255)"},
    {9, R"(      {"role": "q", "accepts": ["float16"]},)",
     R"(c.json:9: /apis/0/operands/0: found an object, expected either "argument" or "template_argument" to say where its dtype comes from)"},
    {9, R"(      {"role": "q", "argument": 0, "template_argument": 0, "accepts": ["float16"]},)",
     R"(c.json:9: /apis/0/operands/0: found an object, expected either "argument" or "template_argument" to say where its dtype comes from)"},
    {9, R"(      {"role": "q", "template_argument": 0, "dtype_argument": 3, "accepts": ["float16"]},)",
     R"(c.json:9: /apis/0/operands/0/dtype_argument: found the number 3, expected "argument" beside it: the pointer whose dtype it says)"},
    {9, R"(      {"role": "q", "argument": 0, "dtype_argument": 0, "accepts": ["float16"]},)",
     R"(c.json:9: /apis/0/operands/0/dtype_argument: found the number 0, expected another position than "argument" has)"},
    {9, R"(      {"role": "q", "argument": 0, "dtype_argument": 1, "accepts": ["float16"]},)",
     R"(c.json:10: /apis/0/operands/1/argument: found the number 1, expected a position other than that of the dtype of "q")"},
    {9, R"(      {"role": "q", "argument": 0, "accepts": ["float16"], "error": ""},)",
     R"(c.json:9: /apis/0/operands/0/error: found "", expected a name of at least one printable character)"},
    {3, R"(  "library": "mine", "types": {"my::half_t": "hlaf"},)",
     R"(c.json:3: /types/my::half_t: found "hlaf", expected a dtype by PyTorch's name, such as "float16")"},
    // What contradicts itself.
    {7, R"(    "spellings": ["my::attend", "mine.attend", "my::attend"],)",
     R"(c.json:7: /apis/0/spellings/2: found "my::attend", expected each spelling once)"},
    {3, R"(  "library": "mine", "helpers": {"my::attend": "mul"},)",
     R"(c.json:7: /apis/0/spellings/0: found "my::attend", expected a function that "helpers" does not have, or no such helper)"},
    {3, R"(  "library": "mine", "types": {"my::attend": "float16"},)",
     R"(c.json:7: /apis/0/spellings/0: found "my::attend", expected a function that "types" does not have, or no such type)"},
    {3, R"(  "library": "mine", "helpers": {"attend": "mul"},)",
     R"(c.json:5: /apis/0/name: found "attend", expected a function that "helpers" does not have, or no such helper)"},
    {3, R"(  "library": "mine", "types": {"my::f": "float16"}, "helpers": {"my::f": "mul"},)",
     R"(c.json:3: /helpers/my::f: found the key "my::f", expected a function, which "types" does not have)"},
    {3, R"(  "library": "mine", "types": {"float": "float16"},)",
     R"(c.json:3: /types/float: found the key "float", expected a class or an alias of the project's own, not a builtin type)"},
    {11, R"(    "result_dtype": "float32", "result_like": "q")",
     R"(c.json:11: /apis/0/result_dtype: found "float32", expected no "result_like" beside it: a result is fixed or like an operand)"},
    {7, R"(    "spellings": ["my::attend", "my.attend"],)", "accepted"},
    {9, R"(      {"role": "q", "argument": 0.0, "accepts": ["float16"]},)", "accepted"},
    {9, R"(      {"role": "q", "argument": 0.5, "accepts": ["float16"]},)",
     "c.json:9: /apis/0/operands/0/argument: found the number 0.5, expected a position in the signature, "
     "from "
     "0 to 255"},
    {11, R"(    "fast": {"cuda": ["float16", "float32"]})",
     R"(c.json:11: /apis/0/fast/cuda/1: found "float32", expected a dtype that "q" or "k" takes ("float16"), did you mean "float16"?)"},
    {11, R"(    "fast": {"cuda": ["half"]})",
     R"(c.json:11: /apis/0/fast/cuda/0: found "half", expected a dtype that "q" or "k" takes ("float16"))"},
    {11, R"(    "fast": {"cuda": ["float16"]})", "accepted"},
    {11, R"(    "result_like": "k", "result_for": {"bfloat16": "float32"})",
     R"(c.json:11: /apis/0/result_for/bfloat16: found "bfloat16", expected a dtype that "k" takes ("float16"), did you mean "float16"?)"},
    {11, R"(    "result_like": "k", "result_for": {"float16": "float32"})", "accepted"},
    {11, R"(    "result_argument": 1)",
     R"(c.json:11: /apis/0/result_argument: found the number 1, expected a position other than that of operand "k")"},
    {11, R"(    "options": [{"role": "q", "accepts": ["bool"]}])",
     R"(c.json:11: /apis/0/options/0/role: found "q", expected a role that no other operand of this API has)"},
    {11,
     R"(    "options": [{"role": "mask", "accepts": ["bool"]}, {"role": "mask", "accepts": ["half"]}])",
     R"(c.json:11: /apis/0/options/1/role: found "mask", expected a role that no other option of this API has)"},
    {9, R"(      {"role": "q", "argument": 0, "accepts": ["float16"], "same_as": "k"},)",
     R"(c.json:9: /apis/0/operands/0/same_as: found "k", expected a role that leads to an operand with "accepts", not in a circle)"},
    {9, R"(      {"role": "q", "argument": 0, "accepts": ["float16"], "same_as": "q"},)",
     R"(c.json:9: /apis/0/operands/0/same_as: found "q", expected a role that leads to an operand with "accepts", not in a circle)"},
    {3, R"(  "library": "mine", "types": {"::my::half_t": "float16"},)", R"(c.json:3: /types/::my::half_t: found the key "::my::half_t", expected a qualified name without the leading "::", did you mean "my::half_t"?)"},
    {3, R"(  "library": "mine", "types": {"my::vec<half, ns::at<4>>": "float16"},)",
     R"(c.json:3: /types/my::vec<half, ns::at<4>>: found the key "my::vec<half, ns::at<4>>", expected a qualified name without template arguments, did you mean "my::vec"?)"},
    {3, R"x(  "library": "mine", "helpers": {"my::scale()": "mul"},)x",
     R"x(c.json:3: /helpers/my::scale(): found the key "my::scale()", expected a qualified name without parentheses, did you mean "my::scale"?)x"},
    {3, R"(  "library": "mine", "types": {"": "float16"},)",
     R"(c.json:3: /types/: found the key "", expected a qualified name)"},
    {3, R"(  "library": "mine", "types": {},)",
     "c.json:3: /types: found an empty object, expected an object of qualified type names and their "
     "dtypes"},
    {3, R"(  "library": "mine", "helpers": {"my::apply_scale": "mull"},)",
     R"(c.json:3: /helpers/my::apply_scale: found "mull", expected an operator by PyTorch's name, such as "mul", did you mean "mul"?)"},
    {3, R"(  "library": "mine", "helpers": {"apply scale": "mul"},)",
     R"(c.json:3: /helpers/apply scale: found the key "apply scale", expected a qualified name without blanks, did you mean "applyscale"?)"},
    {11, R"(    "options": [{"role": "mask", "accepts": ["bool"], "same_as": "v"}])",
     R"(c.json:11: /apis/0/options/0/same_as: found "v", expected a role of this API ("q", "k"))"},
    {11, R"(    "result_like": "out")",
     R"(c.json:11: /apis/0/result_like: found "out", expected a role of this API ("q", "k"))"},
    {11, R"(    "name": "again")",
     R"(c.json:11: /apis/0/name: found the key "name" twice, expected each key once)"},
};
// clang-format on

}  // namespace

TEST_CASE("another library's word for a role is answered with ours") {
  for (const auto& [written, ours] : {std::pair{"query", "q"},
                                      {"key", "k"},
                                      {"value", "v"},
                                      {"attn_mask", "mask"},
                                      {"output", "out"},
                                      {"softmax_lse", "lse"}}) {
    const std::string line =
        std::string(R"(      {"role": ")") + written + R"(", "argument": 0, "accepts": ["float16"]},)";
    const std::string answer = message(with(9, line));
    CHECK(answer.find(std::string("found \"") + written + "\", expected a role (\"q\", ") !=
          std::string::npos);
    CHECK(answer.ends_with(std::string("), did you mean \"") + ours + "\"?"));
  }
}

TEST_CASE("a wrong contract file is refused with place, finding and expectation") {
  for (const Case& wrong : kCases) {
    CAPTURE(wrong.line, wrong.replacement);
    CHECK(message(with(wrong.line, wrong.replacement)) == wrong.expected);
  }
}

TEST_CASE("where one dtype is wanted, no group is offered") {
  const auto said = [](const std::string& dtype) -> std::string {
    try {
      parse_contracts(
          R"({"schema": "dtype-guard/contracts/1", "library": "m", "types": {"my::h": ")" + dtype + "\"}}",
          "m.json");
    } catch (const ContractError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(said("flota16").find("did you mean \"float16\"") != std::string::npos);
  CHECK(said("flota16").find("group") == std::string::npos);
  CHECK(said("hlaf").find("\"half\"") == std::string::npos);
  CHECK(said("half").find("one dtype, not a group") != std::string::npos);
}

TEST_CASE("a misspelt role is answered with the nearest one") {
  const std::string text =
      message(with(9, R"(      {"role": "k_cashe", "argument": 0, "accepts": ["float16"]},)"));
  CHECK_THAT(text, Catch::StartsWith(
                       "c.json:9: /apis/0/operands/0/role: found \"k_cashe\", expected a role (\"q\""));
  CHECK_THAT(text, Catch::EndsWith(", did you mean \"k_cache\"?"));
}

TEST_CASE("an API defined twice in one file is refused") {
  std::string text = with(12, "  }, {");
  text.insert(text.rfind("}\n"),
              R"("name": "attend", "kind": "rotary", "spellings": ["b"], "operands": [
      {"role": "x", "argument": 0, "accepts": ["half"]}]}]
)");
  CHECK(
      message(text) ==
      R"(c.json:13: /apis/1/name: found "attend", expected each API name once per file, or with "versions" or "devices" that do not overlap)");
}

TEST_CASE("an API may be defined once for each device") {
  const auto twice = [](const std::string& first, const std::string& second) {
    std::string text = with(12, R"(, "devices": [)" + first + "]}, {");
    text.insert(text.rfind("}\n"),
                R"("name": "attend", "kind": "rotary", "spellings": ["my::attend"], "devices": [)" + second +
                    R"(], "operands": [{"role": "x", "argument": 0, "accepts": ["half"]}]}]
)");
    return message(text);
  };
  CHECK(twice(R"("cpu", "mps")", R"("cuda")") == "accepted");
  CHECK_THAT(twice(R"("cpu", "cuda")", R"("cuda")"),
             Catch::EndsWith("with \"versions\" or \"devices\" that do not overlap"));
}

TEST_CASE("text that is no JSON is refused with its line") {
  CHECK_THAT(message(""), Catch::StartsWith("c.json:1: /: found malformed JSON at column"));
  CHECK_THAT(message("{\n\n  \"schema\" 7}"),
             Catch::StartsWith("c.json:3: /: found malformed JSON at column 12:"));
  CHECK_THAT(message("[]"),
             Catch::StartsWith("c.json:1: /: found an empty array, expected an object with \"schema\""));
  CHECK_THAT(message("{\"schema\": \"\xff\"}"), Catch::Contains("found malformed JSON"));
  CHECK_THAT(message(std::string(100000, '[')),
             Catch::Contains("found nesting deeper than 64, expected less"));
}

TEST_CASE("a contract file that cannot be read is named") {
  CHECK_THROWS_WITH(load_contracts("/nonexistent/c.json"),
                    "/nonexistent/c.json: found no readable file (No such file or directory), expected a "
                    "contract file (JSON)");
  CHECK_THROWS_WITH(load_contracts("/"), "/: found a folder, expected a contract file (JSON)");
}
