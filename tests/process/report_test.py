"""What a report says of a wrong call: rule, operands, accepted dtypes, and the line that made the call."""
from support import BUILT, Case, main, marked_line, operands


class Findings(Case):
    def only(self, report):
        self.assertEqual(len(report["findings"]), 1, report["findings"])
        return report["findings"][0]

    def test_mixed_dtypes(self):
        done, report = self.calls("wrong")
        finding = self.only(report)
        self.assertEqual(finding["rule"], "attention-mixed-dtypes")
        self.assertEqual(finding["also_rules"], ["attention-unsupported-dtype"])
        self.assertEqual(finding["level"], "error")
        self.assertEqual(finding["certainty"], "definite")
        self.assertEqual(finding["observed"], ["runtime"])
        self.assertEqual(finding["api"], "flash_ref_attention_fwd")
        self.assertEqual(operands(finding), {"q": "float16", "k": "float32", "v": "float16", "out": "float16"})
        key = finding["operands"][1]
        self.assertEqual(key["accepts"], ["float16", "bfloat16"])
        self.assertEqual(key["shape"], [1, 4, 2, 8])
        self.assertEqual(key["device"], "cpu")
        self.assertEqual([sink["role"] for sink in finding["sinks"]], ["k"])
        self.assertEqual(finding["message"],
                         "'k' is 'float32' while 'q', 'v' and 'out' are 'float16'; 'flash_ref_attention_fwd' takes "
                         "'float16' or 'bfloat16', all in one dtype: cast 'k' to 'float16' before the call")
        self.assertEqual(done.returncode, 4)

    def test_first_user_frame_is_the_calling_line(self):
        _, report = self.calls("wrong")
        finding = self.only(report)
        line = marked_line("kernel_calls.cpp", "attend")
        self.assertTrue(finding["location"]["file"].endswith("programs/kernel_calls.cpp"), finding["location"])
        self.assertEqual(finding["location"]["line"], line)
        self.assertEqual(finding["location"]["function"], "(anonymous namespace)::attend")
        self.assertEqual(finding["backtrace"][0]["line"], line)
        functions = [frame["function"] for frame in finding["backtrace"]]
        self.assertIn("main", functions)

    def test_text_names_process_thread_and_time(self):
        self.preloaded(BUILT["kernel_calls"], "wrong")
        done, report = self.report(self.scratch / "journal")
        [one] = self.only(report)["occurrences"]
        self.assertIn(f"\n    pid {one['pid']} on {one['host']}, thread {one['thread']}, first at {one['first_seen']}: 1 time\n",
                      done.stdout)

    def test_control_bytes_of_a_command_line(self):
        command = "\x1b[2J\x07\nwatched: forged\x7f" + "x" * 5000
        self.preloaded(BUILT["kernel_calls"], "wrong", 1, command)
        done, report = self.report(self.scratch / "journal")
        [line] = [line for line in done.stdout.splitlines() if line.startswith("watched: ")]
        self.assertIn("wrong 1 \\x1b[2J\\x07\\x0awatched: forged\\x7fxxx", line)
        self.assertTrue(line.endswith("xxx...") and len(line) < 500, line)
        self.assertIn("\x1b[2J", report["watched"]["processes"][0]["command"])

    def test_inlined_calls_are_frames(self):
        _, report = self.calls("inlined")
        lines = [frame["line"] for frame in self.only(report)["backtrace"]][:2]
        self.assertEqual(lines, [marked_line("kernel_calls.cpp", "inner"), marked_line("kernel_calls.cpp", "middle")])

    def test_unsupported_dtype(self):
        finding = self.only(self.calls("all-float")[1])
        self.assertEqual(finding["rule"], "attention-unsupported-dtype")
        self.assertEqual(finding["also_rules"], [])
        self.assertIn("'q', 'k', 'v' and 'out' are 'float32'", finding["message"])
        self.assertIn("'float16' or 'bfloat16'", finding["message"])

    def test_rotary(self):
        finding = self.only(self.calls("rotary")[1])
        self.assertEqual(finding["rule"], "rotary-dtype-mismatch")
        self.assertEqual(finding["also_rules"], [])
        self.assertEqual(finding["api"], "flash_ref_rotary")
        self.assertEqual(operands(finding), {"x": "float32", "cos": "bfloat16", "sin": "bfloat16", "out": "float32"})
        self.assertIn("cast 'cos' and 'sin' to 'float32' before the call", finding["message"])
        self.assertEqual(finding["location"]["line"], marked_line("kernel_calls.cpp", "rotate"))

    def test_cache(self):
        self.assertEqual(self.calls("decode")[1]["findings"], [])
        finding = self.only(self.calls("cache")[1])
        self.assertEqual(finding["rule"], "kv-cache-dtype-mismatch")
        self.assertEqual(finding["api"], "flash_ref_attention_kvcache")
        self.assertEqual(sorted(sink["role"] for sink in finding["sinks"]), ["k", "v"])

    def test_tables_of_a_cache_call(self):
        finding = self.only(self.calls("cache-tables")[1])
        self.assertEqual(finding["rule"], "rotary-dtype-mismatch")
        self.assertNotIn("kv-cache-dtype-mismatch", finding["also_rules"])
        self.assertEqual(finding["api"], "flash_ref_attention_kvcache")
        self.assertEqual([sink["role"] for sink in finding["sinks"]], ["cos", "sin"])
        self.assertIn("cast 'cos' and 'sin' to 'float16' before the call", finding["message"])

    def test_text_has_role_dtype_accepted_and_line(self):
        done = self.execute(BUILT["command"], "run", "--", BUILT["kernel_calls"], "wrong")
        line = marked_line("kernel_calls.cpp", "attend")
        self.assertRegex(done.stderr, rf"kernel_calls\.cpp:{line}: error: 'k' is 'float32' .*\[attention-mixed-dtypes\]")
        self.assertRegex(done.stderr, r"\n +k +float32 +float16 or bfloat16")
        self.assertRegex(done.stderr, rf"#0 .*attend.* at .*kernel_calls\.cpp:{line}")
        self.assertEqual(done.stdout, "")

    def test_repeats_are_counted_not_repeated(self):
        for count in (2, 3, 100):
            done, report = self.calls("wrong", count)
            finding = self.only(report)
            self.assertEqual(finding["count"], count)
            self.assertEqual(finding["occurrences"][0]["count"], count)
            self.assertEqual(report["watched"]["calls"]["flash_ref_attention_fwd"], count)
            self.assertIn(f"seen {count} times", done.stderr)

    def test_many_ways_to_one_call(self):
        """Each is found; once their counts can only be told together, the report says so."""
        for rounds in (1, 500):
            _, report = self.calls("ways", rounds)
            self.assertEqual((len(report["findings"]), sum(finding["count"] for finding in report["findings"])), (20, 20 * rounds))
            self.assertEqual(["is reached in several ways" in entry["detail"] for entry in report["not_analysed"]],
                             [] if rounds == 1 else [True])

    def test_tensors_in_options(self):
        done, report = self.calls("options")
        self.assertEqual((done.returncode, report["findings"]), (0, []), done.stderr)
        done, report = self.calls("wrong options")
        self.assertEqual(done.returncode, 101, done.stderr)  # the kernels agree, and the shorter struct is fine
        found = {finding["api"]: finding for finding in report["findings"]}
        self.assertEqual(sorted(found), ["flash_ref_attention_fwd", "flash_ref_rotary"])
        mask, offsets = found["flash_ref_attention_fwd"], found["flash_ref_rotary"]
        self.assertEqual((mask["rule"], offsets["rule"]), ("attention-mask-dtype", "attention-unsupported-dtype"))
        self.assertEqual([sink["role"] for sink in mask["sinks"]], ["alibi_slopes", "mask"])
        self.assertEqual(mask["location"]["line"], marked_line("kernel_calls.cpp", "mask"))
        self.assertEqual((operands(mask)["mask"], operands(mask)["q"], operands(offsets)["seqlen_offsets"]),
                         ("float16", "bfloat16", "int64"))
        accepted = {operand["role"]: operand["accepts"] for operand in mask["operands"]}
        self.assertEqual(sorted(accepted["mask"]), ["bfloat16", "bool", "float32"])
        self.assertEqual((mask["count"], report["watched"]["calls"]["flash_ref_attention_fwd"]), (1, 2))

    def test_threads_are_counted_exactly(self):
        _, report = self.calls("threads", 8, 2000)
        self.assertEqual(sum(finding["count"] for finding in report["findings"]), 8 * 2000)
        self.assertEqual(len(report["findings"]), 1)
        self.assertEqual(report["watched"]["calls"]["flash_ref_attention_fwd"], 2 * 8 * 2000)

    def test_clean_run(self):
        done, report = self.calls("clean")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(report["findings"], [])
        self.assertEqual(done.stderr, "dtype-san: no findings; 2 calls to watched kernels\n")
        watched = report["watched"]
        self.assertEqual({api: count for api, count in watched["calls"].items() if count},
                         {"flash_ref_attention_fwd": 1, "flash_ref_rotary": 1})
        self.assertEqual([library["path"] for library in watched["libraries"]], [BUILT["kernels"]])
        self.assertEqual([source["name"] for source in watched["sources"] if source["on"]], ["flash_ref"])
        self.assertTrue(all(source["why"] for source in watched["sources"]))
        self.assertEqual([process["complete"] for process in watched["processes"]], [True])

    def test_gradients_are_watched(self):
        done, report = self.calls("backward")
        self.assertEqual(done.returncode, 3)
        found = {finding["api"]: finding["message"] for finding in report["findings"]}
        self.assertEqual(set(found), {"flash_ref_attention_bwd", "flash_ref_attention_varlen_bwd",
                                      "flash_ref_rwkv7_bwd"})
        self.assertIn("'dv' is 'float32'", found["flash_ref_attention_bwd"])
        self.assertIn("'lse' is 'float16'", found["flash_ref_attention_varlen_bwd"])
        self.assertIn("'dinitial_state' is 'float16'", found["flash_ref_rwkv7_bwd"])

    def test_no_call_is_said(self):
        done, report = self.run_command(BUILT["no_kernels"])
        self.assertIn("dtype-san: no findings; no call to a watched kernel was seen\n", done.stderr)
        self.assertIn("flash_ref_attention_fwd", report["watched"]["calls"])
        self.assertEqual(set(report["watched"]["calls"].values()), {0})
        self.assertEqual(len(report["watched"]["processes"]), 1)
        self.assertEqual(report["not_analysed"], [])

    def test_forked_child_has_its_own_counts(self):
        done, report = self.calls("fork")
        self.assertEqual(done.returncode, 5)
        counts = {}
        for finding in report["findings"]:
            for occurrence in finding["occurrences"]:
                counts[occurrence["pid"]] = counts.get(occurrence["pid"], 0) + occurrence["count"]
        self.assertEqual(sorted(counts.values()), [1, 3])
        self.assertEqual(report["watched"]["calls"]["flash_ref_attention_fwd"], 4)

    def test_rank_is_read(self):
        _, report = self.calls("wrong", RANK="3")
        self.assertEqual(self.only(report)["occurrences"][0]["rank"], 3)

    def test_without_symbols(self):
        _, report = self.calls("wrong", options=["--options", "symbolize=0"])
        frame = self.only(report)["backtrace"][0]
        self.assertEqual((frame["function"], frame["file"], frame["line"]), ("", "", 0))
        self.assertEqual(frame["module"], BUILT["kernel_calls"])
        self.assertGreater(frame["offset"], 0)

    def test_strip_path_prefix(self):
        prefix = BUILT["source"] + "/"
        _, report = self.calls("wrong", options=["--options", f"strip_path_prefix={prefix}"])
        self.assertEqual(self.only(report)["location"]["file"], "programs/kernel_calls.cpp")

    def test_root(self):
        _, report = self.calls("wrong", options=["--root", BUILT["source"]])
        self.assertEqual(report["root"], BUILT["source"])
        self.assertEqual(self.only(report)["location"]["file"], "programs/kernel_calls.cpp")

    def test_stack_depth(self):
        _, report = self.calls("wrong", options=["--options", "stack_depth=2:symbolize=0"])
        self.assertEqual(len(self.only(report)["backtrace"]), 2)

    def test_max_findings(self):
        _, report = self.calls("fork", options=["--options", "max_findings=1"])
        self.assertEqual(len(report["findings"]), 2)  # one per process

    def test_report_fits_the_schema(self):
        try:
            import jsonschema
            import json
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        schema = json.loads(open(BUILT["schema"], encoding="utf-8").read())
        for words in (["wrong", "3"], ["clean"], ["fork"]):
            jsonschema.validate(self.calls(*words)[1], schema)


class Baselines(Case):
    def states(self, report):
        return [finding["baseline"] for finding in report["findings"]]

    def test_known_findings_do_not_count_and_new_ones_do(self):
        known = self.scratch / "known.json"
        self.preloaded(BUILT["kernel_calls"], "wrong")
        done, report = self.report("--write-baseline", known, *self.journals())
        self.assertEqual((done.returncode, self.states(report)), (0, ["unchanged"]), done.stderr)
        self.preloaded(BUILT["kernel_calls"], "rotary")
        done, report = self.report("--baseline", known, *self.journals())
        self.assertEqual((done.returncode, sorted(self.states(report))), (1, ["new", "unchanged"]), done.stderr)

    def test_what_a_run_did_not_reach_is_not_fixed(self):
        known = self.scratch / "known.json"
        self.preloaded(BUILT["kernel_calls"], "wrong")
        self.report("--write-baseline", known, *self.journals())
        for journal in self.journals():
            journal.unlink()
        self.preloaded(BUILT["kernel_calls"], "rotary")
        _, report = self.report("--baseline", known, *self.journals())
        self.assertEqual(self.states(report), ["new"])

    def test_a_baseline_that_cannot_be_used_is_refused(self):
        self.preloaded(BUILT["kernel_calls"], "wrong")
        done = self.execute(BUILT["command"], "report", "--baseline", self.scratch / "missing.json", *self.journals())
        self.assertEqual(done.returncode, 2)
        self.assertIn("missing.json", done.stderr)


if __name__ == "__main__":
    main()
