"""The report of a run in every format, from `run` and from `report`: the same finding at the same line in each."""
import html
import json
import re

from support import BUILT, Case, main, marked_line

FORMATS = ("text", "json", "sarif", "html", "github", "gitlab", "rdjson")


class Formats(Case):
    def expect(self, folder):
        """One wrong call, said with its rule, its words and its line."""
        line, rule, words = marked_line("kernel_calls.cpp", "attend"), "attention-mixed-dtypes", "'k' is 'float32'"
        texts = {name: (folder / name).read_text(encoding="utf-8") for name in FORMATS}
        self.assertRegex(texts["text"], rf"kernel_calls\.cpp:{line}: error: {words}.*\[{rule}\]\n")
        self.assertRegex(texts["github"], rf"(?m)^::error file=[^\n]*kernel_calls\.cpp,line={line}[^\n]*{words}")
        [finding] = json.loads(texts["json"])["findings"]
        self.assertEqual((finding["rule"], finding["location"]["line"]), (rule, line))
        [result] = json.loads(texts["sarif"])["runs"][0]["results"]
        [place] = result["locations"]
        self.assertEqual((result["ruleId"], place["physicalLocation"]["region"]["startLine"]), (rule, line))
        self.assertIn(words, result["message"]["text"])
        self.assertIn("stacks", result)
        [issue] = json.loads(texts["gitlab"])
        self.assertEqual((issue["check_name"], issue["location"]["lines"]["begin"], issue["severity"]), (rule, line, "critical"))
        [diagnostic] = json.loads(texts["rdjson"])["diagnostics"]
        self.assertEqual((diagnostic["code"]["value"], diagnostic["location"]["range"]["start"]["line"]), (rule, line))
        self.assertIn(rule, texts["html"])
        self.assertIn(words, html.unescape(re.sub(r"\\u0027|\\'", "'", texts["html"])))

    def options(self, folder):
        folder.mkdir()
        return [f"--format={name}={folder / name}" for name in FORMATS]

    def test_run(self):
        options = self.options(self.scratch / "run")
        done = self.execute(BUILT["command"], "run", *options, "--", BUILT["kernel_calls"], "wrong")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.expect(self.scratch / "run")

    def test_report(self):
        self.preloaded(BUILT["kernel_calls"], "wrong")
        options = self.options(self.scratch / "report")
        done = self.execute(BUILT["command"], "report", *options, self.scratch / "journal")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.expect(self.scratch / "report")

    def test_a_hyphen_is_standard_output(self):
        done = self.execute(BUILT["command"], "run", "--format", "json=-", "--", BUILT["kernel_calls"], "clean")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout[done.stdout.index("{"):])["summary"]["calls"], 2)
        self.preloaded(BUILT["kernel_calls"], "clean")
        done = self.execute(BUILT["command"], "report", "--format=json=-", self.scratch / "journal")
        self.assertEqual(json.loads(done.stdout)["summary"]["calls"], 2)
        self.assertFalse((self.scratch / "-").exists())

    def test_a_run_without_findings(self):
        options = self.options(self.scratch / "clean")
        done = self.execute(BUILT["command"], "run", *options, "--", BUILT["kernel_calls"], "clean")
        self.assertEqual(done.returncode, 0, done.stderr)
        texts = {name: (self.scratch / "clean" / name).read_text(encoding="utf-8") for name in FORMATS}
        self.assertEqual((json.loads(texts["json"])["findings"], json.loads(texts["sarif"])["runs"][0]["results"],
                          json.loads(texts["gitlab"]), json.loads(texts["rdjson"])["diagnostics"]), ([], [], [], []))
        self.assertIn("2 calls to watched kernels", texts["text"])
        self.assertNotIn("::error", texts["github"])


if __name__ == "__main__":
    main()
