"""Where a wrong operand comes from: said when it is proved, and only then."""
from support import BUILT, Case, main, marked_line


class Origins(Case):
    def report(self, mode, *options):
        plain = self.execute(BUILT["origins"], mode)
        done, report = self.run_command(BUILT["origins"], mode, options=options)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
        self.text = done.stderr
        return report

    def only(self, mode, *options):
        findings = self.report(mode, *options)["findings"]
        self.assertEqual(len(findings), 1, findings)
        return findings[0]

    def line(self, name):
        return marked_line("origins.cpp", name)

    def test_the_call_that_wrote_the_operand(self):
        finding = self.only("rotary")
        self.assertEqual(finding["rule"], "attention-mixed-dtypes")
        (step,) = finding["path"]
        self.assertEqual((step["operator"], step["before"], step["after"]), ("flash_ref_rotary", "float32", "float32"))
        self.assertEqual(step["note"], "'q' was written as float32 by flash_ref_rotary (x: float32, cos: float32, sin: float32)")
        self.assertEqual(step["line"], self.line("rotate"))
        self.assertIn("main", [frame["function"] for frame in step["backtrace"]])
        self.assertEqual({operand["role"]: operand["origin"] for operand in finding["operands"]},
                         {"q": 0, "k": None, "v": None, "out": None})
        # The place to edit is where float32 came in; the call is the sink.
        self.assertEqual(finding["location"]["line"], self.line("rotate"))
        self.assertEqual([sink["line"] for sink in finding["sinks"]], [self.line("attend")])
        self.assertIn("'q' was written as float32 by flash_ref_rotary", self.text)

    def test_a_chain(self):
        finding = self.only("chain")
        self.assertEqual([step["operator"] for step in finding["path"]], ["flash_ref_rotary"] * 2)
        self.assertEqual(next(operand["origin"] for operand in finding["operands"] if operand["role"] == "q"), 1)
        self.assertIn(self.line("second"), [frame["line"] for frame in finding["path"][1]["backtrace"]])
        self.assertNotIn(self.line("second"), [frame["line"] for frame in finding["path"][0]["backtrace"]])

    def test_bits_read_as_another_dtype(self):
        finding = self.only("reinterpreted")
        self.assertEqual((finding["rule"], finding["certainty"], finding["also_rules"]), ("dlpack-dtype-mismatch", "definite", []))
        self.assertIn("'q' of 'flash_ref_attention_fwd' is described as 'float16', but its memory was written as 'bfloat16'",
                      finding["message"])
        self.assertEqual(finding["path"][0]["line"], self.line("rotate"))

    def test_bits_read_as_another_dtype_that_is_refused(self):
        finding = self.only("reinterpreted-refused")
        self.assertEqual(finding["rule"], "dlpack-dtype-mismatch")
        self.assertEqual(finding["also_rules"], ["attention-mixed-dtypes", "attention-unsupported-dtype"])

    def test_right_calls_have_no_finding(self):
        self.assertEqual(self.report("right")["findings"], [])

    def test_a_call_that_was_refused_wrote_nothing(self):
        self.assertEqual(self.report("refused")["findings"], [])
        self.assertIn("2 calls to watched kernels", self.text)

    def test_memory_used_again_is_no_origin(self):
        self.assertEqual(self.report("reused")["findings"], [])
        self.assertEqual(self.only("reused-wrong")["path"], [])

    def test_equal_bytes_prove_nothing(self):
        self.assertEqual(self.report("zeros")["findings"], [])

    def test_memory_that_is_gone(self):
        self.assertEqual(self.only("freed")["rule"], "attention-mixed-dtypes")

    def test_origins_can_be_switched_off(self):
        self.assertEqual(self.only("rotary", "--options=origins=0")["path"], [])
        self.assertEqual(self.report("reinterpreted", "--options=origins=0")["findings"], [])


if __name__ == "__main__":
    main()
