"""dtype-lint's command line: exit status and words for what is wrong, and the same report whatever the way there."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LINT, TORCH = sys.argv[1], sys.argv[2]
HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE / "fixtures"
FLAGS = ["--", "-std=c++17", "-include", TORCH]
RULES = HERE.parents[2] / "rules" / "catalog"


def lint(*arguments, cwd=None):
    return subprocess.run([LINT, *map(str, arguments)], capture_output=True, text=True, cwd=cwd)


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def project(self, **files):
        """A project folder with a compile database in build/."""
        entries = []
        (self.folder / ".dtype-lint.json").write_text("{}")
        for name, text in files.items():
            path = self.folder / f"{name}.cpp"
            path.write_text(text)
            entries.append({"directory": str(self.folder), "file": path.name,
                            "command": f"g++ -std=c++17 -Wlogical-op -fno-gnu-unique -include '{TORCH}' "
                                       f"-include '{FIXTURES / 'attention.h'}' -o x.o -c {path.name}"})
        (self.folder / "build").mkdir(exist_ok=True)
        (self.folder / "build" / "compile_commands.json").write_text(json.dumps(entries))
        return self.folder

    def refused(self, run, *words):
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertEqual(run.stdout, "")
        for word in words:
            self.assertIn(word, run.stderr)

    BAD = (
        "int kernel(const at::Tensor& q, const at::Tensor& k) {\n"
        "  DLManagedTensor* a = at::toDLPack(q.to(at::kFloat));\n"
        "  DLManagedTensor* b = at::toDLPack(k);\n"
        "  return flash_ref_rotary(&a->dl_tensor, &b->dl_tensor, &b->dl_tensor, &a->dl_tensor, nullptr);\n"
        "}\n"
        "int main() { return kernel(torch::zeros({1, 2, 3, 4}, at::kHalf), torch::zeros({2, 2}, at::kHalf)); }\n")

    def test_every_option_says_what_is_wrong_with_its_value(self):
        (self.folder / "a.cpp").write_text("int main() {}\n")
        options = re.findall(r"^  (-[-a-z,]+)(?: (\S+))?", lint("--help").stdout, re.MULTILINE)
        self.assertGreater(len(options), 25)
        for names, value in options:
            name = names.split(",")[-1]
            with self.subTest(name):
                if not value:
                    self.refused(lint(f"{name}=3", "a.cpp", cwd=self.folder), f"{name}: takes no value, '3' was given; write {name} alone")
                    continue
                takes = f"expected {value}; "
                self.refused(lint("a.cpp", name, cwd=self.folder), f"{name}: nothing stands behind it, {takes}write {name} {value}")
                if name.startswith("--"):
                    self.refused(lint(f"{name}=", "a.cpp", cwd=self.folder), f"{name}: nothing stands behind '=', {takes}write {name}={value}")
                if name != "--jobs":
                    self.refused(lint(name, "", "a.cpp", cwd=self.folder), f"{name}: '' is empty, {takes}give one, or leave the option out")

    def test_numbers_and_words_that_an_option_does_not_know(self):
        (self.folder / "a.cpp").write_text("int main() {}\n")
        for number in ("x", "0", "-3", "1.5", "0x2", "2 ", "10001", "99999999999999999999", ""):
            for option in ([f"--jobs={number}"] if number else []) + [["--jobs", number], ["-j", number]]:
                run = lint(*([option] if isinstance(option, str) else option), "a.cpp", "--", cwd=self.folder)
                self.refused(run, f"--jobs: '{number}' is no whole number from 1 to 10000; give one of these, or leave the option out")
        for option in ("--color", "--device", "--fail-on", "--format", "--precision"):
            self.refused(lint(option, "quux", "a.cpp", "--", cwd=self.folder), f"{option}: 'quux' is none of ", "; give one of these")
        self.refused(lint("--color", "alway", "a.cpp", "--"), '--color: \'alway\' is none of auto, always, never, did you mean "always"?')
        self.refused(lint("-j", "2", "--jobs=3", "a.cpp", "--"), "--jobs: given 2 times ('2', '3'), expected once; leave the others out")
        self.refused(lint("--jbos", "3"), "unknown option '--jbos', did you mean \"--jobs\"?; 'dtype-lint --help' prints them all")
        self.assertEqual(lint("-j2", "--strict=false", "--color=never", "a.cpp", "--", cwd=self.folder).returncode, 0)

    def test_options_that_undo_each_other(self):
        source = self.project(a=self.BAD) / "a.cpp"
        before = source.read_text()
        for words, said in ((["--format=json=out", "--format=sarif=./out"], "'json' and 'sarif' are both to be written to './out'"),
                            (["--fix", "--write-baseline=out"], "--write-baseline takes what is found as known, so that --fix")):
            self.refused(lint("-p", "build", *words, cwd=self.folder), said)
            self.assertFalse((self.folder / "out").exists())
        self.assertEqual(source.read_text(), before)

    def test_help_version_and_rules(self):
        self.assertEqual(lint("--help").returncode, 0)
        self.assertIn("Examples:", lint("--help").stdout)
        self.assertRegex(lint("--help").stdout, r"--contracts FILE +More .*; may be repeated\n")
        self.assertRegex(lint("--help").stdout, r"--link FILE \.\.\. ")
        self.assertRegex(lint("--version").stdout, r"^dtype-lint \d+\.\d+\.\d+ \(LLVM \d+")
        listed = [line.split()[0] for line in lint("--list-rules").stdout.splitlines()]
        self.assertEqual(sorted(listed), sorted(page.stem for page in RULES.glob("*.md") if page.stem != "README"))
        self.assertIn("rotary", lint("--explain", "rotary-dtype-mismatch").stdout)

    def test_the_functions_with_contracts_are_listed(self):
        tables = [json.loads(page.read_text()) for page in (RULES.parent / "contracts").glob("*.json") if "schema" not in page.name]
        apis = [(api["name"], table["library"], api) for table in tables for api in table["apis"]]
        listed, _, footer = lint("--list-contracts").stdout.partition("\n\n")
        rows = [line.split(None, 2) for line in listed.splitlines()]
        self.assertEqual(sorted(row[:2] for row in rows), sorted([name, library] for name, library, _ in apis))
        self.assertIn("products of matrices on attention scores", footer)
        rest = {row[0]: row[2] for row in rows}
        self.assertEqual(rest["mha_fwd"], "attention: q float16 or bfloat16; k, v, out as q; alibi_slopes float32")
        for name, library, api in apis[::7]:
            for spelling in [name, *api["spellings"]]:
                said = lint("--explain", spelling).stdout
                self.assertIn(f"of {library}", said)
                for operand in api["operands"]:
                    self.assertRegex(said, rf"(?m)^  {operand['role']} ")
        said = lint("--explain", "at::scaled_dot_product_attention").stdout
        self.assertIn('  mask  argument 3  bool, or as q (optional)\n        else it stops with "Expected attn_mask dtype', said)
        self.assertIn("autocast on mps casts the operands before, from torch 2.6 on\n", said)
        self.assertIn("attention of torch (torch before 2.4)\n", said)
        self.assertIn("scaled_dot_product_attention: an operator of PyTorch\n", said, "what it is besides is told as well")

    def test_functions_of_ones_own_are_listed(self):
        own = {"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
            {"name": "my_attention", "kind": "attention", "spellings": ["my::attention"], "operands": [
                {"role": "q", "argument": 0, "accepts": ["bfloat16"]}, {"role": "k", "argument": 1, "same_as": "q"}]}]}
        (self.folder / "own.json").write_text(json.dumps(own))
        row = r"(?m)^my_attention +mine +attention: q bfloat16; k as q$"
        self.assertNotRegex(lint("--list-contracts", cwd=self.folder).stdout, row)
        self.assertRegex(lint("--list-contracts", "--contracts=own.json", cwd=self.folder).stdout, row)
        self.refused(lint("--explain", "my::attentio", "--contracts=own.json", cwd=self.folder), "no rule, function or operator")
        self.refused(lint("--explain", "my_attentio", "--contracts=own.json", cwd=self.folder), 'did you mean \'my_attention\'?')
        (self.folder / ".dtype-lint.json").write_text('{"contracts": ["own.json"]}')
        self.assertRegex(lint("--list-contracts", cwd=self.folder).stdout, row)
        self.assertIn("q  argument 0  bfloat16\n", lint("--explain", "my::attention", cwd=self.folder).stdout)

    def test_an_operator_is_explained_with_what_changed_between_releases(self):
        answer = lint("--explain", "rms_norm", "--torch", "2.11..2.13")
        self.assertEqual(answer.returncode, 0)
        for line in ("rms_norm: an operator of PyTorch\n", "in 2.13\n", "  autocast on cuda: computed in float32\n",
                     "  autocast on cpu: not listed\n", "from 2.11 to 2.13\n",
                     "  since 2.12 autocast on cuda: not listed -> computed in float32\n", "  since 2.12 on cuda under autocast to float16, xpu under autocast to float16",
                     "    input float16: float16 -> float32\n"):
            self.assertIn(line, answer.stdout)
        self.assertIn("from 2.2 to 2.4\n  nothing changes\n", lint("--explain", "at::mul", "--torch", "2.2..2.4").stdout)
        self.assertNotIn("from ", lint("--explain", "torch.nn.functional.rms_norm", "--torch", "2.4").stdout)
        # A composite changes with what it is made of, and an entry with its row for older releases.
        self.assertIn("since 2.0 on cuda, cuda under autocast", lint("--explain", "lerp").stdout)
        self.assertEqual(lint("--explain", "grid_sample").stdout, lint("--explain", "torch.nn.functional.grid_sample").stdout)
        self.assertEqual(lint("--explain", "nn.MultiheadAttention").stdout, lint("--explain", "torch.nn.MultiheadAttention").stdout)
        composite = lint("--explain", "normalize", "--torch", "2.13").stdout
        self.assertIn("  autocast on cuda: not listed, but 'norm' is: computed in float32 unless dtype= is given\n", composite)
        self.assertIn("  autocast on cpu: not listed\n", composite)
        ggml = lint("--explain", "ggml_rms_norm").stdout
        self.assertIn("ggml_rms_norm: an operator of ggml\n", ggml)
        self.assertIn("which is float32 (it takes no other)\n", ggml)
        self.assertNotIn("autocast", ggml)
        self.refused(lint("--explain", "rms_norm", "--torch", "2.13..2.11"), "ends before it begins")

    def test_unknown_things_are_refused_with_the_nearest_name(self):
        source = self.folder / "a.cpp"
        source.write_text("int f();\n")
        self.refused(lint("--stric", source, *FLAGS), "'--stric'", "--strict")
        self.refused(lint("--rules=rotary-dtype-mismatchs", source, *FLAGS), "rotary-dtype-mismatchs",
                     "did you mean 'rotary-dtype-mismatch'")
        for begun in ("attention-mixd", "attention-mixed"):
            for option in ("--explain", "--rules"):
                self.refused(lint(option, begun, source, *FLAGS), f"'{begun}', did you mean 'attention-mixed-dtypes'?")
        self.refused(lint("--explain", "nothing-like-it"), "nothing-like-it", "--list-rules")
        self.refused(lint("--explain", "mull"), "'mull', did you mean 'mul'?")
        self.refused(lint("--format", "xml", source, *FLAGS), "'xml'", "text, json")
        self.refused(lint("--precision", "fp61", source, *FLAGS), "'fp61'", "fp16")
        self.refused(lint("--device", "gpu", source, *FLAGS), "'gpu'", "cuda")
        self.refused(lint("--torch", "two", source, *FLAGS), "'two'")
        self.refused(lint("--torch", "", source, *FLAGS), "--torch: '' is empty, expected VERSION[..VERSION]")
        self.refused(lint("--torch", "2.99", source, *FLAGS), "'2.99'", "2.13")
        self.refused(lint("--torch", "2.4..", source, *FLAGS), "''", "'2.4..'", "A..B")
        self.refused(lint("--torch", "2.4...2.6", source, *FLAGS), "'.2.6'")
        self.refused(lint("--torch", "2.4..nine", source, *FLAGS), "'nine'", "'2.4..nine'")
        self.refused(lint("--torch", "2.6..2.4", source, *FLAGS), "'2.6..2.4' ends before it begins", "2.4..2.6")
        self.refused(lint("--torch", "1.5..2.4", source, *FLAGS), "'1.5'", "1.13")
        self.refused(lint("--fail-on", "errors", source, *FLAGS), "'errors'")
        self.refused(lint("--jobs", "many", source, *FLAGS), "many")
        self.refused(lint("--root", self.folder / "none", source, *FLAGS), "none")

    def test_a_range_of_versions_tells_what_differs(self):
        project = self.project(a='#include "attention.h"\nvoid f(const at::Tensor& x) {\n'
                                 '  at::Tensor q = at::rms_norm(x, {4});\n  attend(q, x, x);\n}\n')
        shutil.copy(FIXTURES / "attention.h", project)
        for torch, rule, versions in (("2.10..2.12.1", "version-dependent-dtype", ["2.12"]),
                                      ("2.12..2.13", "autocast-fp32-operator", ["2.12", "2.13"]),
                                      ("2.12", "autocast-fp32-operator", ["2.12"])):
            lint("--torch", torch, "--format", f"json={self.folder / 'r.json'}", project / "a.cpp", *FLAGS)
            found = json.loads((self.folder / "r.json").read_text())["findings"]
            self.assertEqual([(f["rule"], f["torch"]) for f in found], [(rule, versions)])
        self.assertEqual(lint("--torch", "2.4..2.11", project / "a.cpp", *FLAGS).returncode, 0)

    def test_a_wrapper_in_a_header_beside_the_project_is_seen(self):
        project = self.folder / "src"
        project.mkdir()
        (project / "a.cpp").write_text('#include "wrapper.h"\nvoid f(const at::Tensor& x) {\n'
                                       '  wrapped(x * torch::ones({4}), x);\n}\n')
        common = self.folder / "common"
        common.mkdir()
        shutil.copy(FIXTURES / "attention.h", common)
        (common / "wrapper.h").write_text('#include "attention.h"\ninline void wrapped(at::Tensor q, at::Tensor k) '
                                          '{ attend(q, k, k); }\ninline void alone(at::Tensor q) { attend(q * '
                                          'torch::ones({4}), q, q); }\n')
        for flag, status in (("-I", 1), ("-isystem", 0)):
            run = lint("--root", project, project / "a.cpp", *FLAGS, flag, common)
            self.assertEqual(run.returncode, status, run.stdout + run.stderr)
            self.assertEqual(run.stdout.count("attention-implicit-promotion"), status)
        (common / ".git").mkdir()
        run = lint("--root", project, project / "a.cpp", *FLAGS, "-I", common)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("the body of 'wrapped' is not read", run.stdout + run.stderr)

    def test_files_that_cannot_be_used(self):
        self.refused(lint("missing.cpp", *FLAGS, cwd=self.folder), "'missing.cpp'")
        self.refused(lint(self.folder, *FLAGS), "is a folder")
        source = self.folder / "a.cpp"
        source.write_text("int f();\n")
        report = self.folder / "no" / "such" / "report.json"
        self.refused(lint("--format", f"json={report}", source, *FLAGS), str(report), "No such file or directory")
        contracts = self.folder / "contracts.json"
        contracts.write_text("{ not json")
        self.refused(lint("--contracts", contracts, source, *FLAGS), "contracts.json")

    def test_no_compile_database(self):
        source = self.folder / "a.cpp"
        source.write_text("int f();\n")
        for run in (lint(source), lint(cwd=self.folder), lint("-p", self.folder, source)):
            self.refused(run, "compile_commands.json", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "after --")
        (self.folder / "compile_commands.json").write_text("[ broken")
        self.refused(lint("-p", self.folder, source), "compile_commands.json")

    def test_a_source_that_the_database_lacks(self):
        project = self.project(a="int f();\n")
        (project / "b.s").write_text("nop\n")
        self.refused(lint("-p", project / "build", project / "b.s"), "b.s", "compile_commands.json")

    def test_a_syntax_error_is_listed_and_the_other_file_still_reported(self):
        project = self.project(good=self.BAD, broken="int f() { return missing; }\n")
        out = project / "report.json"
        run = lint("-p", project / "build", "--format", f"json={out}")
        self.assertEqual(run.returncode, 3, run.stdout + run.stderr)
        report = json.loads(out.read_text())
        self.assertEqual([(n["file"], n["reason"]) for n in report["not_analysed"]], [("broken.cpp", "parse-error")])
        self.assertIn("missing", report["not_analysed"][0]["detail"])
        self.assertEqual([f["location"]["file"] for f in report["findings"]], ["good.cpp"])

    def test_an_initialiser_that_is_lost_to_an_error_is_no_crash(self):
        project = self.project(constant="const int kCount{missing, 2};\n"
                                        "int f() { int n = 0; for (int i = 0; i < kCount; ++i) n += i; return n; }\n",
                               reference="struct Counter { int& count; Counter(int& c) : count(c) {} };\n"
                                         "auto& counter = missing.add();\nvoid f() { Counter count(counter); }\n")
        out = project / "report.json"
        lint("-p", project / "build", "--format", f"json={out}")
        self.assertEqual([(n["file"], n["reason"]) for n in json.loads(out.read_text())["not_analysed"]],
                         [("constant.cpp", "parse-error"), ("reference.cpp", "parse-error")])

    def test_the_report_does_not_depend_on_jobs(self):
        project = self.project(**{f"s{i}": self.BAD for i in range(6)})
        reports = []
        for jobs in (1, 2, 5):
            run = lint("-p", project / "build", "--jobs", jobs, "--format", "json", "--root", project)
            self.assertEqual(run.returncode, 1, run.stderr)
            reports.append(run.stdout)
        self.assertEqual(len(set(reports)), 1)
        self.assertEqual(len(json.loads(reports[0])["findings"]), 6)

    def test_exit_status_follows_fail_on_and_rules(self):
        project = self.project(a=self.BAD)
        build = project / "build"
        self.assertEqual(lint("-p", build).returncode, 1)
        self.assertEqual(lint("-p", build, "--fail-on", "never").returncode, 0)
        self.assertEqual(lint("-p", build, "--rules", "rotary-dtype-mismatch").returncode, 1)
        self.assertEqual(lint("-p", build, "--rules", "discarded-cast").returncode, 0)
        everything = json.loads(lint("-p", build, "--format=json").stdout)["findings"][0]
        self.assertTrue(everything["also_rules"])
        self.assertEqual(lint("-p", build, f"--rules=-{everything['rule']}").returncode, 0, "off is off")
        self.assertEqual(lint("-p", build, f"--rules=-{everything['also_rules'][0]}").returncode, 1)

    def test_text_and_json_at_once(self):
        project = self.project(a=self.BAD)
        out = project / "out.json"
        run = lint("-p", project / "build", "--format", "text", "--format", f"json={out}", "--color=always")
        self.assertIn("\x1b[", run.stdout)
        self.assertIn("[rotary-dtype-mismatch]", run.stdout)
        self.assertEqual(json.loads(out.read_text())["schema"], "dtype-guard/report/1")
        hyphen = lint("-p", project / "build", "--format=json=-", cwd=self.folder)
        self.assertEqual(hyphen.stdout, lint("-p", project / "build", "--format=json", cwd=self.folder).stdout)
        self.assertFalse((self.folder / "-").exists())
        self.assertNotIn("\x1b[", lint("-p", project / "build").stdout)

    def test_a_project_without_a_mark_is_what_cmake_was_started_on(self):
        project = self.project(a=self.BAD)
        (project / ".dtype-lint.json").unlink()
        self.assertEqual(lint("-p", project / "build").returncode, 1, "the common folder of the sources")
        (project / "build" / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={project}\n")
        run = lint("-p", project / "build", "--format=json")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(json.loads(run.stdout)["root"], str(project))

    def test_a_compile_database_beside_the_sources(self):
        self.folder /= "project"  # a folder above it that holds nothing else
        self.folder.mkdir()
        project = self.project(a=self.BAD)
        (project / "build" / "compile_commands.json").rename(project / "compile_commands.json")
        run = lint("-p", ".", cwd=project)
        self.assertEqual(run.returncode, 1, run.stderr)
        run = lint("-p", ".", "--root", project.parent, cwd=project)
        self.assertEqual(run.returncode, 1, run.stderr)

    def test_a_report_that_could_not_be_written_is_an_error(self):
        project = self.project(a="int f() { return 1; }\n")
        with open("/dev/full", "w") as full:
            run = subprocess.run([LINT, "-p", str(project / "build")], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("standard output", run.stderr)

    def test_formats_for_other_tools(self):
        project = self.project(a=self.BAD)
        run = lint("-p", project / "build", "--format", "sarif")
        self.assertEqual(json.loads(run.stdout)["runs"][0]["results"][0]["ruleId"], "rotary-dtype-mismatch")
        self.assertIn("::error file=", lint("-p", project / "build", "--format", "github").stdout)

    def test_a_comment_that_hides_nothing_is_a_note(self):
        project = self.project(a="int f() { return 1; }  // NOLINT(dtype-rotary-dtype-mismatch): once needed\n")
        run = lint("-p", project / "build", "--format=json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([(f["rule"], f["level"]) for f in json.loads(run.stdout)["findings"]],
                         [("stale-suppression", "note")])

    def test_comments_accept_findings(self):
        accepted = self.BAD.replace("at::toDLPack(q.to(at::kFloat));",
                                    "at::toDLPack(q.to(at::kFloat));  // NOLINT(dtype-rotary-dtype-mismatch): by design")
        project = self.project(a=accepted)
        run = lint("-p", project / "build", "--format", "json")
        self.assertEqual(run.returncode, 0, run.stdout)
        suppression = json.loads(run.stdout)["findings"][0]["suppression"]
        self.assertEqual((suppression["kind"], suppression["reason"], suppression["line"]), ("comment", "by design", 2))
        other = self.BAD.replace("at::toDLPack(q.to(at::kFloat));",
                                 "at::toDLPack(q.to(at::kFloat));  // NOLINT(dtype-discarded-cast): another rule")
        self.assertEqual(lint("-p", self.project(a=other) / "build").returncode, 1)
        before = self.BAD.replace("  DLManagedTensor* a", "  // NOLINTNEXTLINE: old code\n  DLManagedTensor* a")
        self.assertEqual(lint("-p", self.project(a=before) / "build").returncode, 0)

    def test_dump_flow(self):
        source = self.folder / "a.cpp"
        source.write_text("at::Tensor f(const at::Tensor& x) { return x * x; }\n")
        run = lint("--dump-flow", source, *FLAGS)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn('%2 = op mul(self=%1, other=%1) ; 1:44-1:49 tensor "x * x"', run.stdout)

    def test_quiet_says_nothing_about_clean_code(self):
        project = self.project(a="int f() { return 1; }\n")
        run = lint("-p", project / "build", "--quiet")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
