"""The clang-tidy plugin: the same findings as dtype-lint's, with NOLINT, --fix and .clang-tidy's options.

    tidy.py DTYPE_LINT MINI_TORCH PLUGIN CLANG_TIDY
"""
import json
import re
import subprocess
import sys

import project

PLUGIN, TIDY = sys.argv[3], sys.argv[4]
WIDE = ("at::Tensor scores(at::Tensor q, const at::Tensor& k, const at::Tensor& w) {\n"
        "  q = q * w;\n  return attend(q, k, k);\n}\n"
        "int main() {\n  scores(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kHalf),"
        " torch::ones({2, 2}, at::kFloat));\n}\n")
RULE = "attention-implicit-promotion"


class Tidy(project.Case):
    def tidy(self, *arguments, checks="-*,dtype-*", source="a.cpp", status=0):
        command = [TIDY, f"-load={PLUGIN}", "--quiet", *([f"-checks={checks}"] if checks else []), *arguments, "-p", "build",
                   str(self.folder / source)]
        run = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run

    def warnings(self, *arguments, **rest):
        """(rule, file, line) of each warning, as dtype-lint's reports have them."""
        output = self.tidy(*arguments, **rest).stdout
        found = re.findall(r"^(?:.*/)?([^/\n]+):(\d+):\d+: (?:warning|error): .* \[dtype-([a-z0-9-]+)", output, re.M)
        return sorted((rule, file, int(line)) for file, line, rule in found)

    def test_all_fixtures_say_the_same(self):
        # clang-tidy has the standard library's own <stdfloat>, which declares nothing for Clang.
        names = sorted(path.name for path in project.FIXTURES.glob("*.cpp") if "<stdfloat>" not in path.read_text())
        self.assertGreater(len(names), 20)
        for name in names:
            (self.folder / name).write_text((project.FIXTURES / name).read_text())
            self.compiled(name, flags=f"-std={project.standard(self.folder / name)}")
        total = 0
        for name in names:
            with self.subTest(name):
                findings = self.report("-p", "build", name)["findings"]
                wanted = sorted((f["rule"], f["location"]["file"], f["location"]["line"]) for f in findings
                                if not f["suppression"] and f["level"] != "note")
                self.assertEqual(self.warnings(source=name), wanted)
                total += len(wanted)
        self.assertGreater(total, 15)

    def test_the_checks_are_the_rules(self):
        listed = self.tidy("--list-checks").stdout.split()
        rules = [line.split()[0] for line in self.lint("--list-rules").stdout.splitlines()]
        wanted = {f"dtype-{rule}" for rule in rules} - {"dtype-suppression-without-reason", "dtype-stale-suppression"}
        self.assertEqual({word for word in listed if word.startswith("dtype-")}, wanted)

    def test_fix_nolint_and_a_check_alone(self):
        self.write(a__cpp=WIDE)
        self.compiled("a.cpp")
        self.assertEqual(self.warnings(), [(RULE, "a.cpp", 2)])
        self.assertEqual(self.warnings(checks="-*,dtype-attention-unsupported-dtype"),
                         [("attention-unsupported-dtype", "a.cpp", 2)])
        self.assertEqual(self.warnings(checks="-*,dtype-discarded-cast,misc-include-cleaner"), [])
        self.write(a__cpp=WIDE.replace("q * w;", f"q * w;  // NOLINT(dtype-{RULE}): a test"))
        self.assertEqual(self.warnings(), [])
        self.write(a__cpp=WIDE)
        self.tidy("--fix")
        fixed = WIDE.replace("q * w;", "(q * w).to(q.scalar_type());")
        self.assertEqual((self.folder / "a.cpp").read_text(), fixed)
        self.assertEqual(self.warnings("--fix"), [])
        self.assertEqual((self.folder / "a.cpp").read_text(), fixed)

    def test_comments_hide_what_they_hide_from_dtype_lint(self):
        also = "attention-mixed-dtypes"
        hidden = [f"// NOLINT(dtype-{RULE}): r", f"// NOLINT(dtype-{also}): r", f"// NOLINT({also}): r", "// NOLINT", "/* NOLINT(*) */",
                  "// NOLINT(dtype-*): r", "// NOLINT(*-mixed-dtypes)", f"// NOLINT(misc-x, dtype-{also}): r",
                  f"// dtype-lint: ignore[{also}] r"]
        shown = ["// NOLINT(dtype-discarded-cast): r", "// NOLINT(misc-*)", "// NOLINT(dtype-rotary-*): r", "// NOLINTS", "// a NO LINT",
                 f"// NOLINTNEXTLINE(dtype-{also}): r"]

        def same(text, wanted):
            self.write(a__cpp=text)
            findings = self.report("-p", "build", "a.cpp")["findings"]
            open_ = [(f["rule"], f["location"]["file"], f["location"]["line"]) for f in findings
                     if not f["suppression"] and f["level"] != "note"]
            self.assertEqual((self.warnings(), len(open_)), (open_, wanted), text)

        self.compiled("a.cpp")
        line = "  q = q * w;\n"
        for comment, wanted in [(each, 0) for each in hidden] + [(each, 1) for each in shown]:
            same(WIDE.replace(line, f"  q = q * w;  {comment}\n"), wanted)
        for rule, wanted in ((RULE, 0), (also, 0), ("discarded-cast", 1), ("*-mixed-*", 0)):
            same(WIDE.replace(line, f"  // NOLINTNEXTLINE(dtype-{rule}): r\n{line}"), wanted)
            same(f"// NOLINTBEGIN(dtype-{rule}): r\n{WIDE}// NOLINTEND(dtype-{rule})\n", wanted)
        same(WIDE.replace(line, f"  q = q *\n      w;  // NOLINT(dtype-{also}): on the last line of what is promoted\n"), 0)
        mine = ("void mine(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& out) {\n"
                "  flash_ref_attention_fwd(View(q), View(k), View(v), View(out), nullptr, nullptr);COMMENT\n}\n"
                + WIDE.replace("return attend(q, k, k);", "mine(q, k, k, k);\n  return q;"))
        for rule, wanted in ((RULE, 0), (also, 0), ("discarded-cast", 1)):
            same(mine.replace("COMMENT", f"  // NOLINT(dtype-{rule}): at the call"), wanted)

    def test_a_comment_for_a_check_that_is_off(self):
        self.compiled("a.cpp")
        for rule, wanted in (("attention-mixed-dtypes", 0), ("attention-unsupported-dtype", 0), ("discarded-cast", 1)):
            self.write(a__cpp=WIDE.replace("q * w;", f"q * w;  // NOLINT(dtype-{rule}): r"))
            self.assertEqual(len(self.warnings(checks="-*,dtype-attention-unsupported-dtype")), wanted, rule)
            run = self.lint("-p", "build", "a.cpp", "--rules=attention-unsupported-dtype")
            self.assertEqual(run.returncode, wanted, run.stdout)

    def test_options(self):
        member = ("struct Block : torch::nn::Module {\n  at::Tensor w = register_parameter(\"w\", torch::ones({2, 2}));\n"
                  "  void forward(const at::Tensor& q) {\n    attend(q * w, q, q);\n  }\n};\n")
        self.write(a__cpp=member)
        self.compiled("a.cpp")
        for precision in ("fp16", "autocast-fp16", "bf16-fp32-buffers,autocast-bf16", ""):
            options = json.dumps({"CheckOptions": [{"key": "DtypePrecision", "value": precision}]})
            own = [f"--precision={precision}"] if precision else []
            found = self.found("-p", "build", "a.cpp", *own)
            self.assertEqual(self.warnings(f"--config={options}"), found, precision)
        (self.folder / ".clang-tidy").write_text("Checks: '-*,dtype-*'\nCheckOptions:\n  DtypePrecision: fp17\n")
        self.assertIn("--precision: 'fp17' is none of", self.tidy(checks="").stdout)
        (self.folder / ".clang-tidy").write_text("Checks: '-*,dtype-*'\nCheckOptions:\n  DtypeTorch: 2.4..2.1\n")
        self.assertIn("--torch: '2.4..2.1' ends before it begins", self.tidy(checks="").stdout)
        (self.folder / ".clang-tidy").write_text("Checks: '-*,dtype-*'\nCheckOptions:\n  DtypeContracts: none.json\n")
        self.assertIn("none.json", self.tidy(checks="").stdout)

    def test_contracts(self):
        contract = {"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [{
            "name": "my_attention", "kind": "attention", "spellings": ["my_attention"],
            "operands": [{"role": role, "argument": i, "accepts": ["half"]} for i, role in enumerate("qkv")]}]}
        self.write(own__json=json.dumps(contract), a__cpp=(
            "at::Tensor my_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);\n"
            "int main() {\n  at::Tensor h = torch::ones({2, 2}, at::kHalf);\n"
            "  my_attention(h * torch::ones({2, 2}, at::kFloat), h, h);\n}\n"))
        self.compiled("a.cpp")
        wanted = self.found("-p", "build", "a.cpp", "--contracts", "own.json")
        self.assertEqual([line for _, _, line in wanted], [4])
        (self.folder / ".clang-tidy").write_text("Checks: '-*,dtype-*'\nCheckOptions:\n  DtypeContracts: own.json\n")
        self.assertEqual(self.warnings(checks=""), wanted)
        (self.folder / ".clang-tidy").write_text("Checks: '-*,dtype-*'\n")
        self.assertEqual(self.warnings(checks=""), [])

    def test_two_files_in_one_run_do_not_mix(self):
        self.write(a__cpp=WIDE, b__cpp=WIDE.replace("q * w;", "(q * w).to(q.scalar_type());"))
        self.compiled("a.cpp", "b.cpp")
        self.assertEqual(self.warnings(str(self.folder / "b.cpp")), [(RULE, "a.cpp", 2)])
        self.assertEqual(self.warnings(str(self.folder / "a.cpp"), source="b.cpp"), [(RULE, "a.cpp", 2)])


project.main()
