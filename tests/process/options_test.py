"""Every option does what its line in help=1 says."""
import json
import re
import shutil

from support import BUILT, Case, main, preloadable

KEYS = ("halt_on_error exitcode journal log_path suppressions symbolize strip_path_prefix verbosity color print_summary "
        "max_findings max_journal_mb stack_depth rules contracts start follow_children origins python cupti expect enabled cast_time torch torch_every "
        "torch_ms journal_in_memory").split()


class Options(Case):
    def findings(self, *words, options=()):
        done, report = self.calls(*words, options=options)
        return done, report["findings"], report

    def test_help_has_every_option(self):
        done = self.execute(BUILT["no_kernels"], LD_PRELOAD=preloadable(BUILT["library"]), DTYPE_SAN_OPTIONS="help=1")
        self.assertEqual(sorted(re.findall(r"^dtype-san:   (\w+)=", done.stderr, re.M)), sorted(KEYS + ["help"]))

    def test_rules(self):
        for rules, count in (("attention-*", 1), ("rotary-dtype-mismatch", 0), ("-attention-mixed-dtypes", 0), ("-rotary-*", 1)):
            with self.subTest(rules=rules):
                self.assertEqual(len(self.findings("wrong", options=[f"--options=rules={rules}"])[1]), count)
        done = self.execute(BUILT["command"], "run", "--options=rules=attention-mixd-dtypes", "--", "echo", "started")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("option 'rules': unknown rule 'attention-mixd-dtypes', did you mean 'attention-mixed-dtypes'?", done.stderr)

    def suppressed(self, text, *options):
        file = self.scratch / "hidden.txt"
        file.write_text(text)
        return self.findings("wrong", options=[f"--options=suppressions={file}", "--error-exitcode=9", *options])

    def test_suppressions(self):
        for pattern in ("attend", "*kernel_calls.cpp", "flash_ref_attention_fwd", "*process_kernel_calls"):
            with self.subTest(pattern=pattern):
                done, findings, _ = self.suppressed(f"# a comment\n\nattention-*:{pattern}  # known, see the notes\n")
                self.assertEqual(done.returncode, 4)
                self.assertEqual(findings[0]["suppression"], {"kind": "file", "reason": "known, see the notes", "line": 3})
        done, findings, _ = self.suppressed("attention-*:somewhere_else\nrotary-dtype-mismatch:attend\n")
        self.assertEqual((done.returncode, findings[0]["suppression"]), (9, None))

    def test_unusable_suppressions(self):
        for text, message in (("attention-mixed-dtypes\n", "hidden.txt:1: 'attention-mixed-dtypes', expected RULE:PATTERN"),
                              ("\nattentoin:x\n", "hidden.txt:2: unknown rule 'attentoin'")):
            file = self.scratch / "hidden.txt"
            file.write_text(text)
            done = self.execute(BUILT["command"], "run", f"--options=suppressions={file}", "--", "echo", "started")
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(message, done.stderr)
        done = self.execute(BUILT["command"], "run", "--options=suppressions=/no/such", "--", "echo", "started")
        self.assertEqual(done.returncode, 2)
        self.assertIn("suppressions '/no/such' cannot be read: No such file", done.stderr)

    def test_require_calls(self):
        done, _ = self.run_command(BUILT["no_kernels"], options=["--require-calls"])
        self.assertEqual(done.returncode, 7)  # the command's own failure goes first
        done, _ = self.run_command(BUILT["weak_reference"], options=["--require-calls"])
        self.assertEqual(done.returncode, 3)
        self.assertIn("--require-calls: no call to a watched kernel was seen", done.stderr)
        self.assertEqual(self.calls("clean", options=["--require-calls"])[0].returncode, 0)
        self.preloaded(BUILT["kernel_calls"], "clean")
        self.assertEqual(self.report("--require-calls", self.scratch / "journal")[0].returncode, 0)
        idle = f"--journal={self.scratch / 'idle'}"
        self.assertEqual(self.run_command(BUILT["weak_reference"], options=[idle])[0].returncode, 0)
        self.assertEqual(self.report(self.scratch / "idle")[0].returncode, 0)
        done, _ = self.report("--require-calls", self.scratch / "idle")
        self.assertEqual(done.returncode, 3)
        self.assertIn("--require-calls: no call to a watched kernel was seen", done.stderr)
        expect = "--options=expect=flash_ref_rwkv7_fwd"
        done, _ = self.report("--require-calls", expect, self.scratch / "journal")
        self.assertEqual(done.returncode, 3)
        self.assertIn("not called: 'flash_ref_rwkv7_fwd'", done.stderr)

    def test_expect(self):
        expect = "--options=expect=flash_ref_rotary,flash_ref_rwkv7_fwd"
        done, _, report = self.findings("clean", options=[expect])
        self.assertEqual(done.returncode, 0)
        self.assertEqual([(entry["file"], entry["reason"]) for entry in report["not_analysed"]],
                         [("flash_ref_rwkv7_fwd", "not-called")])
        done, _, _ = self.findings("clean", options=[expect, "--require-calls"])
        self.assertEqual(done.returncode, 3)
        self.assertIn("not called: 'flash_ref_rwkv7_fwd'", done.stderr)

    def test_max_journal_mb(self):
        done, findings, report = self.findings("numbers", 2900, options=["--options=max_journal_mb=1:max_findings=3000:symbolize=0"])
        self.assertEqual(done.returncode, 0)
        self.assertLess(len(findings), 2900)
        details = " ".join(entry["detail"] for entry in report["not_analysed"])
        self.assertIn("the journal reached max_journal_mb=1 and stops there", details)
        self.assertEqual(report["watched"]["calls"]["flash_ref_attention_fwd"], 2900)

    def test_start_dormant_and_switched(self):
        self.assertEqual(self.findings("wrong", options=["--options=start=dormant"])[1], [])
        (finding,) = self.findings("switched", options=["--options=start=dormant"])[1]
        self.assertEqual(finding["count"], 2)
        self.assertEqual(sum(finding["count"] for finding in self.findings("switched")[1]), 3)

    def test_follow_children(self):
        _, findings, report = self.findings("fork", options=["--options=follow_children=0"])
        self.assertEqual(len(report["watched"]["processes"]), 1)
        self.assertEqual(sum(finding["count"] for finding in findings), 1)
        _, report = self.run_command("sh", "-c", f"'{BUILT['kernel_calls']}' wrong; true", options=["--options=follow_children=0"])
        self.assertEqual(report["findings"], [])

    def test_journal_in_memory(self):
        def left(*before, options=""):
            shutil.rmtree(self.scratch / "journal", ignore_errors=True)
            done = self.preloaded(*before, BUILT["kernel_calls"], "fork", options=f"print_summary=0:{options}")
            self.assertEqual(done.stderr, "")
            return len(self.journals())

        self.assertEqual(left(), 2)
        self.assertEqual(left(options="journal_in_memory=1"), 1)  # that of the child
        # Where no descriptor can be kept it is a file.
        self.assertEqual(left("sh", "-c", 'ulimit -n 90; exec "$@"', "sh", options="journal_in_memory=1"), 2)

    def test_cupti_without_cuda_changes_nothing(self):
        for value in ("auto", "on", "off"):
            self.assertEqual(self.preloaded(BUILT["kernel_calls"], "clean", options=f"cupti={value}").stderr, "")

    def test_report_to_a_full_disk(self):
        done = self.execute(BUILT["command"], "run", "--format=json=/dev/full", "--", BUILT["kernel_calls"], "clean")
        self.assertEqual(done.returncode, 3)
        self.assertIn("/dev/full: the report could not be written", done.stderr)

    def test_dtype_that_pytorch_lacks(self):
        (finding,) = self.findings("fp8")[1]
        self.assertEqual(finding["rule"], "attention-unsupported-dtype")
        self.assertEqual(finding["operands"][0]["dtypes"], ["dtype(code 2, bits 8, lanes 1)"])


CONTRACT = {"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
    {"name": "my_attention", "kind": "attention", "spellings": ["my_attention"], "source": "my.h", "operands": [
        {"role": "q", "argument": 0, "accepts": ["float16"]}, {"role": "k", "argument": 1, "same_as": "q"},
        {"role": "out", "argument": 2, "same_as": "q", "direction": "out"}]}]}


class OwnContracts(Case):
    def contract(self, **changes):
        file = self.scratch / "mine.json"
        file.write_text(json.dumps({**CONTRACT, **changes}))
        return file

    def test_own_api_with_a_slot(self):
        done, report = self.run_command(BUILT["own_api"], options=[f"--contracts={self.contract()}"])
        self.assertEqual((done.returncode, done.stdout), (0, "answer 1\nanswer 1\n"), done.stderr)
        self.assertEqual(report["watched"]["calls"]["my_attention"], 2)
        (finding,) = report["findings"]
        self.assertEqual((finding["rule"], finding["api"], finding["count"]), ("attention-mixed-dtypes", "my_attention", 1))

    def test_without_its_contract_nothing_is_said(self):
        _, report = self.run_command(BUILT["own_api"])
        self.assertEqual(report["findings"], [])

    def test_wrong_contract_is_refused_before_the_start(self):
        file = self.contract(schema="something/else")
        done = self.execute(BUILT["command"], "run", f"--contracts={file}", "--", "echo", "started")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("mine.json:1", done.stderr)

    def test_json_given_to_a_bare_preload_is_named(self):
        done = self.preloaded(BUILT["own_api"], options=f"contracts={self.contract()}")
        self.assertEqual((done.returncode, done.stdout), (0, "answer 1\nanswer 1\n"))
        self.assertIn("is no compiled contract file of this version; give the JSON file to dtype-san run --contracts", done.stderr)


if __name__ == "__main__":
    main()
